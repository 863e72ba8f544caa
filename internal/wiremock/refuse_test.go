// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnsupportedIsNamed holds that what a mapping asks for beyond what is
// supported, or wrongly, is an error with the path of the field.
func TestUnsupportedIsNamed(t *testing.T) {
	for _, tc := range []struct{ mapping, want string }{
		{`{"request":{},"serveEventListeners":[{"name":"webhook"}]}`, "serveEventListeners[0].parameters: expected an object"},
		{`{"mapping":{"request":{}}}`, "mapping: not supported"},
		{`{"request":{},"colour":"red"}`, "colour: not supported"},
		{`{"request":{},"colours":{}}`, "colours: not supported"},
		{`{"name":"n","request":{"customMatcher":"x"}}`, "mapping 'n': request.customMatcher: expected an object"},
		{`{"request":{"customMatcher":{"name":"x","colour":"red"}}}`, "request.customMatcher.colour: not supported"},
		{`{"request":{"basicAuth":{"username":"x","colour":"red"}}}`, "request.basicAuth.colour: not supported"},
		{`{"serveEventListeners":[{"name":"mine","colour":"red"}]}`, "serveEventListeners: expected a list of listeners: json: unknown field \"colour\""},
		{`{"request":{"headers":{"X-A":{"includes":[{"equalTo":"a"}],"equalTo":"b"}}}}`, "request.headers.X-A.equalTo: not supported"},
		{`{"id":"i","request":{"multipartPatterns":[{"matchingType":"SOME"}]}}`, "mapping 'i': request.multipartPatterns[0].matchingType: expected ALL or ANY"},
		{`{"request":{"multipartPatterns":[{"bodyPatterns":[{"like":"a"}]}]}}`, "request.multipartPatterns[0].bodyPatterns[0].like: not supported"},
		{`{"request":{"scheme":["https"]}}`, "request.scheme: array is not"},
		{`{"request":{"host":"x"}}`, "request.host: expected an object"},
		{`{"request":{"clientIp":{"like":"x"}}}`, "request.clientIp.like: not supported"},
		{`{"request":{"method":{"equalTo":"x"}}}`, "request.method: object is not"},
		{`{"request":[]}`, "request: expected an object"},
		{`{"request":{"urlPattern":"/a(?=b"}}`, "request.urlPattern: the regular expression '/a(?=b' is not supported"},
		{`{"request":{"urlPathPattern":"/a{2}{3}**"}}`, "request.urlPathPattern: the regular expression"},
		{`{"request":{"urlPattern":"/[a-z&&]"}}`, "request.urlPattern: the regular expression '/[a-z&&]' is not supported: a part of a class of characters is empty"},
		{`{"request":{"urlPathTemplate":"/a{b}c"}}`, "request.urlPathTemplate: 'a{b}c' is neither"},
		{`{"request":{"url":"/a","pathParameters":{"b":{"equalTo":"c"}}}}`, "request.pathParameters: it needs a urlPathTemplate"},
		{`{"request":{"headers":{"X-A":{"before":"now +3 fortnights"}}}}`, "request.headers.X-A.before: offset 'now +3 fortnights': expected seconds, minutes"},
		{`{"request":{"headers":{"X-A":{"after":"now","truncateExpected":"end of week"}}}}`, "request.headers.X-A.truncateExpected: there is no truncation 'end of week'"},
		{`{"request":{"headers":{"X-A":{"after":"now","actualFormat":"bb"}}}}`, "request.headers.X-A.actualFormat: format 'bb': 'bb' is not supported"},
		{`{"request":{"port":"x"}}`, `request.port: "x" is not the number of a port`},
		{`{"request":{"port":65536}}`, "request.port: 65536 is not the number of a port"},
		{`{"request":{"headers":{"X-A":{}}}}`, "request.headers.X-A: there is no condition"},
		{`{"request":{"headers":{"X-A":"b"}}}`, "request.headers.X-A: expected an object"},
		{`{"request":{"headers":{"X-A":{"or":[{"equalTo":"a"},{"like":"b"}]}}}}`, "request.headers.X-A.or[1].like: not supported"},
		{`{"request":{"queryParameters":{"q":{"matches":"a("}}}}`, "request.queryParameters.q.matches: the regular expression 'a('"},
		{`{"request":{"queryParameters":{"q":{"hasExactly":[]}}}}`, "request.queryParameters.q.hasExactly: the list is empty"},
		{`{"request":{"bodyPatterns":{"equalTo":"a"}}}`, "request.bodyPatterns: expected a list"},
		{`{"request":{"bodyPatterns":[{"equalToXml":"<a>"}]}}`, "request.bodyPatterns[0].equalToXml: "},
		{`{"request":{"bodyPatterns":[{"equalToXml":"<a/>","exemptedComparisons":["ALL"]}]}}`, "request.bodyPatterns[0].exemptedComparisons: there is no comparison 'ALL'"},
		{`{"request":{"bodyPatterns":[{"equalToXml":"<a>${xmlunit.any}</a>","enablePlaceholders":true}]}}`, "request.bodyPatterns[0].equalToXml: the placeholder ${xmlunit.any} is not supported"},
		{`{"request":{"bodyPatterns":[{"matchesXPath":"id('x')"}]}}`, "request.bodyPatterns[0].matchesXPath: XPath 'id('x')': not yet support this function id()"},
		{`{"request":{"bodyPatterns":[{"matchesXPath":"//a/namespace::b"}]}}`, "request.bodyPatterns[0].matchesXPath: XPath '//a/namespace::b': "},
		{`{"request":{"bodyPatterns":[{"matchesXPath":"//a[lang('en')]"}]}}`, "not yet support this function lang()"},
		{`{"request":{"bodyPatterns":[{"matchesXPath":{"contains":"b"}}]}}`, "request.bodyPatterns[0].matchesXPath: the expression is missing"},
		{`{"request":{"bodyPatterns":[{"matchesJsonSchema":{},"schemaVersion":"V5"}]}}`, "request.bodyPatterns[0].schemaVersion: expected V4, V6"},
		{`{"request":{"bodyPatterns":[{"matchesJsonSchema":{"$ref":"https://example.com/s.json"}}]}}`, "request.bodyPatterns[0].matchesJsonSchema: the schema refers to https://example.com/s.json: schemas are not loaded from elsewhere"},
		{`{"request":{"bodyPatterns":[{"matchesJsonSchema":{"$ref":"file:///etc/passwd"}}]}}`, "request.bodyPatterns[0].matchesJsonSchema: the schema refers to file:///etc/passwd"},
		{`{"request":{"bodyPatterns":[{"matchesJsonSchema":{"type":5}}]}}`, "request.bodyPatterns[0].matchesJsonSchema: it is no JSON Schema"},
		{`{"request":{"bodyPatterns":[{"equalToJson":"{a"}]}}`, "request.bodyPatterns[0].equalToJson: it is not JSON"},
		{`{"request":{"bodyPatterns":[{"equalToJson":{"a":"${json-unit.any-date}"}}]}}`, "'${json-unit.any-date}' is not supported"},
		{`{"request":{"bodyPatterns":[{"matchesJsonPath":"$.a.nosuch()"}]}}`, "request.bodyPatterns[0].matchesJsonPath: JSONPath '$.a.nosuch()'"},
		{`{"request":{"bodyPatterns":[{"matchesJsonPath":{"equalTo":"a"}}]}}`, "request.bodyPatterns[0].matchesJsonPath: the expression is missing"},
		{`{"request":{"bodyPatterns":[{"matchesJsonPath":{"expression":"$.a","like":"b"}}]}}`, "request.bodyPatterns[0].matchesJsonPath.like: not supported"},
		{`{"request":{"bodyPatterns":[{"binaryEqualTo":"!"}]}}`, "request.bodyPatterns[0].binaryEqualTo: illegal base64"},
		{`{"request":{},"priority":"high"}`, "priority: string is not"},
		{`{"serveEventListeners":[{"name":"webhook","parameters":{"url":"http://x/","headers":{"a b":"c"}}}]}`, "parameters.headers: a b: no header field"},
		{`{"response":{"proxyBaseUrl":"x"}}`, "response.proxyBaseUrl: 'x' is not a URL of http or https"},
		{`{"response":{"proxyBaseUrl":"http://x","additionalProxyRequestHeaders":{"A b":"c"}}}`, "response.additionalProxyRequestHeaders: A b: no header field"},
		{`{"response":{"status":99}}`, "response.status: 99"},
		{`{"response":{"status":1000}}`, "response.status: 1000"},
		{`{"response":{"status":101}}`, "response.status: 101"},
		{`{"response":{"body":{"a":1}}}`, "response.body: object is not"},
		{`{"response":{"base64Body":"!"}}`, "response.base64Body: illegal base64"},
		{`{"response":{"bodyFileName":"../set.go"}}`, "response.bodyFileName: "},
		{`{"response":{"body":"{{nosuch 1}}","transformers":["response-template"]}}`, "response.body: {{nosuch 1}}: there is no helper 'nosuch'"},
		{`{"response":{"jsonBody":{"a":"{{random 'Name'}}"},"transformers":["response-template"]}}`, "response.jsonBody: {{random 'Name'}}: there is no helper 'random'"},
		{`{"response":{"headers":{"X":"{{nosuch 1}}"},"transformers":["response-template"]}}`, "response.headers.X: {{nosuch 1}}: there is no helper 'nosuch'"},
		{`{"response":{"headers":{"X-{{request.method}}":"v"}}}`, "response.headers.X-{{request.method}}: no header field"},
		{`{"response":{"headers":{"X":{"a":1}}}}`, "response.headers.X: expected a text"},
		{`{"response":{"fixedDelayMilliseconds":-1}}`, "response.fixedDelayMilliseconds: -1"},
		{`{"response":{"delayDistribution":{"type":"gamma"}}}`, "response.delayDistribution: latency"},
		{`{"response":{"delayDistribution":{"type":"uniform","lower":2,"upper":1}}}`, "lower 2ms is above upper 1ms"},
		{`{"response":{"chunkedDribbleDelay":{"totalDuration":5}}}`, "response.chunkedDribbleDelay.numberOfChunks: 0"},
		{`{"response":{"chunkedDribbleDelay":{"numberOfChunks":5,"totalDuration":-5}}}`, "response.chunkedDribbleDelay.totalDuration: -5"},
		{`{"response":{"chunkedDribbleDelay":{"numberOfChunks":5,"totalDuration":5,"x":1}}}`, "response.chunkedDribbleDelay.x: not supported"},
		{`{"response":{"fault":"MELTDOWN"}}`, "response.fault: there is no fault 'MELTDOWN'"},
		{`{"mappings":[{"request":{}},{"request":{"pot":80}}]}`, "mappings[1]: request.pot: not supported"},
		{`{"mappings":[],"extra":1}`, "extra: not supported"},
		{`{"mappings":{}}`, "mappings: expected a list"},
		{`"text"`, "expected an object"},
		{`[1]`, "mappings[0]: expected an object"},
		{`{"request":`, "line 1, column 11: unexpected end of JSON"},
		{``, "unexpected end of JSON"},
		{"{\n  \"é\": 1,\n  \"ü\" 2}", "line 3, column 7: invalid character '2'"},
		{strings.Repeat(`{"request":`, 2000) + "{}" + strings.Repeat("}", 2000), "nested deeper than 1000 levels"},
	} {
		_, err := Parse([]byte(tc.mapping), "stub.json", "testdata")
		if err == nil {
			t.Errorf("%s was accepted", tc.mapping)
			continue
		}
		if !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "stub.json: ") {
			t.Errorf("%s:\ngot  %v\nwant %s", tc.mapping, err, tc.want)
		}
	}
}

