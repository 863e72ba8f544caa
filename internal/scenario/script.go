// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// script is all that a route can answer, made ahead of the requests.
type script struct {
	stages []cue
	faults []cue // of the stages that have one
	plain  cue   // where no stage holds: a 200
}

// cue is one answer of a script.
type cue struct {
	message *response.Message
	varying *varying          // if the size is drawn for each request
	empty   *response.Message // if it may be 0
	fault   response.Fault
	pace    response.Pace
	tally   *tally
}

// response gives the message for one request.
func (c *cue) response(chance rand.Source) *response.Message {
	if c.varying == nil {
		return c.message
	}
	drawn := c.varying.draw(chance)
	if drawn.Size == 0 {
		return c.empty
	}
	return response.NewMessage(c.message.Status, c.message.Fields, drawn)
}

func newScript(r *route) *script {
	n := len(r.recipe.Stages)
	s := &script{stages: make([]cue, n), faults: make([]cue, n), plain: newCue(r, &recipe.Stage{Status: http.StatusOK}, r.content.Load())}
	for i := range r.recipe.Stages {
		stage := &r.recipe.Stages[i]
		s.stages[i] = newCue(r, stage, r.contentOf(i))
		if stage.Fault != nil {
			s.faults[i] = faultCue(r, s.stages[i], stage.Fault.Kind)
		}
	}
	return s
}

// newCue makes what a route answers in a stage.
func newCue(r *route, stage *recipe.Stage, served *content) cue {
	if served.missing != nil {
		return missingCue(r, served.missing)
	}
	c := cue{
		message: response.NewMessage(stage.Status, fields(r, stage, served), served.Content),
		pace:    paceOf(stage),
		tally:   r.counts.of(stage.Status),
	}
	if served.varying != nil && response.HasBody(stage.Status) {
		c.varying = served.varying
		c.empty = response.NewMessage(stage.Status, fields(r, stage, new(content)), response.Content{})
	}
	return c
}

// faultCue makes what befalls some or all answers of a stage.
func faultCue(r *route, spared cue, fault response.Fault) cue {
	c := cue{message: spared.message, fault: fault, tally: spared.tally}
	if !fault.Answers() {
		c.tally = r.counts.of(NoStatus)
	}
	return c
}

// missingCue tells the client why there is nothing to serve.
func missingCue(r *route, reason error) cue {
	text := "Origin not available: " + reason.Error()
	return cue{
		message: response.NewText(http.StatusBadGateway, text),
		tally:   r.counts.of(http.StatusBadGateway),
	}
}

// contentOf gives what a stage serves.
func (r *route) contentOf(i int) *content {
	switch status := r.recipe.Stages[i].Status; {
	case r.bodies[i] != nil:
		return r.bodies[i]
	case status >= 200 && status <= 299:
		return r.content.Load()
	default:
		return textContent(errorText(status), &r.recipe)
	}
}

func paceOf(stage *recipe.Stage) response.Pace {
	pace := response.Pace{Bandwidth: int64(stage.Bandwidth)}
	if stage.Dribble != nil {
		pace.Chunks, pace.Duration = stage.Dribble.Chunks, time.Duration(stage.Dribble.Duration)
	}
	return pace
}

// errorText is the body of an answer that is not a success.
func errorText(status int) string {
	if status == http.StatusNotFound {
		return "Not found"
	}
	return "Error " + strconv.Itoa(status)
}

// fields gives the header fields of a message: those of the recipe or, in
// their place, of the stage, and what describes the content.
func fields(r *route, stage *recipe.Stage, c *content) []response.Field {
	bare := !response.HasBody(stage.Status) || c.Size == 0 && c.varying == nil
	list := make([]response.Field, 0, len(r.recipe.Headers)+len(stage.Headers)+1)
	typed := bare
	add := func(header recipe.Header) {
		list = append(list, response.NewField(header.Name, header.Values...))
		typed = typed || strings.EqualFold(header.Name, "Content-Type")
	}
	for _, header := range r.recipe.Headers {
		if stage.Headers.Has(header.Name) || bare && strings.EqualFold(header.Name, "Content-Encoding") {
			continue
		}
		add(header)
	}
	for _, header := range stage.Headers {
		add(header)
	}
	if !typed {
		list = append(list, response.NewField("Content-Type", c.mediaType))
	}
	return list
}
