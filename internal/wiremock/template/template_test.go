// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// request is a request for templates: a JSON body and one of everything.
type request struct{ source rand.Source }

const body = `{"name":"Jo","list":[1,2],"none":[],"object":{"b":1,"a":[{"x":null},{}],"c":"<\u00e9>"}}`

func (request) Method() string                   { return "POST" }
func (request) URL() string                      { return "/a/b?q=1&q=2" }
func (request) Path() string                     { return "/a/b" }
func (request) Scheme() string                   { return "https" }
func (request) Host() string                     { return "[::1]:8443" }
func (request) ClientIP() string                 { return "192.0.2.1" }
func (request) Query(name string) []string       { return map[string][]string{"q": {"1", "2"}}[name] }
func (request) Header(name string) []string      { return map[string][]string{"X-A": {"a"}}[name] }
func (request) Cookie(name string) []string      { return map[string][]string{"c": {"d"}}[name] }
func (request) Form(string) []string             { return nil }
func (request) Raw() string                      { return body }
func (request) All(string) *eval.Object          { return new(eval.Object) }
func (request) Parts() *eval.Object              { return nil }
func (request) Part(string) (*eval.Object, bool) { return nil, false }
func (request) PathParameter(string) string      { return "parameter" }
func (request) Body() string                     { return body }
func (request) JSON() (any, bool)                { return eval.ParseJSON(body) }
func (r request) First(kind, name string) string {
	values := requestLists[kind](r, name)
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func (r request) Random() rand.Source { return r.source }
func (request) Budget() *eval.Budget  { b := eval.NewBudget(len(body)); return &b }

var parameters = &eval.Object{Members: []eval.Member{{Name: "word", Value: "w"}}}

func renderText(t *testing.T, text string) string {
	t.Helper()
	compiled, err := Parse(text, parameters)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(compiled.Append([]byte("before "), request{rand.NewPCG(1, 2)}))[len("before "):]
}

func TestRender(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"plain } text { here", "plain } text { here"},
		{"{{request.host}} {{request.port}} {{request.baseUrl}} {{request.clientIp}}", "::1 8443 https://[::1]:8443 192.0.2.1"},
		{"{{!}}a  {{~request.method~}}  b{{!}}", "aPOSTb"},
		{"a  {{~request.method~}}  b", "a  POST  b"},
		{"a {{!-- {{x}} --}}b{{~!-- c --~}} d{{!}}", "a bd"},
		{"{{#each (jsonPath request.body '$.list') as |n|}}{{n}}{{#with request.query.q}}{{n}}{{/with}}{{/each}}", "1122"},
		{"{{#each (jsonPath request.body '$.list')}}{{#each (jsonPath request.body '$.list')}}{{../this}}{{this}} {{/each}}{{/each}}", "11 12 21 22 "},
		{"{{#each (jsonPath request.body '$.none')}}x{{else}}none{{/each}}", "none"},
		{"{{#each (jsonPath request.body '$.object')}}{{@key}} {{/each}}", "b a c "},
		{"{{#each (array 'a' 'b')}}{{#each (array 'x')}}{{@../index}}{{@../first}}{{@../../index}} {{/each}}{{/each}}", "0first 1 "},
		{`{{upper 'a\'b'}}{{upper "c\"d"}}{{upper 'e\\f\g'}}{{upper "h\'"}}{{upper 'i\"'}}`, `A'BC"DE\\F\GH\'I\"`},
		{`{{date (parseDate '2020-02-29T10:00:00+02:00') format='yyyy-MM-dd\'T\'HH:mm z'}}`, "2020-02-29T10:00 GMT+02:00"},
		{`{{jsonPath '[{"n":"x"}]' '$[?(@.n == \'x\')].n'}}{{lower 'A\'}}`, `["x"]a`},
		{"{{#with parameters.none}}x{{else}}y{{/with}}", "y"},
		{"{{#if (gt (size request.query.q) 1)}}many{{else if true}}one{{else}}x{{/if}}", "many"},
		{"{{#unless parameters.word}}a{{else}}b{{/unless}}", "b"},
		{"{{#contains 'teapot' 'cup'}}a{{else}}b{{/contains}}{{#matches '12' '[0-9]+'}}c{{/matches}}", "bc"},
		{"{{#eq 1 2}}a{{else if (eq 'x' 'x')}}b{{/eq}}", "b"},
		{"{{jsonPath request.body '$.object'}}", "{\n  \"b\" : 1,\n  \"a\" : [ { }, { } ],\n  \"c\" : \"<é>\"\n}"},
		{"{{jsonPath request.body '$.object.a'}}", `[{"x":null},{}]`},
		{"{{jsonPath request.body '$.none'}} {{jsonPath parameters.word '$.x' default='d'}} {{jsonPath parameters.none '$.x' default='d'}}", "[] d "},
		{"{{math 1 '/' 0}} {{substring 'abc' 2 9}} {{base64 '#' decode=true}}", "[ERROR: division by zero] [ERROR: substring is out of the text's bounds] [ERROR: # is not base64]"},
		{"{{randomInt lower=5 upper=5}} {{randomDecimal lower=2 upper=1}}", "[ERROR: randomInt needs a lower bound below the upper] [ERROR: randomDecimal needs a lower bound below the upper]"},
		{"{{randomValue length=-1}}", "[ERROR: randomValue needs a length from 0 to 1048576]"},
		{"{{urlEncode '%zz' decode=true}}", `[ERROR: invalid URL escape "%zz"]`},
		{"{{request.pathSegments.[0]}} {{request.path.id}} {{request.requestLine.query.q.[1]}}", "a parameter 2"},
		{"{{capitalizeFirst 'élan vital'}} {{capitalize ''}}", "Élan vital "},
	} {
		if got := renderText(t, tc.text); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestRandomHelpers(t *testing.T) {
	for text, want := range map[string]string{
		"{{randomValue}}":                                                         `[a-z0-9]{36}`,
		"{{randomValue length=12 type='NUMERIC'}}":                                `[0-9]{12}`,
		"{{randomValue length=12 type='ALPHABETIC' uppercase=true}}":              `[A-Z]{12}`,
		"{{randomValue length=12 type='HEXADECIMAL'}}":                            `[0-9a-f]{12}`,
		"{{randomValue length=12 type='ALPHANUMERIC_AND_SYMBOLS'}}":               `[!-~]{12}`,
		"{{randomValue type='UUID'}}":                                             `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`,
		"{{randomInt lower=5 upper=7}}":                                           `[56]`,
		"{{randomInt}}":                                                           `-?[0-9]+`,
		"{{randomDecimal lower=2 upper=3}}":                                       `2\.[0-9]+`,
		"{{pickRandom 'a' 'b' (jsonPath request.body '$.list')}}":                 `a|b|1|2`,
		"{{#each (jsonPath request.body '$.list')}}{{pickRandom n 'x'}}{{/each}}": `x*`,
	} {
		for range 20 {
			if got := renderText(t, text); !regexp.MustCompile(`\A(?:` + want + `)\z`).MatchString(got) {
				t.Errorf("%s: got %s", text, got)
			}
		}
	}
	if a, b := renderText(t, "{{randomValue}}"), renderText(t, "{{randomValue}}"); a != b {
		t.Errorf("the same source gave %s and %s", a, b)
	}
}

func TestNow(t *testing.T) {
	for _, tc := range []struct {
		text, layout string
		shift        func(time.Time) time.Time
	}{
		{"{{now}}", "2006-01-02T15:04:05Z", func(now time.Time) time.Time { return now }},
		{"{{now offset='3 days'}}", "2006-01-02T15:04:05Z", func(now time.Time) time.Time { return now.AddDate(0, 0, 3) }},
		{"{{now offset='-90 minutes' format='yyyy-MM-dd HH:mm:ss XXX'}}", "2006-01-02 15:04:05 Z07:00", func(now time.Time) time.Time { return now.Add(-90 * time.Minute) }},
	} {
		before := tc.shift(time.Now()).Add(-time.Second)
		got, err := time.Parse(tc.layout, renderText(t, tc.text))
		if after := tc.shift(time.Now()).Add(time.Second); err != nil || got.Before(before) || got.After(after) {
			t.Errorf("%s: got %s, %v", tc.text, got, err)
		}
	}
	for text, unit := range map[string]time.Duration{"{{now format='epoch'}}": time.Millisecond, "{{now format='unix'}}": time.Second} {
		n, err := strconv.ParseInt(renderText(t, text), 10, 64)
		if age := time.Since(time.Unix(0, n*int64(unit))); err != nil || age < -time.Minute || age > time.Minute {
			t.Errorf("%s: %d is %s ago, %v", text, n, age, err)
		}
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"{{", "not closed"},
		{"{{request.path", "'{{request.path' is not closed"},
		{"{{upper 'a}}", "is not closed"},
		{"{{}}", "not supported"},
		{"{{{{raw}}}}", "raw blocks"},
		{"{{> partial}}", "not supported"},
		{"{{'text'}}", "it stands for itself only as an argument"},
		{"{{nosuch 'a'}}", "no helper 'nosuch'"},
		{"{{upper (nosuch 'a')}}", "no helper 'nosuch'"},
		{"{{request}}", "request is not a value"},
		{"{{upper}}", "upper takes 1 arguments, got 0"},
		{"{{upper 'a' 'b'}}", "upper takes 1 arguments, got 2"},
		{"{{substring 'a'}}", "substring takes 2 to 3 arguments"},
		{"{{join 'a'}}", "join takes at least 2"},
		{"{{upper 'a' locale='de'}}", "upper does not support locale="},
		{"{{upper (lower 'a'}}", "not balanced"},
		{"{{now format='qq'}}", "format 'qq': 'qq' is not supported"},
		{"{{now format='yyyy\"'}}{{now format=\"'x\"}}", "is not closed"},
		{"{{now offset='soon'}}", "offset 'soon' is not like"},
		{"{{now offset='3 fortnights'}}", "expected seconds"},
		{"{{now timezone='Mars/Olympus'}}", "timezone 'Mars/Olympus'"},
		{"{{jsonPath request.body '$.['}}", "JSONPath '$.['"},
		{"{{math 1 '^' 2}}", "no operator '^'"},
		{"{{matches 'a' '('}}", "missing closing )"},
		{"{{regexExtract 'a' '('}}", "missing closing )"},
		{"{{#if true}}", "{{#if}} is not closed"},
		{"{{#if true}}{{/each}}", "expected {{/if}}, got {{/each}}"},
		{"{{#if true}}{{else}}{{else}}{{/if}}", "expected {{/if}}, got {{else}}"},
		{"{{#if}}{{/if}}", "if takes one argument"},
		{"{{#}}{{/}}", "the block has no name"},
		{"{{/if}}", "no open block"},
		{"{{else}}", "there is no open block"},
		{"{{#each (jsonPath request.body '$') as |a b c|}}{{/each}}", "a third name"},
		{"{{#trim 'a'}}{{/trim}}", "as a block trim takes no argument"},
		{"{{@root}}", "'@root' is not supported"},
	} {
		_, err := Parse(tc.text, nil)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.text, err, tc.want)
		}
	}
}

