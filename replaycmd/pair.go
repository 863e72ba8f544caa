// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/aryann/difflib"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// foundPairs are the pairs of the records that were asked for by their
// identifiers, ready to be printed.
type foundPairs struct {
	mu    sync.Mutex
	pairs [][]difflib.DiffRecord
}

const (
	mostPairs = 16      // that are printed
	mostLines = 4 << 20 // of one body times the other, for which lines are aligned
)

// Marks of lines that are no part of a response.
const heading difflib.DeltaType = -1

// add takes a pair as lines.
func (f *foundPairs) add(target string, p *tally.Pair) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.pairs) == mostPairs {
		return
	}
	lines := []difflib.DiffRecord{
		{Payload: fmt.Sprintf("%s %s  %s", p.Method, p.Target, p.ID), Delta: heading},
	}
	for _, d := range p.Diff.Differences {
		note := ""
		if p.Noise != nil && hasField(p.Noise, d.Field) {
			note = " (as between two responses of one system)"
		}
		lines = append(lines, difflib.DiffRecord{
			Payload: fmt.Sprintf("%s %s: %s → %s%s", d.Field, d.Kind, compare.Short(d.Old), compare.Short(d.New), note), Delta: heading,
		})
	}
	if len(p.Diff.Differences) == 0 {
		lines = append(lines, difflib.DiffRecord{Payload: "no difference that counts", Delta: heading})
	}
	lines = append(lines,
		difflib.DiffRecord{Payload: "-- old", Delta: difflib.LeftOnly},
		difflib.DiffRecord{Payload: "++ " + target, Delta: difflib.RightOnly})
	f.pairs = append(f.pairs, append(lines, diff(linesOf(p.Old), linesOf(p.New))...))
}

// diff aligns lines, unless they are so many that it would take long.
func diff(old, new []string) []difflib.DiffRecord {
	if len(old)*len(new) <= mostLines {
		return difflib.Diff(old, new)
	}
	lines := make([]difflib.DiffRecord, 0, len(old)+len(new))
	for _, line := range old {
		lines = append(lines, difflib.DiffRecord{Payload: line, Delta: difflib.LeftOnly})
	}
	for _, line := range new {
		lines = append(lines, difflib.DiffRecord{Payload: line, Delta: difflib.RightOnly})
	}
	return lines
}

// linesOf returns a response as lines: JSON with its members sorted and each on
// a line, what is no text by its length.
func linesOf(r *compare.Response) []string {
	lines := []string{fmt.Sprintf("status %d", r.Status)}
	if r.Error != "" {
		lines = append(lines, "error: "+r.Error)
	}
	for name, value := range recording.EachField(r.Header) {
		lines = append(lines, fmt.Sprintf("%s: %s", name, value))
	}
	lines = append(lines, "")
	body := compare.Unpacked(r, maxCompared)
	switch indented, ok := indentedJSON(body); {
	case len(body) == 0:
	case ok:
		body = indented
		fallthrough
	case isText(body):
		for line := range strings.Lines(string(body)) {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
	default:
		lines = append(lines, fmt.Sprintf("(%d bytes that are not text)", len(body)))
	}
	for name, value := range recording.EachField(r.Trailer) {
		lines = append(lines, fmt.Sprintf("%s: %s", name, value))
	}
	return lines
}

func indentedJSON(body []byte) ([]byte, bool) {
	if start := bytes.TrimSpace(body); len(start) == 0 || start[0] != '{' && start[0] != '[' {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil || d.More() {
		return nil, false
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(value)
	return out.Bytes(), err == nil
}

// Colours of a terminal.
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	bold   = "\x1b[1m"
	normal = "\x1b[0m"
)

// write writes the pairs, in colours where w is a terminal whose user has nothing
// against them.
func (f *foundPairs) write(w io.Writer) error {
	_, colours := terminalWidth(w)
	colours = colours && os.Getenv("NO_COLOR") == ""
	var out strings.Builder
	for i, lines := range f.pairs {
		if i > 0 {
			out.WriteByte('\n')
		}
		for _, line := range lines {
			writeLine(&out, line, colours)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func writeLine(out *strings.Builder, line difflib.DiffRecord, colours bool) {
	text, colour := report.Escape(line.Payload), ""
	switch line.Delta {
	case difflib.LeftOnly:
		text, colour = "-"+text, red
	case difflib.RightOnly:
		text, colour = "+"+text, green
	case heading:
		colour = bold
	case difflib.Common:
		text = " " + text
	}
	if colours && colour != "" {
		text = colour + text + normal
	}
	out.WriteString(text)
	out.WriteByte('\n')
}
