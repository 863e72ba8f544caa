// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"encoding/json"
	"math"
	"net"
	"strconv"
	"strings"
	"time"
)

// caddyLine is a line of Caddy's access log.
type caddyLine struct {
	Logger   string              `json:"logger"`
	Msg      string              `json:"msg"`
	At       json.RawMessage     `json:"ts"`
	Request  *caddyRequest       `json:"request"`
	Read     uint64              `json:"bytes_read"`
	Duration json.RawMessage     `json:"duration"`
	Size     uint64              `json:"size"`
	Status   int                 `json:"status"`
	Answered map[string][]string `json:"resp_headers"`
}

type caddyRequest struct {
	RemoteIP   string              `json:"remote_ip"`
	RemotePort string              `json:"remote_port"`
	Proto      string              `json:"proto"`
	Method     string              `json:"method"`
	Host       string              `json:"host"`
	URI        string              `json:"uri"`
	Headers    map[string][]string `json:"headers"`
	TLS        json.RawMessage     `json:"tls"`
}

// isAccess reports whether the line is about a request that was handled, and not
// one more about the same.
func (l *caddyLine) isAccess() bool {
	return strings.HasPrefix(l.Logger, "http.log.access") || l.Msg == "handled request"
}

// redacted is what Caddy has logged in place of credentials.
const redacted = "REDACTED"

func (l *caddyLine) fill(d *draft) error {
	r := l.Request
	d.Method, d.URI, d.Proto, d.Scheme = []byte(r.Method), []byte(r.URI), []byte(r.Proto), []byte("http")
	if len(r.TLS) > 0 && string(r.TLS) != "null" {
		d.Scheme = []byte("https")
	}
	if r.Host != "" {
		d.Host = []byte(r.Host)
	}
	if r.RemoteIP != "" {
		d.Remote = []byte(net.JoinHostPort(r.RemoteIP, r.RemotePort))
	}
	for name, values := range r.Headers {
		if len(values) == 1 && values[0] == redacted {
			delete(r.Headers, name)
		}
	}
	d.header(r.Headers)
	took := caddyDuration(l.Duration)
	if ended := caddyTime(l.At); ended > 0 { // it is logged when it is over
		d.TimeNS = ended - took
	}
	d.BodySize = l.Read
	if l.Status < 100 || l.Status > 999 {
		return nil
	}
	answer := d.answer(l.Status)
	answer.BodySize, answer.DurationNS = l.Size, took
	var fields draft
	fields.header(l.Answered)
	answer.Headers = fields.fields
	return nil
}

// caddyTime returns a time in nanoseconds since 1970 of any of the forms that
// Caddy's encoder has, 0 if it is none.
func caddyTime(raw json.RawMessage) int64 {
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
		switch {
		case f > 1e17: // unix_nano
			n, _ := strconv.ParseInt(string(raw), 10, 64)
			return n
		case f > 1e11: // unix_milli_float
			f /= 1e3
		}
		if f <= 0 || f > 1e10 {
			return 0
		}
		whole, part := math.Modf(f)
		return int64(whole)*int64(time.Second) + int64(math.Round(part*1e7))*100 // a float has no more digits
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return 0
	}
	for _, layout := range []string{"2006-01-02T15:04:05.000Z0700", time.RFC3339Nano, "2006/01/02 15:04:05", "2006/01/02 15:04:05.000", "02/Jan/2006:15:04:05 -0700"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UnixNano()
		}
	}
	return 0
}

// caddyDuration returns a duration in nanoseconds: seconds, or as Go writes it.
func caddyDuration(raw json.RawMessage) int64 {
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f > 0 && f < 1e7 {
		return int64(math.Round(f * 1e9))
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if took, err := time.ParseDuration(text); err == nil && took > 0 {
			return int64(took)
		}
	}
	return 0
}
