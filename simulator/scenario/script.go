// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/simulator/answer"
	"github.com/caddy-rehearsal/rehearsal/simulator/recipe"
)

// script is all that a route can answer, made ahead of the requests.
type script struct {
	stages []cue
	plain  cue // where no stage holds: a 200
}

// cue is one answer of a script.
type cue struct {
	message *answer.Response
	varying *varying // if the size is drawn for each request
	tally   *tally
}

// response gives the message for one request.
func (c *cue) response(chance rand.Source) *answer.Response {
	if c.varying == nil {
		return c.message
	}
	return answer.NewResponse(c.message.Status, c.message.Fields, c.varying.draw(chance))
}

func newScript(r *route) *script {
	s := &script{plain: newCue(r, http.StatusOK), stages: make([]cue, len(r.recipe.Stages))}
	for i, stage := range r.recipe.Stages {
		s.stages[i] = newCue(r, stage.Status)
	}
	return s
}

// newCue makes what a route answers with a status.
func newCue(r *route, status int) cue {
	content := r.content.Load()
	switch {
	case status < 200 || status > 299:
		content = textContent(errorText(status), &r.recipe)
	case content.missing != nil:
		return missingCue(r, content.missing)
	}
	c := cue{
		message: answer.NewResponse(status, fields(&r.recipe, content, status), content.Content),
		tally:   r.counts.of(status),
	}
	if answer.HasBody(status) {
		c.varying = content.varying
	}
	return c
}

// missingCue tells the client why there is nothing to serve.
func missingCue(r *route, reason error) cue {
	text := "Origin not available: " + reason.Error()
	return cue{
		message: answer.NewText(http.StatusBadGateway, text),
		tally:   r.counts.of(http.StatusBadGateway),
	}
}

// errorText is the body of an answer that is not a success.
func errorText(status int) string {
	if status == http.StatusNotFound {
		return "Not found"
	}
	return "Error " + strconv.Itoa(status)
}

// fields gives the header fields of a message: those of the recipe, and what
// describes the content.
func fields(r *recipe.Recipe, c *content, status int) []answer.Field {
	bare := !answer.HasBody(status) || c.Size == 0 && c.File == "" && c.varying == nil
	list := make([]answer.Field, 0, len(r.Headers)+1)
	for _, header := range r.Headers {
		if bare && strings.EqualFold(header.Name, "Content-Encoding") {
			continue
		}
		list = append(list, answer.NewField(header.Name, header.Values...))
	}
	if !bare && r.Headers.Get("Content-Type") == "" {
		list = append(list, answer.NewField("Content-Type", c.mediaType))
	}
	return list
}
