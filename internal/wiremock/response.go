// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/template"
)

// response is a mapping's answer with what has to be rendered for each request.
type response struct {
	answer  Answer             // what is the same for every request
	body    *template.Template // nil: answer.Body as it is
	headers []headerTemplate
}

// headerTemplate renders the value of a field of answer.Header.
type headerTemplate struct {
	index int
	value *template.Template
}

func parseResponse(data json.RawMessage, from origin) (response, error) {
	r := response{answer: Answer{Status: http.StatusOK}}
	f, err := newFields("response", data)
	if err != nil {
		return r, err
	}
	if err := r.parseStatus(f); err != nil {
		return r, err
	}
	t, err := f.templating()
	if err != nil {
		return r, err
	}
	if err := r.parseHeaders(f, t); err != nil {
		return r, err
	}
	if err := r.parseBody(f, from, t); err != nil {
		return r, err
	}
	if err := r.parseTiming(f); err != nil {
		return r, err
	}
	return r, f.done()
}

func (r *response) parseStatus(f *fields) error {
	if _, err := f.into("status", &r.answer.Status); err != nil {
		return err
	}
	if r.answer.Status < 200 || r.answer.Status > 999 {
		return f.errorf("status", "%d is not a status that can end an exchange", r.answer.Status)
	}
	var message string
	given, err := f.into("statusMessage", &message)
	if given && message != http.StatusText(r.answer.Status) {
		err = errors.Join(err, f.errorf("statusMessage", "'%s' is not supported: the words belong to the status", message))
	}
	return err
}

// templating is whether a response is rendered, and with which parameters.
type templating struct {
	on         bool
	parameters map[string]any
	plainFiles bool
}

func (f *fields) templating() (templating, error) {
	var t templating
	var transformers []string
	if _, err := f.into("transformers", &transformers); err != nil {
		return t, err
	}
	for _, name := range transformers {
		if name != "response-template" {
			return t, f.errorf("transformers", "'%s' is not supported", name)
		}
		t.on = true
	}
	data, given := f.take("transformerParameters")
	if !given {
		return t, nil
	}
	parsed, _ := jsonpath.Parse(string(data))
	parameters, ok := parsed.(map[string]any)
	if !ok {
		return t, f.errorf("transformerParameters", "expected an object")
	}
	t.parameters = parameters
	t.plainFiles, _ = parameters["disableBodyFileTemplating"].(bool)
	return t, nil
}

func (t templating) parse(text string) (*template.Template, error) {
	if !t.on || !template.IsTemplate(text) {
		return nil, nil
	}
	return template.Parse(text, t.parameters)
}
