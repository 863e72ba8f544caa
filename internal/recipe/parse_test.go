// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

const stages = `"stages":[{"at":0,"status":200,"latency":0}]`

func TestParseReadsWhatIsSaid(t *testing.T) {
	list, err := Parse([]byte(`[{
		"route": "/news*", "body": "<<1kb>>", "random_content": null,
		"headers": {"Cache-Control": "private", "x-twice": ["1", "2"], "x-null": null},
		"stages": [
			{"at": "4s", "status": 503, "latency": "100ms..200ms"},
			{"latency": "50ms"},
			{"at": 1500, "status": 404}
		]}]`))
	if err != nil {
		t.Fatal(err)
	}
	r := list[0]
	if r.Route != "/news*" || *r.Body != "<<1kb>>" || r.RandomContent != nil {
		t.Errorf("got %+v", r)
	}
	if r.Headers.Get("cache-control") != "private" || len(r.Headers) != 2 || len(r.Headers[1].Values) != 2 {
		t.Errorf("got headers %v", r.Headers)
	}
	var got []string
	for _, stage := range r.Stages {
		text, _ := json.Marshal(stage)
		got = append(got, string(text))
	}
	want := `{"at":0,"status":200,"latency":"50ms"} {"at":"1500ms","status":404,"latency":0} {"at":"4s","status":503,"latency":"100ms..200ms"}`
	if strings.Join(got, " ") != want {
		t.Errorf("got stages %s", got)
	}
}

func TestParseSingleAndDefaults(t *testing.T) {
	list, err := Parse([]byte("{" + stages + "}"))
	if err != nil || len(list) != 1 || list[0].Route != "/*" || list[0].HasSource() {
		t.Errorf("got %+v, %v", list, err)
	}
}

// TestShownAsPosted holds that a recipe is written back as it was read.
func TestShownAsPosted(t *testing.T) {
	for _, text := range []string{
		`[{"route":"/a*","origin":"https://example.com/","headers":{"connection":"keepalive","x":["1","2"]},"stages":[{"at":0,"status":404,"latency":"50ms"},{"at":"4s","status":503,"latency":"2s"}]}]`,
		`[{"route":"/","body":"{\"data\":\"<<256kb>>&\"}","stages":[{"at":0,"status":200,"latency":"1s..1.5s"}]}]`,
		`[{"route":"/*","random_content":"300kb..400kb","stages":[{"at":0,"status":200,"latency":0}]}]`,
		`[{"route":"/*","stages":[` +
			`{"at":0,"status":200,"percent":12.5,"fault":"reset 10","bandwidth":"100kb/s","headers":{"a":"b"},"latency":"1s"},` +
			`{"at":"1s","status":503,"percent":0,"dribble":"10 5s","ramp":true,"body":"<<5b>>","latency":0},` +
			`{"at":"2s","status":200,"fault":"hang","latency":0}` +
			`],"loop":"60s","start":"2026-11-30T15:00:00Z","seed":9007199254740991}]`,
		`[{"route":"/*","stages":[{"at":0,"status":200,"latency":0},{"at":"2s","status":200,"latency":0}],"loop":true,"seed":0}]`,
	} {
		list, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("parsing %s: %v", text, err)
			continue
		}
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(list); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(out.String()); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
		list[0].written = nil
		if got, err := encode(list); err != nil || string(got) != text {
			t.Errorf("written anew: got  %s, %v\nwant %s", got, err, text)
		}
	}
}

// TestShownWithItsRoute holds that a route that was not written is shown, and
// all else as it was written.
func TestShownWithItsRoute(t *testing.T) {
	for text, want := range map[string]string{
		` {"stages": [{"at": "1h"}, {"latency": "1000ms..1500ms"}]}`: `{"route":"/*","stages":[{"at":"1h"},{"latency":"1000ms..1500ms"}]}`,
		`{"stages":[{}],"route":""}`:                                 `{"route":"/*","stages":[{"at":0,"status":200,"latency":0}]}`,
		`{"stages":[{}],"route":null}`:                               `{"route":"/*","stages":[{"at":0,"status":200,"latency":0}]}`,
		`{"stages":[{}],"route":"/a"}`:                               `{"stages":[{}],"route":"/a"}`,
	} {
		list, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := encode(list[0]); err != nil || string(got) != want {
			t.Errorf("got %s, %v", got, err)
		}
	}
}

