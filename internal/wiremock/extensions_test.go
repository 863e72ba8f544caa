// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
	"strings"
	"testing"
)

// TestMappingsWithoutTheirExtensions holds that a mapping which refers to what is
// Java, or to what WireMock does not look at, is served as WireMock serves it where
// the extension is not installed, and that its author is told once.
func TestMappingsWithoutTheirExtensions(t *testing.T) {
	const answers = "200 yes"
	for _, tc := range []struct{ mapping, header, want, warning string }{
		{`{"response":{"body":"yes","transformers":["my-thing"]}}`, "", answers, "response.transformers: 'my-thing' is an extension"},
		{`{"response":{"body":"{{request.method}}","transformers":["my-thing","response-template"]}}`, "", "200 GET", "response.transformers: 'my-thing' is"},
		{`{"response":{"body":"{{upper 'a' colour='b'}}","transformers":["response-template"]}}`, "", "200 A", "response.body: upper colour= is not looked at"},
		{`{"response":{"body":"{{size (randomValue type='string' length=5)}}","transformers":["response-template"]}}`, "", "200 5", "response.body: randomValue type='string' is not looked at"},
		{`{"response":{"body":"yes"},"serveEventListeners":[{"name":"my-listener","parameters":{"a":1}}]}`, "", answers, "serveEventListeners[0]: 'my-listener' is an extension"},
		{`{"response":{"body":"yes"},"postServeActions":[{"name":"my-action"}]}`, "", answers, "postServeActions[0]: 'my-action' is an extension"},
		{`{"response":{"body":"yes"},"postServeActions":{"webhooks":{"webhooks":[{"url":"nowhere"}]}}}`, "", answers, "postServeActions[0]: 'webhooks' is an extension"},
		{`{"response":{"body":"yes"},"postServeActions":{"webhook":{"url":"http://127.0.0.1/{{mine 'a'}}"}}}`, "", answers, "postServeActions[0].parameters.url: {{mine 'a'}}: there is no helper 'mine': the webhook is not called"},
		{`{"request":{"customMatcher":{"name":"mine","parameters":{"a":1}}}}`, "", "404 ", "request.customMatcher: 'mine' is an extension"},
		{`{"request":{"headers":{"X":{"not":{"matchesXPath":"//s:a"}}}},"response":{"body":"yes"}}`, "<a/>", answers, "request.headers.X.not.matchesXPath: XPath '//s:a': it is none: prefix s not defined: nothing meets it"},
		{`{"request":{"headers":{"X":{"not":{"matchesXPath":"//a["}}}},"response":{"body":"yes"}}`, "<a/>", answers, "request.headers.X.not.matchesXPath: XPath '//a[': it is none: "},
		{`{"request":{"headers":{"X":{"not":{"matchesXPath":"$a"}}}},"response":{"body":"yes"}}`, "<a/>", answers, "request.headers.X.not.matchesXPath: XPath '$a': it is none: "},
		{`{"request":{"headers":{"X":{"not":{"matchesXPath":{"expression":"//'a","equalTo":"b"}}}}},"response":{"body":"yes"}}`, "<a/>", answers, "request.headers.X.not.matchesXPath: XPath '//'a': it is none: "},
		{`{"request":{"headers":{"X":{"not":{"before":"31st of May"}}}},"response":{"body":"yes"}}`, "2021-06-01T00:00:00Z", answers, "request.headers.X.not.before: '31st of May' is neither a date nor like 'now +3 days': nothing meets it"},
		{`{"request":{"headers":{"X":{"contains":"a","equalTo":"b"}}},"response":{"body":"yes"}}`, "xax", answers, "request.headers.X.equalTo: is not looked at, since there is contains"},
		{`{"request":{"headers":{"X":{"equalTo":"b","contains":"a"}}},"response":{"body":"yes"}}`, "xax", "404 ", "request.headers.X.contains: is not looked at, since there is equalTo"},
		{`{"request":{"headers":{"X":{"contains":"A","caseInsensitive":true}}},"response":{"body":"yes"}}`, "xax", "404 ", "request.headers.X.caseInsensitive: is not looked at, since there is contains"},
		{`{"response":{"body":"yes","headers":{"X":"a\nb"}}}`, "", answers, "response.headers.X: a line break is sent as a space"},
		{`{"request":{"headers":{"X":{"absent":false}}},"response":{"body":"yes"}}`, "", answers, "request.headers.X.absent: false counts as true"},
		{`{"response":{"body":"yes"}} } {"request":`, "", answers, "what stands behind the first JSON value is not looked at: } {"},
	} {
		var warnings []string
		loader := Loader{Warn: func(warning error) { warnings = append(warnings, warning.Error()) }}
		mappings, err := loader.Parse([]byte(tc.mapping), "stub.json", "testdata")
		if err != nil {
			t.Errorf("%s: %v", tc.mapping, err)
			continue
		}
		e := exchange{Method: "GET", Target: "/"}
		if tc.header != "" {
			e.Headers = [][2]string{{"X", tc.header}}
		}
		got := answer(t, NewSet(mappings), e)
		if got := fmt.Sprintf("%d %s", got.Status, got.Body); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.mapping, got, tc.want)
		}
		if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "stub.json: "+tc.warning) {
			t.Errorf("%s: got the warnings %q, want %s", tc.mapping, warnings, tc.warning)
		}
		if len(mappings) == 1 && mappings[0].HasCalls() {
			t.Errorf("%s: it calls", tc.mapping)
		}
	}
}
