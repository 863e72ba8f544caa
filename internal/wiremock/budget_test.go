// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// The race detector allocates for itself, and takes minutes for what one
// goroutine computes here.
//go:build !race

package wiremock

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// costly are mappings that make much of a request, by name.
var costly = map[string]string{
	"place":      `{"request":{"bodyPatterns":[{"matchesJsonPath":{"expression":"$..chore","contains":"wash"}}]}}`,
	"descents":   `{"request":{"bodyPatterns":[{"matchesJsonPath":"$..chore..chore..none"}]}}`,
	"filter":     `{"request":{"bodyPatterns":[{"matchesJsonPath":"$..[?(@..chore == @..b)]"}]}}`,
	"inner":      `{"request":{"bodyPatterns":[{"matchesJsonPath":{"expression":"$..*","matchesJsonPath":"$..b"}}]}}`,
	"sets":       `{"request":{"bodyPatterns":[{"equalToJson":[[["x","y"],["z"]],[["y","x"],["z"]],[["z"],["x","w"]]],"ignoreArrayOrder":true,"ignoreExtraElements":true}]}}`,
	"xpath":      `{"request":{"bodyPatterns":[{"matchesXPath":"//*[count(//*[.='x']) > count(//b)]"}]}}`,
	"nodes":      `{"request":{"bodyPatterns":[{"matchesXPath":{"expression":"//*","contains":"never there"}}]}}`,
	"xml":        `{"request":{"bodyPatterns":[{"equalToXml":"<a><b><b><b>${xmlunit.ignore}</b></b></b><c/></a>","enablePlaceholders":true,"ignoreOrderOfSameNode":true,"exemptedComparisons":["CHILD_NODELIST_LENGTH","CHILD_LOOKUP"]}]}}`,
	"schema":     `{"request":{"bodyPatterns":[{"matchesJsonSchema":{"anyOf":[{"properties":{"chore":{"$ref":"#"}},"required":["none"]},{"properties":{"chore":{"$ref":"#"}},"items":{"$ref":"#"},"required":["nothing"]}]}}]}}`,
	"unique":     `{"request":{"bodyPatterns":[{"matchesJsonSchema":{"type":"array","uniqueItems":true}}]}}`,
	"parts":      `{"request":{"multipartPatterns":[{"bodyPatterns":[{"matchesJsonPath":"$..a..b"}],"headers":{"X":{"matches":"(a+)+"}}}]}}`,
	"lookahead":  `{"request":{"bodyPatterns":[{"matches":"(?=\\[)(\\[+)+x"}]}}`,
	"form":       `{"request":{"formParameters":{"a":{"absent":true}}}}`,
	"query":      `{"request":{"queryParameters":{"b":{"absent":true}}},"response":{"body":"{{#each (jsonPath request.body '$..*')}}{{request.query.a}}{{/each}}","transformers":["response-template"]}}`,
	"everything": `{"response":{"body":"{{jsonPath request.body '$..chore'}}{{jsonPath request.body '$..*'}}","transformers":["response-template"]}}`,
	"loops":      `{"response":{"body":"{{#each (jsonPath request.body '$..*')}}{{#each (jsonPath request.body '$..*')}}x{{/each}}{{/each}}","transformers":["response-template"]}}`,
	"replace":    `{"response":{"body":"{{replace request.body '' request.body}}","transformers":["response-template"]}}`,
	"nothing":    `{"response":{"body":"{{#each (jsonPath request.body '$..*')}}{{#trim}}{{base64 request.body}}{{/trim}}{{/each}}","transformers":["response-template"]}}`,
	"join":       `{"response":{"headers":{"X":"{{join (jsonPath request.body '$..*') request.body}}"},"transformers":["response-template"]}}`,
	"doubled":    `{"response":{"body":"{{val request.body assign='v'}}` + strings.Repeat(`{{#assign 'v'}}{{v}}{{v}}{{/assign}}`, 40) + `{{v}}","transformers":["response-template"]}}`,
	"lists":      `{"response":{"body":"{{#each (range 1 100000)}}{{#each (range 1 100000)}}{{/each}}{{/each}}","transformers":["response-template"]}}`,
	"texts":      `{"response":{"body":"{{#each (xPath request.body '//*') as |n|}}{{#if n.text}}{{size n.text}}{{n.attributes.none}}{{/if}}{{n.text}}{{/each}}","transformers":["response-template"]}}`,
	"merged":     `{"response":{"body":"{{#each (jsonPath request.body '$..*')}}{{jsonRemove request.body '$..chore'}}{{toJson (parseJson request.body)}}{{/each}}","transformers":["response-template"]}}`,
	"formed":     `{"response":{"body":"{{#each (jsonPath request.body '$..*')}}{{#each request.formParameters}}{{/each}}{{lookup request.query 'a.1'}}{{request.pathSegments}}{{/each}}","transformers":["response-template"]}}`,
	"extracted":  `{"response":{"body":"{{regexExtract request.body '(.)' 'm'}}{{size m}}{{regexExtract request.body request.query.a}}","transformers":["response-template"]}}`,
	"padded":     `{"response":{"body":"{{#each (range 1 1000)}}{{center request.body size=1000000 pad=request.body}}{{stringFormat '%9999s%9999d' request.body 1}}{{/each}}","transformers":["response-template"]}}`,
	"random":     `{"response":{"body":"{{#each (jsonPath request.body '$..*')}}{{#if (randomValue length=1000000)}}{{/if}}{{/each}}","transformers":["response-template"]}}`,
}