// largeStages returns stages with the largest of bodies, in the wrong order.
func largeStages(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"at":%d,"body":"<<64mb>>"}`, n-i)
	}
	return `"stages":[` + strings.Join(list, ",") + "]"
}

func manyFields(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"x-%d":"1"`, i)
	}
	return strings.Join(list, ",")
}

func manyStages(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"at":%d}`, i)
	}
	return `"stages":[` + strings.Join(list, ",") + "]"
}

// TestMarkOfAnEditor holds that a mark of the byte order before a recipe is
// taken.
func TestMarkOfAnEditor(t *testing.T) {
	text := []byte("\ufeff{" + stages + "}")
	if list, err := Parse(text); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v", list, err)
	}
	if document, err := ParseDocument(text); err != nil || len(document.Recipes) != 1 {
		t.Errorf("got %v, %v", document, err)
	}
}

// TestCredentialsAreNotShown holds that recipes are shown, and origins named,
// without them, and that nothing else is changed.
func TestCredentialsAreNotShown(t *testing.T) {
	list, err := Parse([]byte(`[{"route":"/a","origin":"https://user:s3cret@example.com/x?token=t#f","stages":[{}]},{"route":"/b","origin":"http://example.com/", "stages":[{}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	shown, err := encode(list.Redacted())
	if want := `[{"route":"/a","origin":"https://example.com/x?token=t#f","stages":[{"at":0,"status":200,"latency":0}]},{"route":"/b","origin":"http://example.com/","stages":[{}]}]`; err != nil || string(shown) != want {
		t.Errorf("got %s, %v", shown, err)
	}
	if kept, _ := encode(list); !strings.Contains(string(kept), "s3cret") {
		t.Errorf("the recipe itself became %s", kept)
	}
	if got := list[0].OriginName(); got != "https://example.com/x" {
		t.Errorf("got %s", got)
	}
}

func TestParseNamesTheFieldAtFault(t *testing.T) {
	for _, tc := range []struct{ name, text, field, want string }{
		{"cut in a stage", `{"body":"x","stages":[{"at":0,"lat`, "stages[0]", "is not valid JSON: line 1"},
		{"cut in a list", `[{` + stages + `},{"stages":[{"at":0},{"at"`, "recipes[1].stages[1].at", "is not valid JSON: line 1"},
		{"empty", "", "", "is not valid JSON: line 1"},
		{"text", `"recipe"`, "", "expected a recipe"},
		{"null", "null", "", "expected a recipe"},
		{"no recipe", "[]", "recipes", "at least one"},
		{"more behind", "{" + stages + "} x", "", "is not valid JSON: line 1"},
		{"unknown field", `{"stage":[]}`, "stage", "unknown field: expected one of body, body_file, headers, loop, origin"},
		{"broken in a later line", "{\n  \"é\": [],\n  \"stages\": [{\"at\": 0,,}]\n}", "stages[0]", "line 3, column 23: invalid character ','"},
		{"route of two lines", `{"route":"/x\r\nX: y",` + stages + "}", "route", "line break"},
		{"route with a separator", `{"route":"/x\u2028y",` + stages + "}", "route", "line break"},
		{"30,000 fields", `{"headers":{` + manyFields(30_000) + `},` + stages + "}", "headers", "more than 1000 lines"},
		{"1,001 values", `{"headers":{"x":["` + strings.Repeat(`","`, 1000) + `"]},` + stages + "}", "headers", "more than 1000 lines"},
		{"fields once for each stage", `{"headers":{"x":"` + strings.Repeat("x", 1<<20) + `"},` + manyStages(600) + "}", "headers", "more than 536870912 bytes"},
		{"absurd chunks", `{"stages":[{"dribble":"9223372036854775807 1ns"}]}`, "stages[0].dribble", "from 1 to 1048576"},
		{"credentials", `{"origin":"https://user:s3cret@/x",` + stages + "}", "origin", "expected a URL"},
		{"unknown field of a stage", `{"stages":[{"at":0,"latncy":"5ms"}]}`, "stages[0].latncy", "unknown field"},
		{"misplaced latency", `{"latency":"5ms",` + stages + "}", "latency", "unknown field"},
		{"twice", `{"body":"a","body":"b",` + stages + "}", "body", "twice"},
		{"no stages", `{"body":"x"}`, "stages", "at least one"},
		{"null stages", `{"stages":null}`, "stages", "at least one"},
		{"empty stages", `{"stages":[]}`, "stages", "at least one"},
		{"stages an object", `{"stages":{}}`, "stages", "expected a list, got an object"},
		{"stages text", `{"stages":"..."}`, "stages", "expected a list, got text"},
		{"stage a number", `{"stages":[5]}`, "stages[0]", "expected an object"},
		{"at negative", `{"stages":[{"at":-5}]}`, "stages[0].at", "negative"},
		{"at negative text", `{"stages":[{"at":"-5s"}]}`, "stages[0].at", "negative"},
		{"at without unit", `{"stages":[{"at":"5"}]}`, "stages[0].at", "not a duration"},
		{"at too large", `{"stages":[{"at":1e300}]}`, "stages[0].at", "too large"},
		{"at twice", `{"stages":[{"at":"5s"},{"at":0},{"at":5000}]}`, "stages[2].at", "another stage"},
		{"at left out twice", `{"stages":[{},{}]}`, "stages[1].at", "another stage"},
		{"latency a word", `{"stages":[{"latency":"fast"}]}`, "stages[0].latency", "fast"},
		{"latency without unit", `{"stages":[{"latency":"500"}]}`, "stages[0].latency", "500"},
		{"latency reversed", `[{"stages":[{"latency":"100ms..50ms"}]}]`, "recipes[0].stages[0].latency", ""},
		{"latency negative", `{"stages":[{"latency":"-10ms..10ms"}]}`, "stages[0].latency", ""},
		{"status text", `{"stages":[{"status":"500"}]}`, "stages[0].status", "expected a whole number, got text"},
		{"status a fraction", `{"stages":[{"status":200.5}]}`, "stages[0].status", "expected a whole number, got 200.5"},
		{"status 99", `{"stages":[{"status":99}]}`, "stages[0].status", "99"},
		{"status 103", `{"stages":[{"status":103}]}`, "stages[0].status", "103"},
		{"status 1000", `{"stages":[{"status":1000}]}`, "stages[0].status", "1000"},
		{"body an object", `{"body":{},` + stages + "}", "body", "expected text, got an object"},
		{"hole without size", `{"body":"<<kb>>",` + stages + "}", "body", "<<kb>>"},
		{"hole too large", `{"body":"<<60mb>><<5mb>>",` + stages + "}", "body", "too large"},
		{"two sources", `{"origin":"http://a","body":"",` + stages + "}", "body", "origin"},
		{"origin", `{"origin":"ftp://a",` + stages + "}", "origin", "expected a URL"},
		{"origin without host", `{"origin":"/news",` + stages + "}", "origin", "expected a URL"},
		{"random content", `{"random_content":"428",` + stages + "}", "random_content", "not a size"},
		{"random content reversed", `{"random_content":"2kb..1kb",` + stages + "}", "random_content", "reversed"},
		{"random content a number", `{"random_content":428,` + stages + "}", "random_content", "expected text"},
		{"route", `{"route":"news",` + stages + "}", "route", "slash"},
		{"route with a star inside", `{"route":"/a*b",` + stages + "}", "route", "star"},
		{"headers a list", `{"headers":[],` + stages + "}", "headers", "expected an object"},
		{"header a number", `{"headers":{"age":5},` + stages + "}", "headers.age", "expected text"},
		{"header without values", `{"headers":{"age":[]},` + stages + "}", "headers.age", "no value"},
		{"header twice", `{"headers":{"age":"1","Age":"2"},` + stages + "}", "headers.Age", "twice"},
		{"header name", `{"headers":{"a b":"1"},` + stages + "}", "headers.a b", "not a header field name"},
		{"header value", `{"headers":{"a":"1\r\nb: 2"},` + stages + "}", "headers.a", "cannot carry"},
		{"header of the framing", `{"headers":{"content-length":"5"},` + stages + "}", "headers.content-length", "follows"},
		{"percent over 100", `{"stages":[{"percent":101}]}`, "stages[0].percent", "101"},
		{"percent negative", `{"stages":[{"percent":-1}]}`, "stages[0].percent", "-1"},
		{"fault", `{"stages":[{"fault":"crash"}]}`, "stages[0].fault", "crash"},
		{"fault percent", `{"stages":[{"fault":"reset 101"}]}`, "stages[0].fault", "101"},
		{"fault and more", `{"stages":[{"fault":"reset 10 20"}]}`, "stages[0].fault", "10 20"},
		{"bandwidth", `{"stages":[{"bandwidth":"100kb"}]}`, "stages[0].bandwidth", "not a bandwidth"},
		{"no bandwidth", `{"stages":[{"bandwidth":"0b/s"}]}`, "stages[0].bandwidth", "hang"},
		{"dribble", `{"stages":[{"dribble":"10"}]}`, "stages[0].dribble", "like 10 5s"},
		{"no chunks", `{"stages":[{"dribble":"0 5s"}]}`, "stages[0].dribble", "'0' is not"},
		{"dribble duration", `{"stages":[{"dribble":"10 5"}]}`, "stages[0].dribble", "not a duration"},
		{"both paces", `{"stages":[{"bandwidth":"1kb/s","dribble":"10 5s"}]}`, "stages[0].dribble", "bandwidth"},
		{"body of a stage", `{"stages":[{"body":"<<x>>"}]}`, "stages[0].body", "<<x>>"},
		{"body of a 204", `{"stages":[{"status":204,"body":"x"}]}`, "stages[0].body", "204 has no body"},
		{"pace of a 304", `{"stages":[{"status":304,"bandwidth":"1kb/s"}]}`, "stages[0].bandwidth", "304 has no body"},
		{"file of a 204", `{"stages":[{"status":204,"body_file":"x"}]}`, "stages[0].body_file", "204 has no body"},
		{"body and file of a stage", `{"stages":[{"body":"x","body_file":"x"}]}`, "stages[0].body_file", "one body"},
		{"body behind a fault", `{"stages":[{"fault":"empty","body":"x"}]}`, "stages[0].body", "never seen"},
		{"headers behind a fault", `{"stages":[{"fault":"garbage","headers":{"a":"b"}}]}`, "stages[0].headers", "never seen"},
		{"pace behind a fault", `{"stages":[{"fault":"malformed","dribble":"10 5s"}]}`, "stages[0].dribble", "never seen"},
		{"header of a stage", `{"stages":[{"headers":{"a":5}}]}`, "stages[0].headers.a", "expected text"},
		{"encoding of a stage", `{"stages":[{"headers":{"content-encoding":"gzip"}}]}`, "stages[0].headers.content-encoding", "whole recipe"},
		{"outcomes and a status", `{"stages":[{"status":200,"outcomes":[{}]}]}`, "stages[0].status", "is for an outcome to say, as the stage has outcomes"},
		{"outcomes and a latency", `{"stages":[{"outcomes":[{}],"latency":1}]}`, "stages[0].latency", "is for an outcome to say"},
		{"outcomes and a percentage", `{"stages":[{"at":0,"outcomes":[{}],"percent":5}]}`, "stages[0].percent", "is for an outcome to say"},
		{"outcomes and a fault", `{"stages":[{"outcomes":[{}],"fault":"reset"}]}`, "stages[0].fault", "is for an outcome to say"},
		{"a list of one outcome", `{"stages":[{"outcomes":[{"status":99}]}]}`, "stages[0].outcomes[0].status", "99"},
		{"a ramp in a list of one", `{"stages":[{"outcomes":[{"latency":5,"ramp":true}]}]}`, "stages[0].outcomes[0].ramp", "no stage comes after"},
		{"no outcomes", `{"stages":[{"outcomes":[]}]}`, "stages[0].outcomes", "at least one"},
		{"outcomes an object", `{"stages":[{"outcomes":{}}]}`, "stages[0].outcomes", "expected a list"},
		{"an outcome a number", `{"stages":[{"outcomes":[503]}]}`, "stages[0].outcomes[0]", "expected an object"},
		{"an outcome with a time", `{"stages":[{"outcomes":[{"at":5}]}]}`, "stages[0].outcomes[0].at", "unknown field"},
		{"too many outcomes", `{"stages":[{"outcomes":[` + strings.Repeat(`{"percent":0},`, 100) + `{}]}]}`, "stages[0].outcomes[100]", "more than 100"},
		{"a rest before the end", `{"stages":[{"outcomes":[{"percent":1},{},{"percent":1}]}]}`, "stages[0].outcomes[1]", "no condition and is not the last"},
		{"two rests", `{"stages":[{"outcomes":[{},{}]}]}`, "stages[0].outcomes[0]", "no condition and is not the last"},
		{"shares over 100", `{"stages":[{"outcomes":[{"percent":60},{"percent":40.5},{}]}]}`, "stages[0].outcomes", "add up to 100.5%: at most 100%"},
		{"two conditions", `{"stages":[{"outcomes":[{"percent":60,"first":1},{}]}]}`, "stages[0].outcomes[0].percent", "has first too"},
		{"two conditions of a stage", `{"stages":[{"percent":60,"first":1}]}`, "stages[0].percent", "has first too"},
		{"first 0", `{"stages":[{"first":0}]}`, "stages[0].first", "must be greater than 0"},
		{"first half", `{"stages":[{"first":0.5}]}`, "stages[0].first", "'0.5' is not a number of requests"},
		{"first of many", `{"stages":[{"first":4294967296}]}`, "stages[0].first", "up to 4294967295"},
		{"first true", `{"stages":[{"first":true}]}`, "stages[0].first", "expected a number or text"},
		{"first by", `{"stages":[{"first":"2 by user"}]}`, "stages[0].first", "'user' is not a key: expected client_ip, uri, header <field> or cookie <name>"},
		{"first by no field", `{"stages":[{"first":"2 by header "}]}`, "stages[0].first", "is not a key"},
		{"cut nothing", `{"stages":[{"fault":"cut 100"}]}`, "stages[0].fault", "nothing is cut off"},
		{"cut too much", `{"stages":[{"fault":"cut 101"}]}`, "stages[0].fault", "101"},
		{"cut of a 204", `{"stages":[{"status":204,"fault":"cut"}]}`, "stages[0].fault", "204 has no body"},
		{"chunks of a 304", `{"stages":[{"status":304,"chunked":true}]}`, "stages[0].chunked", "304 has no body"},
		{"chunks behind a fault", `{"stages":[{"fault":"reset","chunked":true}]}`, "stages[0].chunked", "never seen"},
		{"chunked a word", `{"stages":[{"chunked":"yes"}]}`, "stages[0].chunked", "true or false"},
		{"ramp to no outcome", `{"stages":[{"outcomes":[{"percent":1},{"ramp":true}]},{"at":"1s"}]}`, "stages[0].outcomes[1].ramp", "the next stage has no outcome at place 2"},
		{"ramp around to no outcome", `{"loop":true,"stages":[{},{"at":"1s","outcomes":[{"percent":1},{"ramp":true}]}]}`, "stages[1].outcomes[1].ramp", "no outcome at place 2"},
		{"body of an outcome", `{"stages":[{"outcomes":[{"percent":1,"body":"<<x>>"},{}]}]}`, "stages[0].outcomes[0].body", "<<x>>"},
		{"ramp to nowhere", `{"stages":[{},{"at":"5s","ramp":true}]}`, "stages[1].ramp", "no stage"},
		{"ramp a word", `{"stages":[{"ramp":"yes"}]}`, "stages[0].ramp", "true or false"},
		{"loop of one stage", `{"loop":true,"stages":[{}]}`, "loop", "period"},
		{"loop too short", `{"loop":"5s","stages":[{},{"at":"5s"}]}`, "loop", "before"},
		{"loop of nothing", `{"loop":0,"stages":[{},{"at":"5s"}]}`, "loop", "must be greater than 0"},
		{"loop false", `{"loop":false,"stages":[{},{"at":"5s"}]}`, "loop", "expected true"},
		{"start", `{"start":"tomorrow","stages":[{}]}`, "start", "not a time"},
		{"seed negative", `{"seed":-1,"stages":[{}]}`, "seed", "whole number"},
		{"seed of 54 bits", `{"seed":9007199254740992,"stages":[{}]}`, "seed", "9007199254740992 is not a whole number up to 9007199254740991"},
		{"seed of 65 bits", `{"seed":18446744073709551616,"stages":[{}]}`, "seed", "a whole number up to 9007199254740991"},
		{"bodies of stages", `{"body":"<<64mb>>",` + largeStages(9) + `}`, "stages[7].body", "more than 536870912 bytes"},
		{"bodies of recipes", `[` + strings.Repeat(`{"body":"<<60mb>>","stages":[{}]},`, 9) + `{"stages":[{}]}]`, "recipes[8].body", "more than 536870912 bytes"},
		{"bodies of recipes and stages", `[{` + largeStages(7) + `},{"random_content":"1gb","stages":[{"body":"<<64mb>>"}]}]`, "recipes[1].stages", "more than 536870912 bytes"},
	} {
		_, err := Parse([]byte(tc.text))
		if err == nil {
			t.Errorf("%s: accepted", tc.name)
			continue
		}
		field := ""
		if f, ok := errors.AsType[*FieldError](err); ok {
			field = f.Field
		}
		if field != tc.field || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got field %q of error %q; want field %q and %q", tc.name, field, err, tc.field, tc.want)
		}
	}
}

// TestHugeNonsenseIsRefusedAtOnce holds that reading takes no more than a look.
func TestHugeNonsenseIsRefusedAtOnce(t *testing.T) {
	begin := time.Now()
	for _, text := range []string{
		strings.Repeat("[", 5<<20),
		strings.Repeat(`{"stages":`, 1<<19),
		`{"stages":[` + strings.Repeat(`{},`, 1<<20) + `{}]}`,
		`[` + strings.Repeat(`{"stages":[{}]},`, 1<<18) + `{}]`,
	} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("accepted %.20s...", text)
		}
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"route":"/a*","body":"<<5b>>","headers":{"a":["b"]},"stages":[{"at":"1s","status":500,"latency":"1ms..2ms"}]}`))
	f.Add([]byte(`[{"origin":"http://a/","stages":[{"at":0}]}]`))
	f.Add([]byte(`[[[{"stages"`))
	f.Add([]byte(`{"stages":[{"outcomes":[{"first":"2 by header a","chunked":true},{"first":1,"fault":"cut 5"},{"percent":3,"fault":"reset 5"},{"ramp":true}]},{"at":5,"first":1}],"loop":"9s"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := Parse(data)
		if err != nil {
			return
		}
		for i := range list {
			list[i].written = nil // writes it anew
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatalf("writing what was read: %v", err)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("reading %s again: %v", text, err)
		}
		if second, _ := json.Marshal(again); !bytes.Equal(text, second) {
			t.Fatalf("got %s, then %s", text, second)
		}
	})
}
