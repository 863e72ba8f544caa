// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	longestInline = 200     // bytes of a body that stands in the form where there are files
	longestAlone  = 8 << 10 // where there are none
)

// Caddyfile returns the model as a site of Caddy: one simulator a route, behind
// a matcher of its method, path and key. What it cannot say is added to the notes.
func (m *Model) Caddyfile(name string, files *Files) []byte {
	w := &caddyfileWriter{model: m, name: name, files: files}
	w.header()
	w.line(0, ":8080 {")
	w.line(1, "route {")
	if slices.ContainsFunc(m.Routes, func(r *Route) bool { return bodyPattern(r.Keys) != "" }) {
		w.line(2, "request_body {")
		w.line(3, "max_size 64MiB # as bodies are read to tell requests apart")
		w.line(2, "}")
		w.text.WriteByte('\n')
	}
	for i, r := range m.Routes {
		if i > 0 {
			w.text.WriteByte('\n')
		}
		w.route(r)
	}
	w.text.WriteByte('\n')
	w.line(2, "respond \"not in the recording\" 404")
	w.line(1, "}")
	w.line(0, "}")
	return w.text.Bytes()
}

type caddyfileWriter struct {
	model *Model
	name  string
	files *Files
	text  bytes.Buffer
}

func (w *caddyfileWriter) line(depth int, format string, args ...any) {
	w.text.WriteString(strings.Repeat("\t", depth))
	fmt.Fprintf(&w.text, format, args...)
	w.text.WriteByte('\n')
}

func (w *caddyfileWriter) header() {
	m := w.model
	w.line(0, "# Learned by `caddy replay learn` from %s exchanges of %s, begun at %s.", thousands(m.Exchanges), durationText(m.Span.Round(time.Second)), m.Begin.Format(time.RFC3339))
	if m.Every > 1 {
		w.line(0, "# Shares and latencies are from every %d. of them.", m.Every)
	}
	for _, what := range m.Replaced {
		w.line(0, "# Replaced: %s", oneLine(what))
	}
	w.text.WriteByte('\n')
}

func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '{' || r == '}' {
			return '?'
		}
		return r
	}, text)
}

func (w *caddyfileWriter) route(r *Route) {
	title := r.title()
	for _, key := range r.Keys {
		if key.Place.ofBody() {
			continue // is a pattern
		}
		if !sayable(key.Place.Name) || !sayable(key.Value) {
			w.model.Notes = append(w.model.Notes, fmt.Sprintf("a Caddyfile has no words for the value of %s: %s is left out (--as wiremock has it)", key.Place, title))
			return
		}
	}
	body := bodyPattern(r.Keys)
	path, ok := pathMatcher(r.Path, body != "")
	if !ok {
		w.model.Notes = append(w.model.Notes, fmt.Sprintf("a Caddyfile has no words for a path with empty or dotted segments beside a key in the body: %s is left out (--as wiremock has it)", title))
		return
	}
	w.line(2, "# %s: %s requests", oneLine(title), thousands(r.N))
	w.line(2, "@%s {", r.Name)
	w.line(3, "method %s", quoted(r.Method))
	w.line(3, "%s", path)
	for _, key := range r.Keys {
		switch {
		case key.Place.ofBody():
		case key.Place.In == "query":
			w.line(3, "query %s", quoted(key.Place.Name+"="+key.Value))
		default:
			w.line(3, "header %s %s", quoted(key.Place.Name), quoted(key.Value))
		}
	}
	if body != "" {
		w.line(3, "vars_regexp {http.request.body} %s", quotedPattern(body))
	}
	w.line(2, "}")
	w.line(2, "simulator @%s {", r.Name)
	w.line(3, "name %s_%s", w.name, r.Name)
	if w.model.seeded {
		w.line(3, "seed 1")
	}
	if r.Body != nil {
		switch text, inline := w.inline(r.Body); {
		case inline:
			w.line(3, "body %s", text)
		case r.Body.isRandom():
			w.line(3, "random_content %s", sizeText(r.Body.Random))
		case w.files.Folder != "":
			w.line(3, "body_file %s", quoted(w.files.add(r.Body)))
		default:
			w.line(3, "random_content %db # the body cannot stand here: give -o", len(r.Body.Text))
		}
	}
	for _, line := range w.fields(r, r.Fields) {
		w.line(3, "%s", line)
	}
	for _, s := range r.Stages {
		w.stage(r, &s)
	}
	w.line(2, "}")
}

