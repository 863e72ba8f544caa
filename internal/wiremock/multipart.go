// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// part is one part of a multipart body.
type part struct {
	header textproto.MIMEHeader
	name   string
	file   string
	body   string
}

// mostParts bounds how many parts of a body are looked at.
const mostParts = 1000

// isMultipart reports whether the request says that its body has parts.
func (r *Request) isMultipart() (boundary string, is bool) {
	for _, kind := range r.header("Content-Type") {
		if strings.HasPrefix(strings.ToLower(kind), "multipart/") {
			_, parameters, err := mime.ParseMediaType(kind)
			return parameters["boundary"], err == nil
		}
	}
	return "", false
}

// bodyParts returns the parts of the body, which are read once.
func (r *Request) bodyParts() []part {
	if r.parts == nil {
		r.parts = &parted{list: r.readParts()}
	}
	return r.parts.list
}

// parted are the parts of a body.
type parted struct {
	list []part
	at   *part // whose header is looked at
}

func (r *Request) readParts() (parts []part) {
	boundary, is := r.isMultipart()
	if !is || boundary == "" {
		return nil
	}
	reader := multipart.NewReader(strings.NewReader(r.bodyDocument().raw), boundary)
	for {
		next, err := reader.NextRawPart()
		if err != nil {
			return parts // what there is before something that is none
		}
		if len(parts) == mostParts {
			r.failed = ErrTooMuch
			return nil
		}
		body, err := io.ReadAll(next)
		if err != nil {
			return parts
		}
		p := part{header: next.Header, name: next.FormName(), file: next.FileName(), body: string(body)}
		if _, parameters, err := mime.ParseMediaType(next.Header.Get("Content-Type")); err == nil && parameters["charset"] != "" {
			p.body = decodeFrom(parameters["charset"], p.body)
		}
		parts = append(parts, p)
	}
}

// multipartPattern is a condition on the parts of a body: one has to meet it, or
// all.
type multipartPattern struct {
	all     bool
	file    string
	headers []condition
	body    []pattern
}

func (p *multipartPattern) String() string {
	var words []string
	for i := range p.headers {
		words = append(words, p.headers[i].name+" "+p.headers[i].String())
	}
	for _, b := range p.body {
		words = append(words, "a body that "+b.String())
	}
	if p.file != "" {
		words = append(words, "the file "+p.file)
	}
	if p.all {
		return "all parts with " + strings.Join(words, " and ")
	}
	return "a part with " + strings.Join(words, " and ")
}

// matches draws on one budget for all parts.
func (p *multipartPattern) matches(r *Request) bool {
	if boundary, is := r.isMultipart(); !is || boundary == "" {
		return false
	}
	parts := r.bodyParts()
	if r.failed != nil {
		return false
	}
	left := eval.NewBudget(len(r.body.raw))
	for i := range parts {
		met := p.met(r, &parts[i], &left)
		if left.Exceeded() {
			r.budget = left
			r.exceeded()
			return false
		}
		if met != p.all {
			return met
		}
	}
	return p.all
}

// met reports whether a part meets the condition. The name of a file counts only
// beside something else, as with WireMock.
func (p *multipartPattern) met(r *Request, one *part, left *eval.Budget) bool {
	if p.headers == nil && p.body == nil {
		return true
	}
	for i := range p.headers {
		r.parts.at = one
		if !left.Spend(1+len(one.header)) || !p.headers[i].matches(r) {
			return false
		}
	}
	for _, b := range p.body {
		v := value{text: one.body, present: true, budget: left}
		if !b.matches(v) {
			return false
		}
	}
	return p.file == "" || p.file == one.file
}

func partHeaderValues(r *Request, name string, visit visitor) {
	for _, text := range r.parts.at.header.Values(name) {
		if !visit(text) {
			return
		}
	}
}

// multipartPatterns takes the conditions on parts.
func (f *fields) multipartPatterns() ([]*multipartPattern, error) {
	data, given := f.take("multipartPatterns")
	if !given {
		return nil, nil
	}
	list, err := elements(f.at("multipartPatterns"), data)
	if err != nil {
		return nil, err
	}
	patterns := make([]*multipartPattern, len(list))
	for i, element := range list {
		inner, err := f.inside(fmt.Sprintf("multipartPatterns[%d]", i), element)
		if err != nil {
			return nil, err
		}
		if patterns[i], err = inner.multipartPattern(); err != nil {
			return nil, err
		}
	}
	return patterns, nil
}

func (f *fields) multipartPattern() (*multipartPattern, error) {
	p := new(multipartPattern)
	f.take("name") // which WireMock does not look at: Content-Disposition has it
	kind := ""
	if _, err := f.into("matchingType", &kind); err != nil {
		return nil, err
	}
	switch kind {
	case "", "ANY":
	case "ALL":
		p.all = true
	default:
		return nil, f.located("matchingType", errors.New("expected ALL or ANY"))
	}
	_, err := f.into("fileName", &p.file)
	if err != nil {
		return nil, err
	}
	if p.headers, err = f.conditions("headers", partHeaderValues, nil); err != nil {
		return nil, err
	}
	if list, given := f.take("bodyPatterns"); given {
		if p.body, err = f.patternsIn("bodyPatterns", list); err != nil {
			return nil, err
		}
	}
	return p, f.done()
}
