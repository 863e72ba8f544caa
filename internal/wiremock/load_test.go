// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLayouts holds where mappings and body files may lie.
func TestLayouts(t *testing.T) {
	root := t.TempDir()
	write := func(path, content string) {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stub := `{"name":"%s","request":{"url":"/%s"},"response":{"bodyFileName":"body.json"}}`
	write("wm/mappings/deep/one.json", fmt.Sprintf(stub, "one", "one"))
	write("wm/mappings/two.JSON", fmt.Sprintf(stub, "two", "two"))
	write("wm/mappings/readme.txt", "no mapping")
	write("wm/__files/body.json", `"wm"`)
	write("flat/three.json", fmt.Sprintf(stub, "three", "three"))
	write("flat/__files/body.json", `"flat"`)
	write("empty/none.txt", "")
	write("linked/..data/four.json", fmt.Sprintf(stub, "four", "four"))
	write("linked/..data/__files/body.json", `"linked"`)
	for link, target := range map[string]string{"linked/four.json": "..data/four.json", "linked/__files": "..data/__files", "link": "linked"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		paths []string
		want  map[string]string
	}{
		{[]string{"wm"}, map[string]string{"/one": `"wm"`, "/two": `"wm"`, "/three": ""}},
		{[]string{"wm/mappings"}, map[string]string{"/one": `"wm"`}},
		{[]string{"wm/mappings/two.JSON"}, map[string]string{"/one": "", "/two": `"wm"`}},
		{[]string{"flat", "wm"}, map[string]string{"/one": `"wm"`, "/three": `"flat"`}},
		{[]string{"link"}, map[string]string{"/four": `"linked"`}},
		{[]string{"flat/three.json"}, map[string]string{"/three": `"flat"`}},
	} {
		var paths []string
		for _, path := range tc.paths {
			paths = append(paths, filepath.Join(root, path))
		}
		mappings, err := Load(paths...)
		if err != nil {
			t.Errorf("%v: %v", tc.paths, err)
			continue
		}
		set := NewSet(mappings)
		for target, want := range tc.want {
			if got := answer(t, set, exchange{Method: "GET", Target: target}); got.Body != want {
				t.Errorf("%v: %s gave %q, want %q", tc.paths, target, got.Body, want)
			}
		}
	}
	for path, want := range map[string]string{"empty": "no .json file", "nowhere": "no such file"} {
		if _, err := Load(filepath.Join(root, path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

func TestLinkedFilesAreReadOnce(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "..data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "..data", "a.json"), []byte(`{"request":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..data/a.json", filepath.Join(root, "a.json")); err != nil {
		t.Fatal(err)
	}
	mappings, err := Load(root)
	if err != nil || len(mappings) != 1 {
		t.Errorf("got %d mappings, %v", len(mappings), err)
	}
}

// TestAllFaultsAreTold holds that a load names every mapping at fault, and a
// body file with the directory that it was looked for in.
func TestAllFaultsAreTold(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"a.json": "\ufeff" + `[{"request":{"url":"/"}},{"pot":"x"},{"response":{"bodyFileName":"../none.txt"}}]`,
		"b.json": "{\n  \"request\": {,}\n}",
		"c.json": `{"request":{"pot":80}}`,
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "__files"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Load(root, "nowhere.json")
	if err == nil {
		t.Fatal("it was accepted")
	}
	here, _ := os.Getwd()
	lines := strings.Split(err.Error(), "\n")
	for i, want := range []string{
		"a.json: mappings[1]: pot: not supported",
		"(looked in " + filepath.Join(root, "__files") + ")",
		"b.json: line 2, column 15: invalid character ','",
		"c.json: request.pot: not supported",
		"nowhere.json: no such file or directory (looked in " + here + ")",
	} {
		if i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Errorf("line %d: want %s in\n%v", i+1, want, err)
		}
	}
	many := "[" + strings.Repeat(`{"a":1},`, mostFaults+10) + `{"a":1}]`
	if _, err := Parse([]byte(many), "many", ""); err == nil || !strings.HasSuffix(err.Error(), "\nand 11 more") {
		t.Errorf("got %v", err)
	}
}

// TestUnsupportedIsToldWhole holds that one load of a folder names every mapping
// that cannot be served, and that the others are served if it is to leave these out.
func TestUnsupportedIsToldWhole(t *testing.T) {
	root := t.TempDir()
	var wanted []string
	for i := range 50 {
		content := fmt.Sprintf(`{"name":"stub %d","request":{"url":"/%d"},"response":{"body":"%d"}}`, i, i, i)
		if i%10 == 3 {
			content = fmt.Sprintf(`{"mappings":[{"name":"stub %d","request":{"url":"/%d","colour":"red"}}]}`, i, i)
			wanted = append(wanted, fmt.Sprintf("%02d.json: mappings[0]: mapping 'stub %d': request.colour: not supported", i, i))
		}
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("%02d.json", i)), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Load(root)
	if err == nil {
		t.Fatal("it was accepted")
	}
	told := strings.Split(err.Error(), "\n")
	var left []string
	loader := Loader{Skip: func(fault error) { left = append(left, fault.Error()) }}
	mappings, err := loader.Load(root)
	if err != nil || len(mappings) != 45 {
		t.Fatalf("left out: got %d mappings, %v", len(mappings), err)
	}
	for _, got := range [][]string{told, left} {
		if len(got) != len(wanted) {
			t.Fatalf("got %d faults, want %d:\n%s", len(got), len(wanted), strings.Join(got, "\n"))
		}
		for i, want := range wanted {
			if !strings.HasSuffix(got[i], want) {
				t.Errorf("got %s, want %s", got[i], want)
			}
		}
	}
	set := NewSet(mappings)
	for i := range 50 {
		want := fmt.Sprintf("stub %d", i)
		if i%10 == 3 {
			want = ""
		}
		if got := matchName(t, set, exchange{Method: "GET", Target: fmt.Sprintf("/%d", i)}); got != want {
			t.Errorf("/%d is answered by '%s', want '%s'", i, got, want)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loader.Load(root); err == nil || !strings.Contains(err.Error(), "broken.json: line 1") {
		t.Errorf("a file that is no JSON: got %v", err)
	}
}

// TestOddMappingsAreWarnedOf holds what is served other than its author may mean.
func TestOddMappingsAreWarnedOf(t *testing.T) {
	var warnings []string
	loader := Loader{Warn: func(warning error) { warnings = append(warnings, warning.Error()) }}
	mappings, err := loader.Parse([]byte(`[
		{"name":"gone","request":{"url":"/gone"},"response":{"status":201,"bodyFileName":"none.txt","headers":{"X":"{{request.url}}"},"transformers":["response-template"]}},
		{"request":{"url":"/two"},"response":{"body":"a","jsonBody":{}}}]`), "stubs.json", "testdata")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"stubs.json: mappings[0]: mapping 'gone': response.bodyFileName: ", "stubs.json: mappings[1]: response.jsonBody: is not looked at, since there is body"} {
		if i >= len(warnings) || !strings.HasPrefix(warnings[i], want) {
			t.Errorf("want %s in\n%s", want, strings.Join(warnings, "\n"))
		}
	}
	set := NewSet(mappings)
	if got := answer(t, set, exchange{Method: "GET", Target: "/gone"}); got.Status != 500 || got.Body != "Not found in blob store: none.txt" {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := answer(t, set, exchange{Method: "GET", Target: "/two"}); got.Body != "a" {
		t.Errorf("got %s", got.Body)
	}
}

// TestJSONAsWireMockReadsIt holds what its reader takes beyond JSON.
func TestJSONAsWireMockReadsIt(t *testing.T) {
	var warnings []string
	loader := Loader{Warn: func(warning error) { warnings = append(warnings, warning.Error()) }}
	mappings, err := loader.Parse([]byte(`// all of them
[ /* "one" // */ {'name': 'it\'s "one"', "priority": "1", "request": {"url": "/one//x", "urlPath": "/two"},
	"response": {"status": "201", "body": 5, "fixedDelayMilliseconds": "0"}},
  {"name": 2, "persistent": "true", "request": {"url": "/'"}, "response": {"status": 202.0, "body": true}}]`), "stubs.json", "testdata")
	if err != nil {
		t.Fatal(err)
	}
	set := NewSet(mappings)
	for target, want := range map[string]string{"/one//x": "201 5", "/'": "202 true"} {
		got := answer(t, set, exchange{Method: "GET", Target: target})
		if got := fmt.Sprintf("%d %s", got.Status, got.Body); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
	if got := mappings[0].Name() + "|" + mappings[1].Name(); got != `it's "one"|2` || !mappings[1].Persistent() {
		t.Errorf("got %s", got)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "request.urlPath: is not looked at, since there is url") {
		t.Errorf("got %q", warnings)
	}
	for text, want := range map[string]string{
		"{\n/* a\nb */\n\"a\"}}":   "line 4, column 4",
		`{"request": /* {}`:        "line 1, column 13",
		`{'request: {}`:            "line 1",
		`[{"priority": "high"}]`:   "priority: string is not",
		`{"response":{"body":{}}}`: "response.body: object is not",
	} {
		if _, err := Parse([]byte(text), "stubs.json", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestTheLastIDHolds holds that of the two names of an ID the one that is written last
// counts, as with WireMock.
func TestTheLastIDHolds(t *testing.T) {
	const a, b = "aaaaaaaa-0000-4000-8000-000000000000", "bbbbbbbb-0000-4000-8000-000000000000"
	for mapping, want := range map[string]string{
		`{"id":"` + a + `","uuid":"` + b + `"}`: b,
		`{"uuid":"` + a + `","id":"` + b + `"}`: b,
		`{"uuid":"` + a + `","id":null}`:        a,
		`{"id":"` + a + `"}`:                    a,
	} {
		mappings, err := Parse([]byte(mapping), "stub.json", "testdata")
		if err != nil {
			t.Fatal(err)
		}
		if got := mappings[0].ID(); got != want {
			t.Errorf("%s: got %s", mapping, got)
		}
		if got := IDOf([]byte(mapping)); got != want {
			t.Errorf("IDOf %s: got %s", mapping, got)
		}
	}
}

// FuzzPlain holds that JSON stays as it is.
func FuzzPlain(f *testing.F) {
	f.Add([]byte(`{"a": "//", "b": "'/*", "c\"": [1]}`))
	f.Add([]byte("/* a */ {'b': 1} // c"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := plainJSON(data); json.Valid(data) && !bytes.Equal(got, data) {
			t.Errorf("%q became %q", data, got)
		}
	})
}
