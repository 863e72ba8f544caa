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

// script is all responses that a route has, made ahead of the requests.
type script struct {
	stages []variant
	faults []variant // of the stages that have one
	plain  variant   // where no stage holds: a 200
}

// variant is one response of a script.
type variant struct {
	message *response.Message
	varying *varying          // if the size is drawn for each request
	empty   *response.Message // if it may be 0
	fault   response.Fault
	pace    response.Pace
	tally   *tally
}

// draw returns the message for one request.
func (c *variant) draw(chance rand.Source) *response.Message {
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
	s := &script{stages: make([]variant, n), faults: make([]variant, n), plain: newVariant(r, &recipe.Stage{Status: http.StatusOK}, r.content.Load())}
	for i := range r.recipe.Stages {
		stage := &r.recipe.Stages[i]
		s.stages[i] = newVariant(r, stage, r.contentOf(i))
		if stage.Fault != nil {
			s.faults[i] = faultVariant(r, s.stages[i], stage.Fault.Kind)
		}
	}
	return s
}

// newVariant makes the response of a stage.
func newVariant(r *route, stage *recipe.Stage, served *content) variant {
	if served.missing != nil {
		return missingVariant(r, served.missing)
	}
	c := variant{
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

// faultVariant makes the response of a stage that has its fault.
func faultVariant(r *route, spared variant, fault response.Fault) variant {
	c := variant{message: spared.message, fault: fault, tally: spared.tally}
	if !fault.Answers() {
		c.tally = r.counts.of(NoStatus)
	}
	return c
}

// missingVariant is the response where there is nothing to serve. It names
// neither URLs nor addresses.
func missingVariant(r *route, reason error) variant {
	text := "Origin not available: " + forClients(reason)
	return variant{
		message: response.NewText(http.StatusBadGateway, text),
		tally:   r.counts.of(http.StatusBadGateway),
	}
}

// contentOf returns what a stage serves.
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

// errorText is the body of a response that is not a success.
func errorText(status int) string {
	if status == http.StatusNotFound {
		return "Not found"
	}
	return "Error " + strconv.Itoa(status)
}

// fields returns the header fields of a message: those of the recipe or, in
// their place, of the stage, and what describes the content.
func fields(r *route, stage *recipe.Stage, c *content) []response.Field {
	bare := !response.HasBody(stage.Status) || c.Size == 0 && c.varying == nil
	list := make([]response.Field, 0, len(r.recipe.Headers)+len(stage.Headers)+1)
	typed := bare
	add := func(header recipe.Header) {
		list = append(list, response.NewField(header.Name, header.Values...))
		typed = typed || strings.EqualFold(header.Name, "Content-Type")
	}
	replaced := make(map[string]bool, len(stage.Headers))
	for _, header := range stage.Headers {
		replaced[strings.ToLower(header.Name)] = true
	}
	for _, header := range r.recipe.Headers {
		if len(replaced) > 0 && replaced[strings.ToLower(header.Name)] || bare && strings.EqualFold(header.Name, "Content-Encoding") {
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