// TestUnsupportedTemplatesAreNamed holds the same for templates.
func TestUnsupportedTemplatesAreNamed(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{"{{nosuch 'a'}}", "there is no helper 'nosuch'"},
		{"{{#nosuch 'a'}}b{{/nosuch}}", "there is no block 'nosuch'"},
		{"{{jsonSort '[2,1]' '$[*]'}}", "there is no helper 'jsonSort'"},
		{"{{parseJson}}", "parseJson takes a text"},
		{"{{xPath request.body '//['}}", "XPath '//['"},
		{"{{truncateDate (now) 'end of week'}}", "there is no truncation 'end of week'"},
		{"{{numberFormat 1 '0.0.0'}}", "'0.0.0' is not a pattern of numbers"},
		{"{{random 'Name.first_name'}}", "there is no helper 'random'"},
		{"{{matches request.body '[a-z&&]'}}", "the regular expression '[a-z&&]' is not supported"},
		{"{{regexExtract request.body '(?=a'}}", "the regular expression '(?=a' is not supported"},
		{strings.Repeat("{{#if true}}", 300) + strings.Repeat("{{/if}}", 300), "nested deeper than 200 levels"},
		{"{{upper " + strings.Repeat("(upper ", 300) + "'a'" + strings.Repeat(")", 300) + "}}", "nested deeper than 200 levels"},
	} {
		mapping := fmt.Sprintf(`{"response":{"body":%q,"transformers":["response-template"]}}`, tc.body)
		_, err := Parse([]byte(mapping), "stub.json", "testdata")
		if err == nil || !strings.Contains(err.Error(), "stub.json: response.body: ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", tc.body, err, tc.want)
		}
	}
}

