// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type recipeJSON struct {
	Route         string      `json:"route"`
	Body          *string     `json:"body,omitempty"`
	BodyFile      string      `json:"body_file,omitempty"`
	RandomContent string      `json:"random_content,omitempty"`
	Headers       headerJSON  `json:"headers,omitempty"`
	Stages        []stageJSON `json:"stages"`
}

type stageJSON struct {
	At       string        `json:"at"`
	Outcomes []outcomeJSON `json:"outcomes"`
}

type outcomeJSON struct {
	Percent json.Number `json:"percent,omitempty"`
	First   string      `json:"first,omitempty"`
	Status  int         `json:"status"`
	Latency string      `json:"latency,omitempty"`
	Fault   string      `json:"fault,omitempty"`
	Headers headerJSON  `json:"headers,omitempty"`
	Body    *string     `json:"body,omitempty"`
	File    string      `json:"body_file,omitempty"`
}

type headerJSON map[string][]string

func headersOf(fields []Field) headerJSON {
	if len(fields) == 0 {
		return nil
	}
	h := make(headerJSON)
	for _, f := range fields {
		h[f.Name] = append(h[f.Name], f.Value)
	}
	return h
}

// Recipe returns the model as recipes in JSON. A recipe knows paths and what
// they begin with, and no method: of routes that are one to it, the one with the
// most requests is written, and the others are added to the notes.
func (m *Model) Recipe(files *Files) []byte {
	byPattern := make(map[string]*Route)
	for _, r := range m.Routes {
		pattern := recipePattern(r.Path)
		if other := byPattern[pattern]; other == nil || other.N < r.N {
			byPattern[pattern] = r
		}
	}
	list := []recipeJSON{}
	for _, r := range m.Routes {
		pattern := recipePattern(r.Path)
		if byPattern[pattern] != r {
			m.Notes = append(m.Notes, fmt.Sprintf("a recipe has neither method nor key nor parameters within a path: %s is left out, since %s stands for %s", r.title(), byPattern[pattern].title(), pattern))
			continue
		}
		if !isRoute(pattern) {
			m.Notes = append(m.Notes, fmt.Sprintf("the route of a recipe is a path of text without control characters: %s is left out", r.title()))
			continue
		}
		list = append(list, r.recipe(pattern, files))
	}
	return indented(list)
}

func indented(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "\t")
	_ = encoder.Encode(value) // of plain values
	return out.Bytes()
}

func (r *Route) title() string {
	parts := append(make([]string, 0, 1+len(r.Keys)), r.Method+" "+r.Path)
	for _, key := range r.Keys {
		parts = append(parts, fmt.Sprintf("%s=%s", key.Place, key.Value))
	}
	return strings.Join(parts, ", ")
}

// recipePattern returns the route of a recipe that a template comes closest to,
// which is compared with paths without their escapes.
func recipePattern(template string) string {
	pattern, _, many := strings.Cut(unescaped(template), "*")
	if many {
		pattern += "*"
	}
	return pattern
}

// isRoute reports whether a recipe may have this pattern.
func isRoute(pattern string) bool {
	return strings.HasPrefix(pattern, "/") && utf8.ValidString(pattern) && !strings.ContainsFunc(pattern, func(c rune) bool {
		return unicode.IsControl(c) || c == '\u2028' || c == '\u2029'
	})
}

func (r *Route) recipe(pattern string, files *Files) recipeJSON {
	recipe := recipeJSON{Route: pattern, Headers: headersOf(r.Fields)}
	switch b := r.Body; {
	case b == nil:
	case b.isRandom():
		recipe.RandomContent = sizeText(b.Random)
	case b.standsInJSON(files):
		recipe.Body = new(string(b.Text))
	case files.Folder != "":
		recipe.BodyFile = files.add(b)
	default:
		recipe.RandomContent = strconv.Itoa(len(b.Text)) + "b"
	}
	for _, s := range r.Stages {
		stage := stageJSON{At: durationText(s.At)}
		for i := range s.Outcomes {
			o := &s.Outcomes[i]
			outcome := outcomeJSON{Status: o.Status, Fault: o.Fault, First: o.First, Headers: headersOf(o.Fields), Latency: o.Latency}
			if outcome.Status == 0 {
				outcome.Status = 200
			}
			if o.Latency == "0" {
				outcome.Latency = ""
			}
			if o.First == "" && i < len(s.Outcomes)-1 {
				outcome.Percent = json.Number(share(o.Percent))
			}
			switch b := o.Body; {
			case b == nil:
			case !b.isRandom() && b.standsInJSON(files):
				outcome.Body = new(string(b.Text))
			case !b.isRandom() && files.Folder != "":
				outcome.File = files.add(b)
			default:
				outcome.Body = new(b.hole())
			}
			stage.Outcomes = append(stage.Outcomes, outcome)
		}
		recipe.Stages = append(recipe.Stages, stage)
	}
	return recipe
}

