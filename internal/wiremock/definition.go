// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/template"
)

// definition is a mapping's response with what has to be rendered for each
// request.
type definition struct {
	fixed   Response           // what is the same for every request
	body    *template.Template // nil: fixed.Body as it is
	headers []headerTemplate
	file    *fileTemplate // of the body; nil: it is none of a name that is rendered
	proxy   *proxying
}

// headerTemplate renders the value of a field of fixed.Header.
type headerTemplate struct {
	index int
	value *template.Template
}

func (f *fields) parseDefinition(data json.RawMessage, from origin) (definition, error) {
	r := definition{fixed: Response{Status: http.StatusOK}}
	f, err := f.inside("response", data)
	if err != nil {
		return r, err
	}
	if err := r.parseStatus(f); err != nil {
		return r, err
	}
	t, err := f.templating(from.templates)
	if err != nil {
		return r, err
	}
	if err := r.parseHeaders(f, t); err != nil {
		return r, err
	}
	if err := r.parseBody(f, from, t); err != nil {
		return r, err
	}
	if err := r.parseProxy(f, t); err != nil {
		return r, err
	}
	if err := r.parseTiming(f); err != nil {
		return r, err
	}
	return r, f.done()
}

func (r *definition) parseStatus(f *fields) error {
	if _, err := f.into("status", &r.fixed.Status); err != nil {
		return err
	}
	if r.fixed.Status == 0 { // what WireMock itself writes for the default
		r.fixed.Status = http.StatusOK
	}
	if r.fixed.Status < 200 || r.fixed.Status > 999 {
		return f.errorf("status", "%d is not a status that can end an exchange", r.fixed.Status)
	}
	f.take("fromConfiguredStub")
	var message string
	_, err := f.into("statusMessage", &message)
	if message != http.StatusText(r.fixed.Status) {
		r.fixed.StatusMessage = oneLine(message)
	}
	return err
}

// templating is whether a response is rendered, and with which parameters.
type templating struct {
	on         bool
	parameters *eval.Object
	plainFiles bool
}

func (f *fields) templating(always bool) (templating, error) {
	t := templating{on: always}
	var transformers []string
	if _, err := f.into("transformers", &transformers); err != nil {
		return t, err
	}
	for _, name := range transformers {
		if name == "response-template" {
			t.on = true
			continue
		}
		f.warnf("transformers", "'%s' is an extension of WireMock's and transforms nothing here", name)
	}
	data, given := f.take("transformerParameters")
	if !given {
		return t, nil
	}
	parsed, _ := eval.ParseJSON(string(data))
	parameters, ok := parsed.(*eval.Object)
	if !ok {
		return t, f.errorf("transformerParameters", "expected an object")
	}
	t.parameters = parameters
	plain, _ := parameters.Get("disableBodyFileTemplating")
	t.plainFiles, _ = plain.(bool)
	return t, nil
}

func (t templating) parse(text string) (*template.Template, error) {
	if !t.on || !template.IsTemplate(text) {
		return nil, nil
	}
	return template.Parse(text, t.parameters)
}

func (r *definition) parseHeaders(f *fields, t templating) error {
	data, given := f.take("headers")
	if !given {
		return nil
	}
	members, err := orderedMembers(data)
	if err != nil {
		return f.located("headers", err)
	}
	for _, m := range members {
		values, err := oneOrMore(m.data)
		if err != nil {
			return f.errorf("headers."+m.name, "%w", err)
		}
		for _, value := range values {
			if err := r.addHeader(f, m.name, value, t); err != nil {
				return f.errorf("headers."+m.name, "%w", err)
			}
		}
	}
	return nil
}

func (r *definition) addHeader(f *fields, name, value string, t templating) error {
	compiled, err := t.parse(value)
	switch {
	case err != nil:
		return err
	case !httpguts.ValidHeaderFieldName(name):
		return errors.New("no header field can have this name")
	case compiled == nil && !httpguts.ValidHeaderFieldValue(value):
		f.warnf("headers."+name, "a line break is sent as a space, and so is what no header field can have")
		value = oneLine(value)
	case framing(name):
		return nil
	}
	if compiled != nil {
		r.headers = append(r.headers, headerTemplate{len(r.fixed.Header), compiled})
	}
	f.warnOf("headers."+name, value, compiled, t)
	r.fixed.Header = append(r.fixed.Header, Field{name, value}) // as it is written: to messages the case of a property matters
	return nil
}

// framing reports whether a field is about where a message ends, which is the
// server's to decide.
func framing(name string) bool {
	kind := http1.FieldOf(name)
	return kind == http1.ContentLength || kind == http1.TransferEncoding || kind == http1.Connection
}

// oneOrMore reads a text or a list of texts.
func oneOrMore(data json.RawMessage) ([]string, error) {
	var many []string
	if json.Unmarshal(data, &many) == nil && many != nil {
		return many, nil
	}
	var one any
	if err := json.Unmarshal(data, &one); err != nil {
		return nil, err
	}
	switch one := one.(type) {
	case string:
		return []string{one}, nil
	case float64, bool:
		return []string{string(data)}, nil
	}
	return nil, fmt.Errorf("expected a text or a list of texts")
}

// parseTiming takes what makes the response late, slow or broken.
func (r *definition) parseTiming(f *fields) error {
	var milliseconds int64
	given, err := f.into("fixedDelayMilliseconds", &milliseconds)
	if err != nil {
		return err
	}
	if milliseconds < 0 || milliseconds > longestDelay {
		return f.errorf("fixedDelayMilliseconds", "%d is not from 0 to %d", milliseconds, int64(longestDelay))
	}
	r.fixed.FixedDelay, r.fixed.HasFixedDelay = time.Duration(milliseconds)*time.Millisecond, given
	if r.fixed.HasDelay, err = f.into("delayDistribution", &r.fixed.Delay); err != nil {
		return err
	}
	if err := r.parseDribble(f); err != nil {
		return err
	}
	return r.parseFault(f)
}

// longestDelay is a year, in milliseconds.
const longestDelay = 365 * 24 * 3600 * 1000

func (r *definition) parseDribble(f *fields) error {
	data, given := f.take("chunkedDribbleDelay")
	if !given {
		return nil
	}
	d, err := f.inside("chunkedDribbleDelay", data)
	if err != nil {
		return err
	}
	var chunks, milliseconds int64
	if _, err := d.into("numberOfChunks", &chunks); err != nil {
		return err
	}
	if _, err := d.into("totalDuration", &milliseconds); err != nil {
		return err
	}
	if chunks < 1 || chunks > 1<<20 {
		return d.errorf("numberOfChunks", "%d is not from 1 to %d", chunks, 1<<20)
	}
	if milliseconds < 0 || milliseconds > longestDelay {
		return d.errorf("totalDuration", "%d is not from 0 to %d", milliseconds, int64(longestDelay))
	}
	r.fixed.Dribble = Dribble{int(chunks), time.Duration(milliseconds) * time.Millisecond}
	return d.done()
}

func (r *definition) parseFault(f *fields) error {
	if _, err := f.into("fault", &r.fixed.Fault); err != nil {
		return err
	}
	switch r.fixed.Fault {
	case "", ConnectionReset, EmptyResponse, MalformedResponse, RandomData:
		return nil
	}
	return f.errorf("fault", "there is no fault '%s'", r.fixed.Fault)
}