// hostileBodies are such as blow up what looks at them.
var hostileBodies = map[string]string{
	"deep and long":   strings.Repeat(`{"chore":`, 950) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("}", 950),
	"deep":            strings.Repeat(`{"chore":[`, 490) + strings.Repeat(`{"b":1},`, 10_000) + "1" + strings.Repeat("]}", 490),
	"wide":            "[" + strings.Repeat(`[["x","y"],["x"]],`, 10_000) + "1]",
	"brackets":        strings.Repeat("[", 5_000),
	"ampersands":      strings.Repeat("&a", 1<<20),
	"only ampersands": strings.Repeat("&", 4<<20),
	"elements":        "<a>" + strings.Repeat("<b>x</b>", 50_000) + "</a>",
	"deep elements":   "<a>" + strings.Repeat("<b>", 990) + "x" + strings.Repeat("</b>", 990) + strings.Repeat("<c/>", 20_000) + "</a>",
	"attributes":      "<a " + strings.Repeat(`x="" `, 50_000) + "/>",
	"entities":        `<!DOCTYPE a [<!ENTITY a "` + strings.Repeat("x", 1000) + `"><!ENTITY b "` + strings.Repeat("&a;", 1000) + `">]><a>&b;</a>`,
	"empty members":   "[" + strings.Repeat("{},", 1<<16) + "1]",
}

// TestWhatMappingsMayCost holds that the memory that a request takes, all that
// was ever allocated for it, is bounded by its size.
func TestWhatMappingsMayCost(t *testing.T) {
	for name, mapping := range costly {
		set := parse(t, mapping)
		for kind, body := range hostileBodies {
			r := newRequest(exchange{
				Method: "POST", Target: "/?" + strings.Repeat("a=b&", 5000), Body: body,
				Headers: [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}},
			})
			spent := measure(r, set)
			if limit := uint64(128<<20 + 100*len(body)); spent.allocated > limit {
				t.Errorf("%s of %s: %d bytes were allocated for %d", name, kind, spent.allocated, len(body))
			}
			if most := len(mapping) + 4<<20 + 16*len(body) + 100_000; spent.sent > most {
				t.Errorf("%s of %s: %d bytes are sent for %d", name, kind, spent.sent, len(body))
			}
			if spent.err != nil && (!errors.Is(spent.err, ErrTooMuch) || !strings.Contains(spent.err.Error(), "mapping 'any URL'")) {
				t.Errorf("%s of %s: %v", name, kind, spent.err)
			}
		}
	}
}

type cost struct {
	allocated uint64
	sent      int
	err       error
}

