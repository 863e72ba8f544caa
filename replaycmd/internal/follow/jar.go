// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// jar has the cookies that one target has handed out to one session, by name.
type jar struct {
	mu      sync.Mutex
	cookies map[string]cookie
}

type cookie struct {
	value   string
	expires time.Time // zero: with the session
	gone    bool      // it was taken back
}

func newJar() *jar { return &jar{cookies: make(map[string]cookie)} }

// take takes the cookies that an answer sets.
func (j *jar) take(headers []byte, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, c := range setCookies(headers, now) {
		if _, known := j.cookies[name]; known || len(j.cookies) < maxCookies {
			j.cookies[name] = c
		}
	}
}

// get returns a cookie, and whether it was ever set and is to be sent.
func (j *jar) get(name string, now time.Time) (value string, known, sent bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c, known := j.cookies[name]
	return c.value, known, known && !c.gone && (c.expires.IsZero() || now.Before(c.expires))
}

// setCookies returns the cookies that the Set-Cookie fields of an answer set, by
// name.
func setCookies(headers []byte, now time.Time) map[string]cookie {
	var all map[string]cookie
	for field, value := range recording.EachField(headers) {
		if len(field) != len("Set-Cookie") || !strings.EqualFold(string(field), "Set-Cookie") {
			continue
		}
		pair, attributes, _ := bytes.Cut(value, []byte(";"))
		name, said, ok := bytes.Cut(bytes.TrimSpace(pair), []byte("="))
		if !ok || len(name) == 0 {
			continue
		}
		c := cookie{value: string(said)}
		c.attributes(string(attributes), now)
		if all == nil {
			all = make(map[string]cookie)
		}
		all[string(bytes.TrimSpace(name))] = c
	}
	return all
}

// attributes reads until when a cookie is to be sent. Max-Age counts before
// Expires (RFC 6265, section 5.3).
func (c *cookie) attributes(text string, now time.Time) {
	aged := false
	for attribute := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(attribute), "=")
		switch strings.ToLower(name) {
		case "max-age":
			seconds, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				continue
			}
			aged = true
			c.expires, c.gone = now.Add(time.Duration(seconds)*time.Second), seconds <= 0
		case "expires":
			for _, layout := range []string{time.RFC1123, "Mon, 02-Jan-2006 15:04:05 MST", time.RFC850, time.ANSIC} {
				if at, err := time.Parse(layout, value); err == nil && !aged {
					c.expires, c.gone = at, !now.Before(at)
				}
			}
		}
	}
}