// TestHarmless holds that what only describes a mapping, or asks for nothing,
// is accepted.
func TestHarmless(t *testing.T) {
	for _, mapping := range []string{
		`{"id":"1","uuid":"1","name":"n","metadata":{"a":1},"persistent":true,"insertionIndex":3}`,
		`{"request":{"method":"GET","url":"/"},"response":{"status":200,"statusMessage":"OK"}}`,
		`{"request":{"headers":null,"bodyPatterns":null},"response":{"proxyBaseUrl":null,"transformers":[]},"scenarioName":null}`,
		`{"mappings":[{"request":{},"response":{}}],"meta":{"total":1}}`,
		`[{"request":{}},{"response":{}}]`,
		`{"$schema":"https://example.com/schema.json","response":{"status":0,"fromConfiguredStub":true,"statusMessage":"Fine"}}`,
		`{"requiredScenarioState":"Started","newScenarioState":"paid"}`,
		`{"response":{"body":"a","jsonBody":{}}}`,
		`{"response":{"bodyFileName":"none.txt"}}`,
		`{"response":{"body":"{{nosuch 1}}"}}`,
		`{"response":{"fixedDelayMilliseconds":5,"delayDistribution":{"type":"lognormal","median":70,"sigma":0.3}}}`,
	} {
		if _, err := Parse([]byte(mapping), "stub.json", "testdata"); err != nil {
			t.Errorf("%s: %v", mapping, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"request":{"method":"GET","urlPattern":"/a.*","headers":{"X":{"not":{"contains":"b"}}}}}`)
	f.Add(`[{"request":{"bodyPatterns":[{"equalToJson":{"a":["${json-unit.ignore}"]},"ignoreArrayOrder":true}]}}]`)
	f.Add(`{"mappings":[{"response":{"body":"{{#if request.query.a}}{{now}}{{/if}}","transformers":["response-template"]}}]}`)
	f.Fuzz(func(t *testing.T, data string) {
		mappings, err := Parse([]byte(data), "fuzz.json", "testdata")
		if err != nil {
			return
		}
		set := NewSet(mappings)
		r := newRequest(exchange{Method: "GET", Target: "/a?b=c", Body: `{"a":[1]}`})
		m, err := set.Match(r)
		if err != nil {
			t.Fatal(err)
		}
		if m != nil {
			_, _ = m.Respond(r)
		} else {
			set.Closest(r)
		}
	})
}