func measure(r *Request, set *Set) (c cost) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := set.Match(r)
	c.err = err
	if m != nil {
		response, err := m.Respond(r)
		if c.err = err; err != nil {
			response = new(Response)
		}
		c.sent = len(response.Body)
		for _, field := range response.Header {
			c.sent += len(field.Value)
		}
	}
	runtime.ReadMemStats(&after)
	c.allocated = after.TotalAlloc - before.TotalAlloc
	return c
}

// TestTooMuchIsSaid holds which requests are refused, and that ordinary large
// ones are not.
func TestTooMuchIsSaid(t *testing.T) {
	many := func(n int, element string) string { return "[" + strings.Repeat(element+",", n) + element + "]" }
	var shuffled []string
	for i := range 1000 {
		shuffled = append(shuffled, fmt.Sprintf(`{"id":%d,"name":"item %d","tags":["a","b"]}`, i*7%1000, i*7%1000))
	}
	var ordered []string
	for i := range 1000 {
		ordered = append(ordered, fmt.Sprintf(`{"id":%d,"name":"item %d","tags":["b","a"]}`, i, i))
	}
	for name, tc := range map[string]struct {
		mapping, body string
		tooMuch       bool
		matches       bool
	}{
		"first place":     {costly["place"], `{"a":1,"chore":"wash"}`, false, true},
		"many places":     {costly["place"], many(50_000, `{"chore":"iron"}`), false, false},
		"descents":        {costly["descents"], hostileBodies["deep"], true, false},
		"1000 in a set":   {`{"request":{"bodyPatterns":[{"equalToJson":[` + strings.Join(ordered, ",") + `],"ignoreArrayOrder":true}]}}`, "[" + strings.Join(shuffled, ",") + "]", false, true},
		"large text":      {`{"response":{"body":"{{request.body}}{{upper request.body}}","transformers":["response-template"]}}`, strings.Repeat("x", 10<<20), false, true},
		"a table":         {`{"response":{"body":"{{#each (jsonPath request.body '$[*]')}}<tr><td>{{this.a}}</td><td>{{this.b}}</td></tr>{{/each}}","transformers":["response-template"]}}`, many(20_000, `{"a":1,"b":"two"}`), false, true},
		"all, many times": {costly["loops"], many(5_000, `1`), true, true},
		"parameters":      {costly["form"], hostileBodies["ampersands"], true, false},
	} {
		r := newRequest(exchange{Method: "POST", Target: "/", Body: tc.body, Headers: [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}}})
		m, err := parse(t, tc.mapping).Match(r)
		if m != nil {
			_, err = m.Respond(r)
		}
		if errors.Is(err, ErrTooMuch) != tc.tooMuch || (m != nil) != tc.matches {
			t.Errorf("%s: %v, %v", name, m != nil, err)
		}
	}
}

// FuzzBudget holds that no body costs more than its size allows, whatever looks
// at it.
func FuzzBudget(f *testing.F) {
	var sets []*Set
	for _, mapping := range costly {
		mappings, err := Parse([]byte(mapping), "stubs.json", "testdata")
		if err != nil {
			f.Fatal(err)
		}
		sets = append(sets, NewSet(mappings))
	}
	for _, body := range []string{
		`{"chore":{"chore":{"chore":[{"b":1},{"b":"wash"}]}}}`, `[[["x","y"],["z"]],[["x"]]]`, "a=b&&a=c", `[1,[2,[3,[4]]],{"chore":[[]]}]`, "[[[[x",
	} {
		f.Add(body, "a=1&b=2")
	}
	f.Fuzz(func(t *testing.T, body, query string) {
		for _, set := range sets {
			r := newRequest(exchange{Method: "POST", Target: "/?" + query, Body: body, Headers: [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}}})
			spent := measure(r, set)
			if spent.err != nil && !errors.Is(spent.err, ErrTooMuch) {
				t.Fatal(spent.err)
			}
			if spent.allocated > uint64(128<<20+100*len(body)) || spent.sent > 5<<20+16*(len(body)+len(query)) {
				t.Fatalf("%d bytes were allocated and %d are sent for %d", spent.allocated, spent.sent, len(body))
			}
		}
	})
}