// TestUnknownNames holds which names are reported as such: those that nothing has.
func TestUnknownNames(t *testing.T) {
	for text, want := range map[string]string{
		"{{nosuch}} {{nosuch.a}} {{other}}":                             "nosuch other",
		"{{#assign 'a'}}x{{/assign}}{{a}}{{b}}":                         "b",
		"{{#each (array 1)}}{{name}}{{/each}}":                          "",
		"{{request.nosuch}}{{../x}}{{parameters.none}}":                 "request.nosuch ../x",
		"{{formData request.body 'f'}}{{f.a}}{{val 1 assign='v'}}{{v}}": "",
	} {
		compiled, err := Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(compiled.Unknown(), " "); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestVariablesBelongToARequest holds that what one rendering assigns is not there
// for the next.
func TestVariablesBelongToARequest(t *testing.T) {
	const text = "{{v}}{{#assign 'v'}}x{{/assign}}{{v}}"
	for range 2 {
		if got := renderText(t, text); got != "x" {
			t.Errorf("got %s", got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"{{#each (jsonPath request.body '$.list') as |x|}}{{x}}{{~@index}}{{else}}none{{/each}}",
		"{{#if (eq request.query.q '1')}}a{{else if (lt 1 2)}}b{{/if}}", "{{{request.path.[0]}}}{{!-- c --}}",
		"{{math 1 '/' 2}}{{substring 'abc' 1 2}}{{now format='yyyy' offset='1 days'}}", "{{#base64}}{{../x}}{{/base64}}",
		"{{#assign 'v'}}{{range 1 3}}{{/assign}}{{v}}{{#jsonArrayAdd '[1]' jsonPath='$'}}{{v}}{{/jsonArrayAdd}}{{jsonRemove request.body '$..a'}}",
		"{{#arrayJoin ',' (array 1 2)}}{{this}}{{/arrayJoin}}{{numberFormat 1234.5 '#,##0.00'}}{{stringFormat '%05.2f' 1}}{{xPath '<a/>' '//a'}}",
		"{{date (parseDate '2021-06-14T12:13:14Z') format='YYYY-ww'}}{{#x}}a{{/x}}{{^x}}b{{/x}}\\{{y}}{{center 'a' size=9}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if compiled, err := Parse(text, parameters); err == nil {
			compiled.Append(nil, request{rand.NewPCG(1, 2)})
		}
	})
}
