// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A row of a table is a mapping with requests to it. What WireMock answers to
// them stands in testdata/jar/<table>.answers.json; where we answer otherwise on
// purpose, the answers and the reason stand in testdata/jar/differences.json.
type row struct {
	name     string
	mapping  string
	requests []exchange
}

// answers are those to the requests of a row: `refused` for a mapping that is not
// taken, `unmatched`, or the status with the body and what is said of the header.
type answers struct {
	Row     string   `json:"row"`
	Answers []string `json:"answers"`
	Why     string   `json:"why,omitempty"`
}

const (
	refused = "refused"
	fails   = "fails" // WireMock, with 500 and the name of a class of Java
)

// tables are the tables by name, each with how its rows are read.
var tables = map[string]func(t *testing.T) []row{
	"jsonpath":  jsonPathRows,
	"matchers":  matcherRows,
	"templates": templateRows,
}

// jsonPathRows makes a row of each expression: one mapping asks whether it
// matches, and what it leads to is in the body of the answer.
func jsonPathRows(t *testing.T) (rows []row) {
	var table []struct {
		Document    json.RawMessage
		Expressions []string
	}
	readLines(t, "testdata/jar/jsonpath.json", &table)
	for i, part := range table {
		for j, expression := range part.Expressions {
			url := fmt.Sprintf("/jsonpath/%d/%d", i, j)
			rows = append(rows,
				row{fmt.Sprintf("%s matches document %d", expression, i), marshal(t, map[string]any{
					"request":  map[string]any{"url": url + "/match", "bodyPatterns": []any{map[string]any{"matchesJsonPath": expression}}},
					"response": map[string]any{"body": "matches"},
				}), []exchange{{Method: "POST", Target: url + "/match", Body: string(part.Document)}}},
				row{fmt.Sprintf("%s of document %d", expression, i), marshal(t, map[string]any{
					"request": map[string]any{"url": url + "/get"},
					"response": map[string]any{
						"body": "{{jsonPath request.body parameters.path default='none'}}", "transformers": []string{"response-template"},
						"transformerParameters": map[string]any{"path": expression},
					},
				}), []exchange{{Method: "POST", Target: url + "/get", Body: string(part.Document)}}})
		}
	}
	return rows
}

// matcherRows makes a row of each condition on the body, or on the whole
// request, with the bodies or requests that are tried.
func matcherRows(t *testing.T) (rows []row) {
	var table []struct {
		Name     string
		Body     json.RawMessage // a pattern for the body
		Request  map[string]any  // or conditions on the request
		Header   json.RawMessage // or a pattern for X-Value
		Bodies   []string
		Values   []string
		Requests []exchange
	}
	readLines(t, "testdata/jar/matchers.json", &table)
	for i, part := range table {
		url := fmt.Sprintf("/matchers/%d", i)
		request := map[string]any{"urlPath": url}
		maps.Copy(request, part.Request)
		name := part.Name
		if part.Body != nil {
			request["bodyPatterns"] = []any{part.Body}
			name = string(compact(part.Body))
		}
		if part.Header != nil {
			request["headers"] = map[string]any{"X-Value": part.Header}
			name = string(compact(part.Header))
		}
		r := row{name: name, mapping: marshal(t, map[string]any{"request": request, "response": map[string]any{"body": "matches"}})}
		for _, body := range part.Bodies {
			r.requests = append(r.requests, exchange{Method: "POST", Target: url, Body: body})
		}
		for _, value := range part.Values {
			r.requests = append(r.requests, exchange{Method: "POST", Target: url, Headers: [][2]string{{"X-Value", value}}})
		}
		for _, e := range part.Requests {
			e.Method = "POST"
			e.Target = url + e.Target
			r.requests = append(r.requests, e)
		}
		rows = append(rows, r)
	}
	return rows
}

