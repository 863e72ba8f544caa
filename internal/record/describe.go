// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
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
	identify(d, r.RequestURI, first(r.Header["X-Original-Uri"]), first(r.Header["X-Request-Id"]))
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
func DescribeTrailers(d *Draft, r *http.Request) { eachField(d, r.Trailer, d.AddTrailer) }

// DescribeExpress fills the draft like Describe, but knows the order of the
// header fields, except of the first request: that came through Caddy.
func DescribeExpress(d *Draft, x *express.Exchange) {
	d.TimeNS = x.Started.UnixNano()
	d.Method = d.Text(x.Method)
	d.Host = d.Text(x.Host)
	d.Proto = d.Text("HTTP/1.1")
	d.Remote = d.Text(x.Remote)
	d.Scheme = d.Text(scheme(x.TLS != nil))
	identify(d, x.Target, x.Get("X-Original-URI"), x.Get("X-Request-ID"))
	d.AddField("Host", x.Host)
	for _, field := range x.Fields {
		if !field.Is("Host") {
			d.AddField(field.Name, field.Value)
		}
	}
}

// DescribeResponse gives the draft a response of a status and a header.
func DescribeResponse(d *Draft, status int, header http.Header) {
	d.Respond(status)
	eachField(d, header, d.AddResponseField)
}

// DescribeResponseTrailers fills in what came after the response's body.
func DescribeResponseTrailers(d *Draft, trailer http.Header) {
	eachField(d, trailer, d.AddResponseTrailer)
}

// identify fills in the target and the ID, by X-Original-URI and X-Request-ID if
// the request has them: a proxy in front that mirrors it may have changed its
// target.
func identify(d *Draft, target, originalURI, requestID string) {
	d.URI = d.Text(cmp.Or(originalURI, target))
	if requestID == "" {
		d.ID = d.NewID()
	} else {
		d.ID = d.Text(requestID)
	}
}

func eachField(d *Draft, fields http.Header, add func(name, value string)) {
	for _, name := range d.Sorted(fields) {
		for _, value := range fields[name] {
			add(name, value)
		}
	}
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func scheme(secure bool) string {
	if secure {
		return "https"
	}
	return "http"
}
