// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/publicsuffix"
)

// jar has the cookies that were handed out to one session, by the rules of
// RFC 6265: by the recorded answers, or by those of one target.
type jar struct {
	bytes atomic.Int64 // that the cookies take, roughly

	mu      sync.Mutex
	cookies []cookie // in the order in which they came first
}

// cookieBytes is roughly what a cookie takes beside its texts.
const cookieBytes = 256

func (c *cookie) size() int64 {
	return cookieBytes + int64(len(c.name)+len(c.value)+len(c.domain)+len(c.path))
}

// cookie is one that was set, or taken back.
type cookie struct {
	name, value  string
	domain, path string
	hostOnly     bool // it is not for hosts below the domain
	secure       bool
	expires      time.Time // zero: with the session
	gone         bool      // it was taken back
	from         *Step     // whose recorded answer has set it; nil in the jars of targets
}

// origin is where a request goes, by which it is decided which cookies it has.
type origin struct {
	host   string // as it was recorded, in lower case and without a port
	sent   string // as the target is told, if that is another one
	path   string
	secure bool
}

// take takes the cookies that the answer to a request sets, and returns why no
// browser would have taken some, each with its name.
func (j *jar) take(headers []byte, o origin, now time.Time, from *Step) (refused []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for c := range setCookies(headers, now) {
		c.from = from
		why := ""
		switch {
		case !c.place(o):
			why = fmt.Sprintf("is for %.100s", c.domain)
		case len(c.name)+len(c.value) > maxCookie:
			why = fmt.Sprintf("has %d bytes, of which %d are taken", len(c.name)+len(c.value), maxCookie)
		}
		if why != "" {
			refused = append(refused, fmt.Sprintf("cookie %.50s of %.100s %s", c.name, o.host, why))
			c = cookie{name: c.name, gone: true}
		}
		same := slices.IndexFunc(j.cookies, func(other cookie) bool {
			return other.name == c.name && other.domain == c.domain && other.path == c.path
		})
		j.bytes.Add(c.size())
		switch {
		case same >= 0:
			j.bytes.Add(-j.cookies[same].size())
			j.cookies[same] = c
		case len(j.cookies) < maxCookies:
			j.cookies = append(j.cookies, c)
		default:
			j.bytes.Add(-j.cookies[0].size())
			j.cookies = append(slices.Delete(j.cookies, 0, 1), c)
		}
	}
	return refused
}

// place completes domain and path of a cookie, and reports whether a browser
// takes it.
func (c *cookie) place(o origin) bool {
	if !strings.HasPrefix(c.path, "/") { // the folder of what was asked for
		c.path = o.path[:max(1, strings.LastIndexByte(o.path, '/'))]
	}
	switch {
	case c.domain == "", c.domain == o.host:
		c.hostOnly = c.domain == "" || isAlone(c.domain)
		c.domain = o.host
		return true
	case c.domain == o.sent && o.sent != "":
		c.hostOnly = isAlone(c.domain)
		return true
	}
	return !isAlone(c.domain) && (isWithin(o.host, c.domain) || isWithin(o.sent, c.domain))
}

// isAlone reports whether a domain has no hosts of the same owner below it: an
// address, or one below which anybody may have a domain.
func isAlone(domain string) bool {
	if _, err := netip.ParseAddr(strings.Trim(domain, "[]")); err == nil {
		return true
	}
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}

func isWithin(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// isFor reports whether a cookie goes with a request.
func (c *cookie) isFor(o origin, now time.Time) bool {
	switch {
	case c.gone, !c.expires.IsZero() && !now.Before(c.expires), c.secure && !o.secure:
		return false
	case c.hostOnly && c.domain != o.host && c.domain != o.sent:
		return false
	case !isWithin(o.host, c.domain) && !isWithin(o.sent, c.domain):
		return false
	}
	rest, ok := strings.CutPrefix(o.path, c.path)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(c.path, "/"))
}

// of returns the cookies of a name that go with a request, the one with the
// longest path first, and whether any was ever set.
func (j *jar) of(name string, o origin, now time.Time) (sent []cookie, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.cookies {
		c := &j.cookies[i]
		if c.name != name {
			continue
		}
		known = true
		if c.isFor(o, now) {
			sent = append(sent, *c)
		}
	}
	sortByPath(sent)
	return sent, known
}

// all returns the cookies that go with a request.
func (j *jar) all(o origin, now time.Time) (sent []cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.cookies {
		if j.cookies[i].isFor(o, now) {
			sent = append(sent, j.cookies[i])
		}
	}
	sortByPath(sent)
	return sent
}

func sortByPath(cookies []cookie) {
	slices.SortStableFunc(cookies, func(a, b cookie) int { return len(b.path) - len(a.path) })
}
