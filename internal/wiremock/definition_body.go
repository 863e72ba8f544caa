// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/template"
)

func (r *definition) parseBody(f *fields, from origin, t templating) error {
	given := ""
	for _, kind := range []string{"body", "jsonBody", "base64Body", "bodyFileName"} {
		data, ok := f.take(kind)
		if !ok {
			continue
		}
		if given != "" {
			f.warnf(kind, "is not looked at, since there is %s", given)
			continue
		}
		given = kind
		if kind == "bodyFileName" && t.on && template.IsTemplate(string(data)) {
			if err := r.parseFileName(f, data, from, t); err != nil {
				return f.located(kind, err)
			}
			continue
		}
		body, err := readBody(kind, data, from)
		if kind == "bodyFileName" && errors.Is(err, fs.ErrNotExist) {
			f.warnf(kind, "%w", err)
			var name string
			_ = decode(data, &name) // readBody has done so
			r.fixed, r.headers = withoutFile(notFound(name)), nil
			continue
		}
		if err != nil {
			return f.located(kind, err)
		}
		r.fixed.Body = body
		if kind == "base64Body" || kind == "bodyFileName" && t.plainFiles {
			continue
		}
		if r.body, err = t.parse(string(body)); err != nil {
			return f.located(kind, err)
		}
		f.warnOf(kind, string(body), r.body, t)
	}
	return nil
}

// warnOf notes what of a text its author may not have meant: a template that is sent
// as it is, and names that nothing has.
func (f *fields) warnOf(field, text string, compiled *template.Template, t templating) {
	if compiled == nil {
		if !t.on && template.IsTemplate(text) {
			f.warnf(field, "{{ is sent as it is: response-template is not among the transformers, and templates are not on for all mappings")
		}
		return
	}
	for _, name := range compiled.Unknown() {
		f.warnf(field, "nothing is written for {{%s}}, which nothing has", name)
	}
	for _, argument := range compiled.Ignored() {
		f.warnf(field, "%s is not looked at", argument)
	}
}

// withoutFile returns what a mapping responds whose body file is not there.
func withoutFile(why string) Response {
	return Response{
		Status: http.StatusInternalServerError,
		Header: []Field{{"Content-Type", "text/plain; charset=utf-8"}},
		Body:   []byte(why),
		NoFile: true,
	}
}

// notFound returns what clients are told of a body file, in WireMock's words: where
// it was looked for is not theirs to know.
func notFound(name string) string { return "Not found in blob store: " + shortened(name) }

func readBody(kind string, data json.RawMessage, from origin) ([]byte, error) {
	if kind == "jsonBody" {
		return eval.PlainTexts(compact(data)), nil
	}
	var text string
	if err := decode(data, &text); err != nil {
		return nil, plain(err)
	}
	switch kind {
	case "base64Body":
		return base64.StdEncoding.DecodeString(text)
	case "bodyFileName":
		return from.readFile(text)
	}
	return []byte(text), nil
}
