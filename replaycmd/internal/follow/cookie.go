// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"bytes"
	"errors"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const (
	maxCookie  = 8 << 10         // bytes of name and value
	longestAge = 400 * 24 * 3600 // seconds; the same as that of browsers
)

// originOf returns where a recorded request went. What came through a proxy that
// ends TLS was secure for the client.
func originOf(r *recording.Request) origin {
	o := origin{host: hostOf(string(r.Host)), path: pathOf(string(r.URI)), secure: string(r.Scheme) != "http"}
	for name, value := range recording.EachField(r.Headers) {
		switch {
		case bytes.EqualFold(name, []byte("Host")) && o.host == "":
			o.host = hostOf(string(value))
		case bytes.EqualFold(name, []byte("X-Forwarded-Proto")):
			o.secure = o.secure || bytes.EqualFold(bytes.TrimSpace(value), []byte("https"))
		case bytes.EqualFold(name, []byte("Forwarded")):
			o.secure = o.secure || bytes.Contains(bytes.ToLower(value), []byte("proto=https"))
		}
	}
	return o
}

// hostOf returns a host in lower case, without its port.
func hostOf(host string) string {
	host = strings.ToLower(strings.TrimSpace(host))
	if i := strings.LastIndexByte(host, ':'); i >= 0 && i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return strings.TrimSuffix(host, ".")
}

// pathOf returns the path of a target, / if it has none.
func pathOf(target string) string {
	path, _, _ := strings.Cut(target, "?")
	if _, rest, ok := strings.Cut(path, "://"); ok { // it names its server as well
		if at := strings.IndexByte(rest, '/'); at >= 0 {
			return rest[at:]
		}
		return "/"
	}
	if !strings.HasPrefix(path, "/") {
		return "/"
	}
	return path
}

// setCookies returns the cookies that the Set-Cookie fields of an answer set.
func setCookies(headers []byte, now time.Time) iter.Seq[cookie] {
	return func(yield func(cookie) bool) {
		for field, value := range recording.EachField(headers) {
			if len(field) != len("Set-Cookie") || !strings.EqualFold(string(field), "Set-Cookie") {
				continue
			}
			pair, attributes, _ := bytes.Cut(value, []byte(";"))
			name, said, ok := bytes.Cut(pair, []byte("="))
			if name = bytes.TrimSpace(name); !ok || len(name) == 0 {
				continue
			}
			c := cookie{name: string(name), value: string(bytes.TrimSpace(said))}
			c.attributes(string(attributes), now)
			if !yield(c) {
				return
			}
		}
	}
}

// attributes reads for which requests, and until when, a cookie is. Max-Age
// counts before Expires.
func (c *cookie) attributes(text string, now time.Time) {
	aged := false
	for attribute := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(attribute, "=")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "domain":
			c.domain = strings.Clone(strings.ToLower(strings.TrimPrefix(value, ".")))
		case "path":
			c.path = strings.Clone(value) // not all attributes
		case "secure":
			c.secure = true
		case "max-age":
			seconds, err := strconv.ParseInt(value, 10, 64)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				continue
			}
			seconds = min(seconds, longestAge)
			aged = true
			c.expires, c.gone = now.Add(time.Duration(seconds)*time.Second), seconds <= 0
		case "expires":
			if at, ok := parseExpires(value); ok && !aged {
				c.expires, c.gone = at, !now.Before(at)
			}
		}
	}
}

func parseExpires(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC1123, "Mon, 02-Jan-2006 15:04:05 MST", time.RFC850, time.ANSIC} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
