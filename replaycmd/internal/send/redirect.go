// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// follow follows redirects, over this connection while they stay with the
// target and over one of their own where they leave it. The response is the last
// one, with the bytes of all.
func (c *Client) follow(m *Message, resp Response, deadline time.Time) (Response, error) {
	at := c
	defer func() {
		if at != c {
			at.Close()
			c.used = at.used
		}
	}()
	for hop := 0; hop < c.dialer.options.Redirects && resp.Location != ""; hop++ {
		from := at.url(m)
		to, err := from.Parse(resp.Location)
		if err != nil {
			return resp, nil // nowhere to follow it to: the redirect is the response
		}
		leaves := !strings.EqualFold(to.Host, from.Host) || to.Scheme != from.Scheme
		if leaves && !at.serves(to) {
			target, err := ParseTarget(to.Scheme + "://" + to.Host)
			if err != nil {
				return resp, nil
			}
			if at != c {
				at.Close()
			}
			options := c.dialer.options
			options.ServerName = ""
			at = NewClient(c.ctx, NewDialer(target, options))
			at.Capture = c.Capture
		}
		r := redirected(m, resp.Status, to, leaves)
		if c.Redirected != nil {
			r.Headers = c.Redirected(from, to, r.Headers)
		}
		next := new(Message)
		if err := new(Rewriter).Write(next, r); err != nil {
			return resp, nil
		}
		next.placed = true
		before := resp
		resp, err = at.sendOnce(next, time.Now(), deadline)
		resp.Sent += before.Sent
		resp.Received += before.Received
		if err != nil {
			return resp, err
		}
		m = next
	}
	return resp, nil
}

// url returns where a message goes, as its response sees it.
func (c *Client) url(m *Message) *url.URL {
	u := &url.URL{Scheme: "http", Host: string(m.Host), Path: "/"}
	if c.dialer.target.TLS {
		u.Scheme = "https"
	}
	if c.dialer.options.TargetHost || u.Host == "" {
		u.Host = c.dialer.target.Host
	}
	target := string(m.Target)
	if m.takesBase() {
		target = c.dialer.target.Base + target
	}
	if requested, err := url.ParseRequestURI(target); err == nil {
		u.Path, u.RawPath, u.RawQuery = requested.Path, requested.RawPath, requested.RawQuery
	}
	return u
}

// serves reports whether the client's target is the host of a URL.
func (c *Client) serves(u *url.URL) bool {
	target, err := ParseTarget(u.Scheme + "://" + u.Host)
	return err == nil && target.TLS == c.dialer.target.TLS && target.Address == c.dialer.target.Address
}

// redirected returns the request that follows a response: a GET without a body
// where browsers make it one, and no credentials for another host.
func redirected(m *Message, status int, to *url.URL, leaves bool) *recording.Request {
	r := &recording.Request{Method: m.Method, URI: []byte(to.RequestURI()), Host: []byte(to.Host), Body: m.Body, Trailers: m.trailers}
	get := status == http.StatusSeeOther && !m.isHead() ||
		(status == http.StatusMovedPermanently || status == http.StatusFound) && string(m.Method) == http.MethodPost
	if get {
		r.Method, r.Body, r.Trailers = []byte(http.MethodGet), nil, nil
	}
	for name, value := range m.Fields() {
		ofBody := http1.FieldOf(name) != http1.EndToEnd || len(name) > 8 && strings.EqualFold(string(name[:8]), "content-")
		if get && ofBody || leaves && isCredential(name) {
			continue
		}
		r.Headers = http1.AppendField(r.Headers, name, value)
	}
	return r
}

// isCredential reports whether a field is meant for the host it was sent to.
func isCredential(name []byte) bool {
	return http1.FieldOf(name) == http1.Proxy || strings.EqualFold(string(name), "Authorization") || strings.EqualFold(string(name), "Cookie")
}
