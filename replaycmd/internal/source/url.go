// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// IsURL reports whether an argument is a URL rather than the name of a file.
func IsURL(arg string) bool {
	return strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://")
}

// URL is a source of requests for one URL, without an end.
type URL struct {
	// Origin is scheme and host, a target for the requests.
	Origin  string
	text    string
	request recording.Request
	header  []byte // of the request, without what is about the body
	bodies  Bodies // nil: none
}

// Bodies returns the body of each request in turn.
type Bodies interface {
	// Next returns the next body, valid until the call after.
	Next() ([]byte, error)
	// Same reports whether all bodies are one and the same.
	Same() bool
	// String returns in words what they are.
	String() string
}

// NewURL reads a URL.
func NewURL(text string) (*URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.Unwrap(err)
	case u.Host == "":
		return nil, fmt.Errorf("'%s' has no host", text)
	case u.User != nil:
		return nil, fmt.Errorf("'%s' has credentials: give them as --header 'Authorization: ...'", text)
	}
	header := []byte("Host: " + u.Host + "\r\nUser-Agent: caddy-replay\r\nAccept: */*\r\n")
	return &URL{
		Origin: u.Scheme + "://" + u.Host,
		text:   text,
		header: header,
		request: recording.Request{
			Method: []byte("GET"), URI: []byte(u.RequestURI()), Host: []byte(u.Host), Headers: header,
		},
	}, nil
}

// formType is what a body is unless a header field says otherwise, as with curl.
const formType = "application/x-www-form-urlencoded"

// Use makes the requests have another method, unless that is empty, and bodies,
// unless those are nil. With bodies the method is POST by default.
func (u *URL) Use(method string, bodies Bodies) {
	if method == "" && bodies != nil {
		method = "POST"
	}
	if method != "" {
		u.request.Method = []byte(method)
	}
	if bodies != nil {
		u.bodies = bodies
		u.header = append(u.header, "Content-Type: "+formType+"\r\n"...)
	}
}

// Same reports whether all requests are one and the same.
func (u *URL) Same() bool { return u.bodies == nil || u.bodies.Same() }

// String returns the request in words.
func (u *URL) String() string {
	text := string(u.request.Method) + " " + u.text
	if u.bodies != nil {
		text += " with " + u.bodies.String()
	}
	return text
}

// Next returns the request.
func (u *URL) Next() (*recording.Request, error) {
	if u.bodies == nil {
		return &u.request, nil
	}
	body, err := u.bodies.Next()
	if err != nil {
		return nil, err
	}
	u.request.Body, u.request.BodySize = body, uint64(len(body))
	u.request.Headers = append(u.request.Headers[:0:0], u.header...)
	u.request.Headers = append(strconv.AppendInt(append(u.request.Headers, "Content-Length: "...), int64(len(body)), 10), "\r\n"...)
	return &u.request, nil
}

// Close does nothing.
func (*URL) Close() error { return nil }

// Texts are bodies that are sent in turn.
type Texts struct {
	all  [][]byte
	next int
}

// NewTexts returns bodies that are sent in turn.
func NewTexts(all [][]byte) *Texts { return &Texts{all: all} }

// Next returns the next body.
func (t *Texts) Next() ([]byte, error) {
	body := t.all[t.next]
	t.next = (t.next + 1) % len(t.all)
	return body, nil
}

// Same reports whether there is only one.
func (t *Texts) Same() bool { return len(t.all) == 1 }

// String returns how many bytes or bodies there are.
func (t *Texts) String() string {
	if t.Same() {
		return fmt.Sprintf("%d bytes", len(t.all[0]))
	}
	return fmt.Sprintf("%d bodies in turn", len(t.all))
}
