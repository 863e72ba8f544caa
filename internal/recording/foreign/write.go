// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Writer writes records in one form.
type Writer interface {
	// Write writes a record. What the form has no place for is counted in Losses.
	Write(r *recording.Request) error
	// Close ends what was written; it does not close what that went to.
	Close() error
	// Losses returns what the form had no place for.
	Losses() Losses
}

// Losses are counts of records by what was lost of them.
type Losses map[string]int64

// Each returns the losses in words, in the order of these.
func (l Losses) Each() []string {
	words := make([]string, 0, len(l))
	for _, what := range slices.Sorted(maps.Keys(l)) {
		words = append(words, fmt.Sprintf("%d %s", l[what], what))
	}
	return words
}

func (l Losses) add(lost bool, what string) {
	if lost {
		l[what]++
	}
}

// Unpack returns a body without its content coding.
type Unpack func(body, encoding []byte) ([]byte, error)

// NewHARWriter returns a Writer of HAR 1.2, in which answers are unpacked.
func NewHARWriter(w io.Writer, unpack Unpack) Writer {
	return &harWriter{w: w, unpack: unpack, losses: make(Losses)}
}

// NewGorWriter returns a Writer of GoReplay's form.
func NewGorWriter(w io.Writer) Writer { return &gorWriter{w: w, losses: make(Losses)} }

// NewJSONWriter returns a Writer of lines of JSON, which vegeta reads as targets.
func NewJSONWriter(w io.Writer) Writer { return newJSONWriter(w) }

// absolute returns the URL of a record. Without a host it is the target alone, or,
// where it has to have one, that of no one.
func absolute(r *recording.Request, hostNeeded bool, losses Losses) (url string, ok bool) {
	target := http1.OriginForm(r.URI)
	if len(target) == 0 || target[0] != '/' {
		losses.add(true, "requests are left out, whose target is none of a URL")
		return "", false
	}
	losses.add(len(target) != len(r.URI), "targets were in the form for a proxy")
	losses.add(bytes.IndexByte(target, '#') >= 0, "targets are cut at their #")
	losses.add(!utf8.Valid(target), "targets have bytes that are no text")
	scheme, host := string(r.Scheme), string(hostOf(r))
	if scheme == "" {
		scheme = "http"
	}
	if host == "" {
		if !hostNeeded {
			return string(target), true
		}
		losses.add(true, "requests have no host, and got "+noHost)
		host = noHost
	}
	return scheme + "://" + host + string(target), true
}

// noHost is a name that is nobody's.
const noHost = "host.invalid"

func hostOf(r *recording.Request) []byte {
	for name, value := range recording.EachField(r.Headers) {
		if http1.FieldOf(name) == http1.Host {
			return value
		}
	}
	return r.Host
}

// valueOf returns the value of the first field of a name.
func valueOf(lines []byte, name string) string {
	for n, value := range recording.EachField(lines) {
		if strings.EqualFold(string(n), name) {
			return string(value)
		}
	}
	return ""
}
