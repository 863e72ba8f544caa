// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// describe fills the draft from all of the request but its body.
//
// net/http keeps header fields in a map, which has lost their order: they are
// sorted by name, and only the lines of one field are in the order in which
// they came.
func describe(d *recorder.Draft, r *http.Request) {
	d.TimeNS = time.Now().UnixNano()
	d.Method = d.Text(r.Method)
	d.Host = d.Text(r.Host)
	d.Proto = d.Text(r.Proto)
	d.Remote = d.Text(r.RemoteAddr)
	d.Scheme = d.Text("http")
	if r.TLS != nil {
		d.Scheme = d.Text("https")
	}
	identify(d, r.RequestURI, first(r.Header["X-Original-Uri"]), first(r.Header["X-Request-Id"]))
	describeHeader(d, r)
}

// identify fills in the target and the ID, by X-Original-URI and X-Request-ID if
// the request has them: a proxy in front that mirrors it may have changed its
// target.
func identify(d *recorder.Draft, target, originalURI, requestID string) {
	d.URI = d.Text(cmp.Or(originalURI, target))
	if requestID == "" {
		d.ID = d.NewID()
	} else {
		d.ID = d.Text(requestID)
	}
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func describeHeader(d *recorder.Draft, r *http.Request) {
	if r.Host != "" {
		d.AddField("Host", r.Host)
	}
	for _, name := range d.Sorted(r.Header) {
		for _, value := range r.Header[name] {
			d.AddField(name, value)
		}
	}
	// these two net/http takes out of the header
	for _, coding := range r.TransferEncoding {
		d.AddField("Transfer-Encoding", coding)
	}
	if len(r.Trailer) > 0 {
		d.AddField("Trailer", strings.Join(d.Sorted(r.Trailer), ", "))
	}
}

// describeTrailers fills in what came after the body.
func describeTrailers(d *recorder.Draft, r *http.Request) {
	for _, name := range d.Sorted(r.Trailer) {
		for _, value := range r.Trailer[name] {
			d.AddTrailer(name, value)
		}
	}
}
