// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// Draft is a request, perhaps with its response, on its way to becoming a record.
type Draft = recorder.Draft

// Describe fills the draft from all of the request but its body and trailers.
//
// net/http keeps header fields in a map, which has lost their order: they are
// sorted by name, and only the lines of one field are in the order in which
// they came.
func Describe(d *Draft, r *http.Request) {
	d.TimeNS = time.Now().UnixNano()
	d.Method = d.Text(r.Method)
	d.Host = d.Text(r.Host)
	d.Proto = d.Text(r.Proto)
	d.Remote = d.Text(r.RemoteAddr)
	d.Scheme = d.Text(scheme(r.TLS != nil))
	identify(d, r.RequestURI, r.Header.Get)
	if r.Host != "" {
		d.AddField("Host", r.Host)
	}
	eachField(d, r.Header, d.AddField)
	// these two net/http takes out of the header
	for _, coding := range r.TransferEncoding {
		d.AddField("Transfer-Encoding", coding)
	}
	if len(r.Trailer) > 0 {
		d.AddField("Trailer", strings.Join(d.Sorted(r.Trailer), ", "))
	}
}

// DescribeTrailers fills in what came after the request's body.
func DescribeTrailers(d *Draft, trailer http.Header) { eachField(d, trailer, d.AddTrailer) }

// DescribeExpress fills the draft like Describe, but knows the order of the
// header fields, except of the first request: that came through Caddy.
func DescribeExpress(d *Draft, x *express.Exchange) {
	d.TimeNS = x.Started.UnixNano()
	d.Method = d.Text(x.Method)
	d.Host = d.Text(x.Host)
	d.Proto = d.Text("HTTP/1.1")
	d.Remote = d.Text(x.Remote)
	d.Scheme = d.Text(scheme(x.TLS != nil))
	identify(d, x.Target, x.Get)
	d.AddField("Host", x.Host)
	for _, field := range x.Fields {
		if !field.Is("Host") {
			d.AddField(field.Name, field.Value)
		}
	}
}

// DescribeResponse starts the draft's response, with a status and a header.
func DescribeResponse(d *Draft, status int, header http.Header) {
	d.Respond(status)
	eachField(d, header, d.AddResponseField)
}

// DescribeResponseTrailers fills in what came after the response's body.
func DescribeResponseTrailers(d *Draft, trailer http.Header) {
	eachField(d, trailer, d.AddResponseTrailer)
}

// identify fills in the target and the ID. A proxy in front that mirrors a
// request may have changed its target, which it then has in the field of
// original_uri; the ID is that of X-Request-ID. What is redacted is not taken.
func identify(d *Draft, target string, get func(field string) string) {
	if field := d.OriginalURI(); field != "" && !d.Redacts(field) {
		if original := get(field); isTarget(original) {
			target = original
		}
	}
	d.URI = d.Text(target)
	if id := get("X-Request-ID"); id != "" && !d.Redacts("X-Request-ID") {
		d.ID = d.Text(id)
	} else {
		d.ID = d.NewID()
	}
}

// isTarget reports whether text can be the target of a request.
func isTarget(text string) bool {
	if !http1.IsTarget(text) {
		return false
	}
	parsed, err := url.ParseRequestURI(text)
	return err == nil && (text[0] == '/' || parsed.Host != "" && (parsed.Scheme == "http" || parsed.Scheme == "https"))
}

// Cause returns the plain error within one that Caddy's handlers have wrapped
// with an ID and a status.
func Cause(err error) error {
	if wrapped, ok := errors.AsType[caddyhttp.HandlerError](err); ok && wrapped.Err != nil {
		return wrapped.Err
	}
	return err
}

func eachField(d *Draft, fields http.Header, add func(name, value string)) {
	for _, name := range d.Sorted(fields) {
		for _, value := range fields[name] {
			add(name, value)
		}
	}
}

func scheme(secure bool) string {
	if secure {
		return "https"
	}
	return "http"
}