// fields returns the lines of header fields, without those that it cannot say.
func (w *caddyfileWriter) fields(r *Route, all []Field) (lines []string) {
	for _, f := range all {
		if !sayable(f.Value) {
			w.model.Notes = append(w.model.Notes, fmt.Sprintf("a Caddyfile has no words for the value of %s: it is left out of %s", f.Name, r.title()))
			continue
		}
		lines = append(lines, "header "+quoted(f.Name)+" "+quoted(f.Value))
	}
	return lines
}

func (w *caddyfileWriter) stage(r *Route, s *Stage) {
	w.line(3, "stage %s {", durationText(s.At))
	w.line(4, "# %s requests", thousands(int64(s.N)))
	for i := range s.Outcomes {
		o := &s.Outcomes[i]
		status := o.Status
		if status == 0 {
			status = 200 // of which nothing is seen
		}
		latency := ""
		if o.Latency != "0" {
			latency = " " + o.Latency
		}
		words := w.words(r, o, i == len(s.Outcomes)-1)
		count := "# n=" + thousands(int64(o.N))
		if o.Timed != o.N && o.Latency != "0" {
			count += ", latency of " + thousands(int64(o.Timed))
		}
		if len(words) == 0 {
			w.line(4, "outcome %d%s %s", status, latency, count)
			continue
		}
		w.line(4, "outcome %d%s {", status, latency)
		w.line(5, "%s", count)
		for _, word := range words {
			w.line(5, "%s", word)
		}
		w.line(4, "}")
	}
	w.line(3, "}")
}

// words returns the lines in the block of an outcome.
func (w *caddyfileWriter) words(r *Route, o *Outcome, last bool) (words []string) {
	switch {
	case o.First != "":
		words = append(words, "first "+o.First)
	case !last:
		words = append(words, "percent "+share(o.Percent))
	}
	if o.Fault != "" {
		words = append(words, "fault "+o.Fault)
	}
	words = append(words, w.fields(r, o.Fields)...)
	if o.Body != nil {
		switch text, inline := w.inline(o.Body); {
		case inline:
			words = append(words, "body "+text)
		case !o.Body.isRandom() && w.files.Folder != "":
			words = append(words, "body_file "+quoted(w.files.add(o.Body)))
		default:
			words = append(words, "body "+o.Body.hole()+" # as long as it was")
		}
	}
	return words
}

// inline returns a body as an argument, if it can stand in the Caddyfile.
func (w *caddyfileWriter) inline(c *Content) (text string, ok bool) {
	longest := longestAlone
	if w.files.Folder != "" {
		longest = longestInline
	}
	if c.isRandom() || len(c.Text) > longest || !utf8.Valid(c.Text) ||
		bytes.ContainsAny(c.Text, "`\r\x00") || bytes.Contains(c.Text, []byte("<<")) || placeholder.Match(c.Text) ||
		w.files.Folder != "" && bytes.ContainsAny(c.Text, "\n") {
		return "", false
	}
	if len(c.Text) == 0 {
		return `""`, true
	}
	return "`" + string(c.Text) + "`", true
}

// placeholder is what Caddy puts other text for when it reads a Caddyfile, within
// quotes as well: variables of the environment, and short names like {host}.
var placeholder = regexp.MustCompile(`\{\$|\{[A-Za-z][\w.\[\]:-]*\}`)

// sayable reports whether a text can be an argument that means this text.
func sayable(text string) bool {
	if strings.Contains(text, "`") && strings.Contains(text, `\`) { // quotes of one kind end at the first, those of the other escape by the second
		return false
	}
	return utf8.ValidString(text) && !placeholder.MatchString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// quoted returns an argument as a Caddyfile has it, of a text that is sayable.
func quoted(text string) string {
	if text != "" && !strings.ContainsAny(text, " \t\"`{}#\\") && !strings.HasPrefix(text, "<<") {
		return text
	}
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
}

func sizeText(s [2]int) string {
	if s[0] == s[1] {
		return strconv.Itoa(s[0]) + "b"
	}
	return fmt.Sprintf("%db..%db", s[0], s[1])
}

// share returns a percentage with up to four decimals.
func share(percent float64) string {
	return strconv.FormatFloat(math.Round(min(percent, 100)*1e4)/1e4, 'f', -1, 64)
}

// thousands returns a number with commas.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var groups []string
	for len(digits) > 3 {
		groups = append(groups, digits[len(digits)-3:])
		digits = digits[:len(digits)-3]
	}
	groups = append(groups, digits)
	slices.Reverse(groups)
	return strings.Join(groups, ",")
}
