// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/endpoint"
)

// Bounds of what is kept of the examples of one shadow.
const (
	maxExamples = 300
	maxSeen     = 4096 // fields
	maxShown    = 8 << 10
)

// examples keep a pair for each field that differs, the same one that the tally
// names: the first, or else the first in which old′ does not differ.
type examples struct {
	mu    sync.Mutex
	seen  map[string]bool
	known map[string]*Example // by ID
}

// Example is a pair of responses as people may see it: values of fields that
// are secret are left out, and long bodies cut.
type Example struct {
	ID      string       `json:"id"`
	Request shownRequest `json:"request"`
	Old     shown        `json:"old"`
	New     shown        `json:"new"`
}

type shownRequest struct {
	Line   string `json:"line"`
	Header string `json:"header"`
	Body   string `json:"body"`
}

type shown struct {
	Status   int    `json:"status"`
	Header   string `json:"header"`
	Body     string `json:"body"`
	Trailer  string `json:"trailer,omitempty"`
	Error    string `json:"error,omitempty"`
	Duration string `json:"duration"`
}

// see keeps the pair if it is the example of a field.
func (e *examples) see(s *shared, p *tally.Pair, field string, alone bool) {
	name := endpoint.AppendName(make([]byte, 0, 128), p.Method, p.Target, p.Body)
	name = append(append(name, '\n'), field...)
	if alone {
		name = append(name, '\n')
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen[string(name)] || len(e.seen) >= maxSeen || len(e.known) >= maxExamples {
		return
	}
	if e.seen == nil {
		e.seen, e.known = make(map[string]bool), make(map[string]*Example)
	}
	e.seen[string(name)] = true
	if e.known[p.ID] == nil {
		e.known[p.ID] = s.show(p)
	}
}

func (e *examples) of(id string) *Example {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[id]
}

func (s *shared) show(p *tally.Pair) *Example {
	return &Example{
		ID: p.ID,
		Request: shownRequest{
			Line:   beginning(fmt.Sprintf("%s %s", p.Method, p.Target)),
			Header: s.redacted(p.Header),
			Body:   readable(p.Body, int64(len(p.Body))),
		},
		Old: s.shown(p.Old),
		New: s.shown(p.New),
	}
}

func (s *shared) shown(r *compare.Response) shown {
	content, size := compare.Unpacked(r, maxShown), max(r.BodySize, int64(len(r.Body)))
	return shown{
		Status: r.Status, Header: s.redacted(r.Header), Trailer: s.redacted(r.Trailer), Error: r.Error,
		Body: readable(content, size), Duration: r.Duration.String(),
	}
}

// readable returns a body as text, which ends with a note where it is not all
// there.
func readable(body []byte, size int64) string {
	part := body[:min(len(body), maxShown)]
	for i := 0; i < utf8.UTFMax && len(part) < len(body) && !utf8.Valid(part); i++ {
		part = part[:len(part)-1]
	}
	switch {
	case !utf8.Valid(part) || bytes.IndexByte(part, 0) >= 0:
		return fmt.Sprintf("(%d bytes that are not text)", size)
	case len(part) < len(body) || int64(len(body)) < size:
		return fmt.Sprintf("%s\n(the beginning of %d bytes)", part, size)
	}
	return string(part)
}

// secret are fields whose values nobody is shown.
var secret = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"}

// redacted returns the lines of a header, sorted by name, without secrets.
func (s *shared) redacted(header []byte) string {
	lines := headerLines(header)
	for i, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		hidden := func(other string) bool { return strings.EqualFold(name, other) }
		if slices.ContainsFunc(secret, hidden) || slices.ContainsFunc(s.options.Redact, hidden) {
			lines[i] = name + ": (redacted)"
		}
	}
	return beginning(strings.ToValidUTF8(strings.Join(lines, "\n"), "\uFFFD"))
}

// beginning returns a text, which ends with a note where it is long.
func beginning(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return fmt.Sprintf("%s\n(the beginning of %d bytes)", strings.ToValidUTF8(text[:maxShown], ""), len(text))
}

// headerLines returns the lines of a header, sorted by name; those of one name
// keep their order.
func headerLines(header []byte) []string {
	lines := slices.Collect(func(yield func(string) bool) {
		for line := range strings.Lines(string(header)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" && !yield(line) {
				return
			}
		}
	})
	slices.SortStableFunc(lines, func(a, b string) int {
		nameA, _, _ := strings.Cut(a, ":")
		nameB, _, _ := strings.Cut(b, ":")
		return strings.Compare(strings.ToLower(nameA), strings.ToLower(nameB))
	})
	return lines
}