// templateRows makes a row of each template, rendered for one request.
func templateRows(t *testing.T) (rows []row) {
	var table struct {
		Request    exchange
		Parameters map[string]any
		Templates  []string
		Requests   []struct {
			Request   exchange
			Mapping   map[string]any
			Templates []string
		}
	}
	readLines(t, "testdata/jar/templates.json", &table)
	add := func(template string, e exchange, more map[string]any) {
		path := fmt.Sprintf("/templates/%d", len(rows))
		e.Target = path + e.Target
		request := map[string]any{"urlPathPattern": path + "(/.*)?"}
		for name, condition := range more {
			if text, ok := condition.(string); ok && name == "urlPathTemplate" {
				delete(request, "urlPathPattern")
				condition = path + text
			}
			request[name] = condition
		}
		rows = append(rows, row{template, marshal(t, map[string]any{
			"request":  request,
			"response": map[string]any{"body": template, "transformers": []string{"response-template"}, "transformerParameters": table.Parameters},
		}), []exchange{e}})
	}
	for _, template := range table.Templates {
		add(template, table.Request, nil)
	}
	for _, part := range table.Requests {
		for _, template := range part.Templates {
			add(template, part.Request, part.Mapping)
		}
	}
	return rows
}

func marshal(t *testing.T, value any) string {
	t.Helper()
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestTables holds that we answer as WireMock did, or as we mean to.
func TestTables(t *testing.T) {
	var differences map[string][]answers
	readLines(t, "testdata/jar/differences.json", &differences)
	for name, rowsOf := range tables {
		t.Run(name, func(t *testing.T) {
			rows := rowsOf(t)
			var known []answers
			readLines(t, "testdata/jar/"+name+".answers.json", &known)
			if len(known) != len(rows) {
				t.Fatalf("%d rows, %d answers", len(rows), len(known))
			}
			meant := make(map[string]answers)
			for _, d := range differences[name] {
				meant[d.Row] = d
			}
			same, refusals := 0, 0
			for i, r := range rows {
				got, want := r.ours(t), known[i].Answers
				if known[i].Row != r.name {
					t.Fatalf("row %d is %s, the answers are of %s", i, r.name, known[i].Row)
				}
				equal := sameAnswers(got, want)
				if d, ok := meant[r.name]; ok {
					if equal || d.Why == "" {
						t.Errorf("%s: is no difference: %q", r.name, got)
					}
					want, equal = d.Answers, slices.Equal(got, d.Answers)
				} else if equal {
					same++
				} else if got[0] == refused && strings.HasPrefix(want[0], "200 [ERROR: ") {
					refusals, equal = refusals+1, true // when it is loaded, not in every answer
				}
				if !equal {
					t.Errorf("%s\ngot  %q\nwant %q", r.name, got, want)
				}
			}
			t.Logf("%d of %d rows are answered as WireMock does; %d are refused where it writes an error into every answer", same, len(rows), refusals)
		})
	}
}

func sameAnswers(got, want []string) bool {
	return slices.EqualFunc(got, want, func(got, want string) bool { return got == want || want == fails && isFault(got) })
}

// isFault reports whether an answer is one of ours where WireMock fails.
func isFault(got string) bool {
	return got == "unmatched" || got == refused || strings.Contains(got, "[ERROR: ")
}

// ours returns what we answer.
func (r row) ours(t *testing.T) (got []string) {
	t.Helper()
	mappings, err := Parse([]byte(r.mapping), "table", "testdata/jar")
	if err != nil {
		return []string{refused}
	}
	set := NewSet(mappings)
	for _, e := range r.requests {
		e = e.decoded(t)
		request := newRequest(e)
		request.ClientIP = "127.0.0.1"
		m, err := set.Match(request)
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		if m == nil {
			got = append(got, "unmatched")
			continue
		}
		a, err := m.Respond(request)
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, fmt.Sprintf("%d %s", a.Status, a.Body))
	}
	return got
}

// decoded returns an exchange whose body, if it is given in base64, is plain.
func (e exchange) decoded(t *testing.T) exchange {
	t.Helper()
	if e.Base64 != "" {
		body, err := base64.StdEncoding.DecodeString(e.Base64)
		if err != nil {
			t.Fatal(err)
		}
		e.Body = string(body)
	}
	return e
}
