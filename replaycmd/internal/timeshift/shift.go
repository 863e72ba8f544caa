// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package timeshift moves the times that a recorded request speaks of to when it
// is sent: those near the time of its recording, and those that JSON Web Tokens
// claim.
package timeshift

import (
	"bytes"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/edit"
)

// near is how far from the time of its request a time may be to be moved.
const near = 24 * time.Hour

// Shifter moves times, and counts what it can't move.
type Shifter struct {
	Key *Key // signs tokens; nil: they stay as they are

	unsigned atomic.Int64
	mu       sync.Mutex
	first    error
}

// Unsigned returns how many tokens stayed as they are, and why the first did.
func (s *Shifter) Unsigned() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsigned.Load(), s.first
}

// Shift moves the times of a request that was recorded at a time to another. A
// time or token within one of the values to keep stays as it is.
func (s *Shifter) Shift(d *edit.Draft, recorded, now time.Time, keep []string) {
	m := &move{Shifter: s, recorded: recorded, by: now.Sub(recorded), keep: keep}
	path, query, found := bytes.Cut(d.Target(), []byte("?"))
	if tokens, moved := m.tokens(path), m.escaped(m.tokens(query)); !bytes.Equal(tokens, path) || !bytes.Equal(moved, query) {
		target := bytes.Clone(tokens)
		if found {
			target = append(append(target, '?'), moved...)
		}
		d.SetTarget(target)
	}
	fields := make(map[string][]byte) // signing is not the same twice
	d.Fields(func(_, value []byte) ([]byte, bool) {
		moved, known := fields[string(value)]
		if !known {
			moved = m.text(m.tokens(value))
			fields[string(value)] = moved
		}
		return moved, true
	})
	body := d.Body()
	moved := body
	switch kind := d.Kind(); {
	case kind == "application/x-www-form-urlencoded":
		moved = m.escaped(m.tokens(body))
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "json"), strings.HasSuffix(kind, "xml"):
		moved = m.text(m.tokens(body))
	}
	if !bytes.Equal(moved, body) {
		d.SetBody(moved)
	}
}

// move is how the times of one request are moved.
type move struct {
	*Shifter
	recorded time.Time
	by       time.Duration
	keep     []string
}

// kept reports whether a text is part of what stays as it is.
func (m *move) kept(text []byte) bool {
	for _, value := range m.keep {
		if strings.Contains(value, string(text)) {
			return true
		}
	}
	return false
}

// near reports whether a time is near that of the record.
func (m *move) near(t time.Time) bool { return t.Sub(m.recorded).Abs() <= near }

// escaped moves times in a query or a form.
func (m *move) escaped(all []byte) []byte {
	pairs := bytes.Split(all, []byte("&"))
	for i, pair := range pairs {
		if moved := m.text(pair); !bytes.Equal(moved, pair) || bytes.IndexByte(pair, '%') < 0 {
			pairs[i] = moved
			continue
		}
		name, value, _ := bytes.Cut(pair, []byte("="))
		said, err := url.QueryUnescape(string(value))
		if err != nil {
			continue
		}
		if moved := m.text([]byte(said)); string(moved) != said {
			pairs[i] = append(append(bytes.Clone(name), '='), url.QueryEscape(string(moved))...)
		}
	}
	return bytes.Join(pairs, []byte("&"))
}