// standsInJSON reports whether a text can be the body of a recipe, or should be
// as there is no file for it.
func (c *Content) standsInJSON(files *Files) bool {
	return utf8.Valid(c.Text) && !bytes.Contains(c.Text, []byte("<<")) && (files.Folder == "" || len(c.Text) <= longestInline)
}

type mappingJSON struct {
	Name     string       `json:"name"`
	Priority int          `json:"priority"`
	Request  requestJSON  `json:"request"`
	Response responseJSON `json:"response"`
}

type requestJSON struct {
	Method          string                       `json:"method"`
	URLPath         string                       `json:"urlPath,omitempty"`
	URLPathPattern  string                       `json:"urlPathPattern,omitempty"`
	QueryParameters map[string]map[string]string `json:"queryParameters,omitempty"`
	Headers         map[string]map[string]string `json:"headers,omitempty"`
	BodyPatterns    []map[string]any             `json:"bodyPatterns,omitempty"`
}

type responseJSON struct {
	Status  int        `json:"status"`
	Headers headerJSON `json:"headers,omitempty"`
	Body    string     `json:"body,omitempty"`
	File    string     `json:"bodyFileName,omitempty"`
	Fault   string     `json:"fault,omitempty"`
	Delay   any        `json:"delayDistribution,omitempty"`
}

// WireMock returns the model as stub mappings. A mapping has one response, so
// that the most frequent one is written, and the others are added to the notes.
func (m *Model) WireMock(files *Files) []byte {
	list := make([]mappingJSON, 0, len(m.Routes))
	for _, r := range m.Routes {
		list = append(list, m.mapping(r, files))
	}
	return indented(map[string]any{"mappings": list})
}

func (m *Model) mapping(r *Route, files *Files) mappingJSON {
	out := mappingJSON{Name: r.title(), Priority: 5 + strings.Count(r.Path, "*"), Request: requestJSON{Method: r.Method}}
	if len(r.Keys) > 0 {
		out.Priority = 1
	}
	if strings.Contains(r.Path, "*") {
		asSent := func(segment string) string { return segment }
		out.Request.URLPathPattern = strings.Trim(quotedPattern(pathPattern(r.Path, asSent)), "`")
	} else {
		out.Request.URLPath = r.Path
	}
	for _, key := range r.Keys {
		equal := map[string]string{"equalTo": key.Value}
		switch key.Place.In {
		case "query":
			out.Request.QueryParameters = map[string]map[string]string{key.Place.Name: equal}
		case "header":
			out.Request.Headers = map[string]map[string]string{key.Place.Name: equal}
		case "body":
			out.Request.BodyPatterns = append(out.Request.BodyPatterns, map[string]any{
				"matchesJsonPath": map[string]string{"expression": "$['" + key.Place.Name + "']", "equalTo": key.Value},
			})
		default:
			out.Request.BodyPatterns = append(out.Request.BodyPatterns, map[string]any{"contains": key.Place.Name + "=" + key.Value})
		}
	}
	most, all, outcomes := 0, 0, 0
	var best *Outcome
	for i := range r.Stages {
		for j := range r.Stages[i].Outcomes {
			o := &r.Stages[i].Outcomes[j]
			all, outcomes = all+o.N, outcomes+1
			if o.N > most {
				best, most = o, o.N
			}
		}
	}
	if outcomes > 1 {
		m.Notes = append(m.Notes, fmt.Sprintf("a mapping has one response: of %s the %d with status %d are written, and neither the other %d nor when they came", r.title(), most, best.Status, all-most))
	}
	out.Response = responseJSON{Status: max(best.Status, 200), Headers: headersOf(slices.Concat(r.Fields, best.Fields))}
	switch fault, _, _ := strings.Cut(best.Fault, " "); fault {
	case "reset":
		out.Response.Fault = "CONNECTION_RESET_BY_PEER"
	case "empty", "hang":
		out.Response.Fault = "EMPTY_RESPONSE"
	}
	b := best.Body
	if b == nil {
		b = r.Body
	}
	switch {
	case b == nil || out.Response.Fault != "":
	case b.isRandom():
		m.Notes = append(m.Notes, "a mapping has no random text: the body of "+r.title()+" is left out")
	case files.Folder != "" && len(b.Text) > longestInline:
		out.Response.File = strings.TrimPrefix(strings.TrimPrefix(files.add(b), files.Folder), "/")
	default:
		out.Response.Body = string(b.Text)
	}
	if median, sigma, ok := lognormalOf(best.Latency); ok {
		out.Response.Delay = map[string]any{"type": "lognormal", "median": median, "sigma": sigma}
	}
	return out
}
