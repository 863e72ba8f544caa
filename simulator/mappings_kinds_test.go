// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestMappingsLookIntoBodies holds that what mappings look for in bodies of every
// kind is found by Caddy's routes and on connections that were taken over, and that
// `templates on` renders what has no transformer.
func TestMappingsLookIntoBodies(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "__files"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"__files/one.txt": "{{request.pathSegments.[0]}}",
		"stubs.json": `[
			{"request":{"url":"/json","bodyPatterns":[{"matchesJsonPath":"$.items[?(@.id == '17')]"}]},"response":{"body":"{{#each (jsonPath request.body '$.items')}}{{id}}{{/each}}"}},
			{"request":{"url":"/xml","bodyPatterns":[{"matchesXPath":{"expression":"//item/@id","equalTo":"7"}}]},"response":{"body":"{{xPath request.body '//item/text()'}}"}},
			{"request":{"url":"/part","multipartPatterns":[{"bodyPatterns":[{"contains":"hello"}]}]},"response":{"body":"{{request.parts.f.body}}"}},
			{"request":{"urlPath":"/file"},"response":{"bodyFileName":"{{request.query.n}}.txt"}},
			{"request":{"urlPath":"/header"},"response":{"body":"{{lookup request.headers 'x-odd'}} {{#each request.headers}}{{#eq @key 'X-Odd'}}{{this}}{{/eq}}{{/each}}"}}]`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, url := serve(t, "simulator {", "mappings "+filepath.Join(folder, "stubs.json"), "templates on", "}")
	var packed, parts bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(`{"items":[{"id":17},{"id":3}]}`))
	_ = w.Close()
	form := multipart.NewWriter(&parts)
	_ = form.WriteField("f", "hello")
	_ = form.Close()
	for range 2 {
		for _, tc := range []struct {
			path, field, value, body, want string
		}{
			{"/json", "Content-Type", "application/json", `{"items":[{"id":17},{"id":3}]}`, "173"},
			{"/json", "Content-Encoding", "gzip", packed.String(), "173"},
			{"/xml", "Content-Type", "text/xml", `<a><item id="7">x</item></a>`, "x"},
			{"/part", "Content-Type", form.FormDataContentType(), parts.String(), "hello"},
			{"/file?n=one", "Accept", "*/*", "", "file"},
			{"/header", "X-Odd", "1", "", "1 1"},
		} {
			req, err := http.NewRequest(http.MethodPost, url+tc.path, bytes.NewReader([]byte(tc.body)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(tc.field, tc.value)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if status, body := read(t, resp); status != 200 || body != tc.want {
				t.Errorf("%s with %s: got %d %s", tc.path, tc.value, status, body)
			}
		}
	}
}

// TestWithoutBodyFile holds what clients get of a mapping whose body file is not there,
// whatever the mapping says beside it: that it fails, and not where the files are.
func TestWithoutBodyFile(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "__files"), 0o700); err != nil {
		t.Fatal(err)
	}
	stubs := filepath.Join(folder, "stubs.json")
	if err := os.WriteFile(stubs, []byte(`[
		{"request":{"urlPath":"/fixed"},"response":{"status":201,"bodyFileName":"none.txt","headers":{"X-Own":"a"}}},
		{"request":{"urlPath":"/rendered"},"response":{"bodyFileName":"{{request.query.n}}.txt"}},
		{"request":{"urlPath":"/fields"},"response":{"status":201,"bodyFileName":"{{request.query.n}}.txt","headers":{"X-Own":"{{request.method}}"}}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, url := serve(t, "simulator {", "admin", "mappings "+stubs, "templates on", "}")
	for range 2 { // the second time on a connection that express may have
		for _, path := range []string{"/fixed", "/rendered?n=none", "/fields?n=none"} {
			resp, err := http.Get(url + path)
			if err != nil {
				t.Fatal(err)
			}
			header := resp.Header
			if status, body := read(t, resp); status != 500 || body != "Not found in blob store: none.txt" ||
				header.Get("Content-Type") != "text/plain; charset=utf-8" || header.Get("X-Own") != "" {
				t.Errorf("%s: got %d %s with %v", path, status, body, header)
			}
		}
	}
	if _, body := get(t, url+"/_admin/current_count"); !strings.Contains(body, `{"500":6,`) {
		t.Errorf("counted as %s", body)
	}
}

// TestLargeHeaders holds that a mapping may have more header than clients care for, on
// each of the paths and versions, and that one which a template makes is bounded by what
// a request may cost.
func TestLargeHeaders(t *testing.T) {
	const size = 1 << 20
	addr, secure := caddytest.Addr(t), caddytest.Addr(t)
	lines := "simulator {\nmappings " + stubFile(t, `[
		{"request": {"url": "/fixed"}, "response": {"headers": {"X-Large": "`+strings.Repeat("x", size)+`", "X-Last": "1"}, "body": "a"}},
		{"request": {"url": "/made"}, "response": {"headers": {"X-Large": "{{#each (range 1 100000)}}`+strings.Repeat("x", 1000)+`{{/each}}"}, "transformers": ["response-template"]}}]`) + "\n}"
	caddytest.Run(t, "{\n skip_install_trust\n}\n"+site(addr, lines)+"https://"+secure+" {\n tls internal\n"+lines+"\n}")
	caddytest.AwaitTLS(t, secure)
	for name, tc := range map[string]struct {
		url   string
		proto int
	}{"HTTP/1.1": {"http://" + addr, 1}, "HTTP/2": {"https://" + secure, 2}} {
		transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the test's own server
		client := &http.Client{Transport: transport}
		for range 2 {
			resp, err := client.Get(tc.url + "/fixed")
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			large, last := len(resp.Header.Get("X-Large")), resp.Header.Get("X-Last")
			if status, body := read(t, resp); status != 200 || body != "a" || large != size || last != "1" || resp.ProtoMajor != tc.proto {
				t.Errorf("%s: got %s %d %s with %d bytes of a field, and %s behind it", name, resp.Proto, status, body, large, last)
			}
		}
		resp, err := client.Get(tc.url + "/made")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if status, _ := read(t, resp); status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: a header of 100 MB is answered with %d", name, status)
		}
		transport.CloseIdleConnections()
	}
}
