// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// IsURL says whether an argument is a URL rather than the name of a file.
func IsURL(arg string) bool {
	return strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://")
}

// URL gives a GET of one URL, without an end.
type URL struct {
	// Origin is scheme and host, a target for the requests.
	Origin  string
	text    string
	request recording.Request
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
	return &URL{
		Origin: u.Scheme + "://" + u.Host,
		text:   text,
		request: recording.Request{
			Method:  []byte("GET"),
			URI:     []byte(u.RequestURI()),
			Host:    []byte(u.Host),
			Headers: []byte("Host: " + u.Host + "\r\nUser-Agent: caddy-replay\r\nAccept: */*\r\n"),
		},
	}, nil
}

// String returns the request in words.
func (u *URL) String() string { return "GET " + u.text }

// Next returns the request.
func (u *URL) Next() (*recording.Request, error) { return &u.request, nil }

// Close does nothing.
func (*URL) Close() error { return nil }
