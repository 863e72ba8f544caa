// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// script is all responses that a route has, made ahead of the requests.
type script struct {
	stages [][]branch // by stage and outcome
	plain  variant    // where no outcome is for a request: a 200
}

// branch is what an outcome has ready.
type branch struct {
	latency latency.Latency
	next    latency.Latency // that it moves to
	ramp    bool
	whole   variant
	faulty  *variant      // nil if the outcome has no fault
	share   units.Percent // of the requests that have the fault
}

// draw draws the latency of a request in a stage.
func (b *branch) draw(draws *latency.Draws, r *route, stage int, now time.Time) time.Duration {
	if b.latency.IsZero() && !b.ramp {
		return 0
	}
	if !b.ramp {
		return b.latency.Draw(draws.Uint64())
	}
	return latency.DrawBetween(b.latency, b.next, r.timeline.share(stage, now), draws.Uint64())
}

// variant is one response of a script.
type variant struct {
	message *response.Message
	varying *varying          // if the size is drawn for each request
	empty   *response.Message // if it may be 0
	chunked bool
	parts   *parts // if a part of the body can be asked for
	fault   response.Fault
	sent    float64 // before a cut
	pace    response.Pace
	tally   *tally
}

// parts counts the responses that are a part of a body, or would be.
type parts struct{ partial, beyond *tally }

// respond returns the message for one request, and what counts it.
func (v *variant) respond(req Request, draws *latency.Draws) (*response.Message, *tally) {
	if v.parts != nil && req.Method == http.MethodGet {
		if asked := req.field("Range"); asked != "" {
			return v.part(asked, req.field("If-Range"))
		}
	}
	if v.varying == nil {
		return v.message, v.tally
	}
	drawn := v.varying.draw(draws.Uint64())
	if drawn.Size == 0 {
		return v.empty, v.tally
	}
	m := response.NewMessage(v.message.Status, v.message.Fields, drawn)
	if v.chunked {
		m = m.WithoutLength()
	}
	return m, v.tally
}

// part returns the part that is asked for, or the whole message.
func (v *variant) part(asked, condition string) (*response.Message, *tally) {
	m := v.message.Part(asked, condition)
	switch {
	case m == nil:
		return v.message, v.tally
	case m.Status == response.StatusPartial:
		return m, v.parts.partial
	}
	return m, v.parts.beyond
}

func newScript(r *route) *script {
	stages := r.recipe.Stages
	plain := recipe.Outcome{Status: http.StatusOK}
	s := &script{stages: make([][]branch, len(stages)), plain: newVariant(r, &plain, r.content.Load(), 0)}
	for i := range stages {
		next := stages[(i+1)%len(stages)].Outcomes
		s.stages[i] = make([]branch, len(stages[i].Outcomes))
		for j := range stages[i].Outcomes {
			o := &stages[i].Outcomes[j]
			b := &s.stages[i][j]
			*b = branch{latency: o.Latency, ramp: o.Ramp, whole: newVariant(r, o, r.contentOf(i, j), j+1)}
			if o.Ramp {
				b.next = next[j].Latency
			}
			if o.Fault != nil {
				b.setFault(r, o.Fault, j+1)
			}
		}
	}
	return s
}

// newVariant makes the response of an outcome.
func newVariant(r *route, o *recipe.Outcome, served *content, number int) variant {
	if served.missing != nil {
		return missingVariant(r, served.missing, number)
	}
	v := variant{
		message: response.NewMessage(o.Status, fields(r, o, served), served.Content),
		chunked: o.Chunked,
		pace:    paceOf(o),
		tally:   r.counts.of(o.Status, number),
	}
	if served.varying != nil && response.HasBody(o.Status) {
		v.varying = served.varying
		v.empty = response.NewMessage(o.Status, fields(r, o, new(content)), response.Content{})
	}
	if o.Chunked {
		v.message = v.message.WithoutLength()
		return v
	}
	if served.file && o.Status == http.StatusOK {
		v.offerParts(r, number)
	}
	return v
}

// offerParts makes a variant answer requests for a part of its body.
func (v *variant) offerParts(r *route, number int) {
	for _, field := range v.message.Fields {
		if field.Name == "Accept-Ranges" {
			return // the recipe says what it wants
		}
	}
	fields := append(v.message.Fields, response.NewField("Accept-Ranges", "bytes"))
	v.message = response.NewMessage(v.message.Status, fields, v.message.Content)
	v.parts = &parts{r.counts.of(response.StatusPartial, number), r.counts.of(response.StatusNotSatisfiable, number)}
}

// setFault makes the response of an outcome that has its fault.
func (b *branch) setFault(r *route, fault *recipe.Fault, number int) {
	v := b.whole
	v.fault = fault.Kind
	b.share = fault.Percent
	if fault.Kind == response.Cut {
		v.sent, b.share = float64(fault.Percent)/100, 100
	} else {
		v.varying, v.parts = nil, nil
	}
	if !fault.Kind.Answers() {
		v.tally = r.counts.of(NoStatus, number)
	}
	b.faulty = &v
}

// missingVariant returns the response where there is nothing to serve. It names
// neither URLs nor addresses.
func missingVariant(r *route, reason error, number int) variant {
	text := "Origin not available: " + forClients(reason)
	return variant{
		message: response.NewText(http.StatusBadGateway, text),
		tally:   r.counts.of(http.StatusBadGateway, number),
	}
}

// contentOf returns what an outcome of a stage serves.
func (r *route) contentOf(stage, outcome int) *content {
	switch status := r.recipe.Stages[stage].Outcomes[outcome].Status; {
	case r.bodies[stage][outcome] != nil:
		return r.bodies[stage][outcome]
	case status >= 200 && status <= 299:
		return r.content.Load()
	default:
		return textContent(errorText(status), &r.recipe)
	}
}

func paceOf(o *recipe.Outcome) response.Pace {
	pace := response.Pace{Bandwidth: int64(o.Bandwidth)}
	if o.Dribble != nil {
		pace.Chunks, pace.Duration = o.Dribble.Chunks, time.Duration(o.Dribble.Duration)
	}
	return pace
}

// errorText returns the body of a response that is not a success.
func errorText(status int) string {
	if status == http.StatusNotFound {
		return "Not found"
	}
	return "Error " + strconv.Itoa(status)
}

// fields returns the header fields of a message: those of the recipe or, in
// their place, of the outcome, and what describes the content.
func fields(r *route, o *recipe.Outcome, c *content) []response.Field {
	bare := !response.HasBody(o.Status) || c.Size == 0 && c.varying == nil
	list := make([]response.Field, 0, len(r.recipe.Headers)+len(o.Headers)+1)
	typed := bare
	add := func(header recipe.Header) {
		list = append(list, response.NewField(header.Name, header.Values...))
		typed = typed || strings.EqualFold(header.Name, "Content-Type")
	}
	replaced := make(map[string]bool, len(o.Headers))
	for _, header := range o.Headers {
		replaced[strings.ToLower(header.Name)] = true
	}
	for _, header := range r.recipe.Headers {
		if len(replaced) > 0 && replaced[strings.ToLower(header.Name)] || bare && strings.EqualFold(header.Name, "Content-Encoding") {
			continue
		}
		add(header)
	}
	for _, header := range o.Headers {
		add(header)
	}
	if !typed {
		list = append(list, response.NewField("Content-Type", c.mediaType))
	}
	return list
}
