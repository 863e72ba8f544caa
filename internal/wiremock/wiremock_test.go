// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
)

// record takes the answers of a real WireMock for the expected ones:
//
//	java -jar wiremock-standalone.jar --port 8080 --root-dir internal/wiremock/testdata --disable-gzip
//	go test ./internal/wiremock -run LikeWireMock -wiremock 127.0.0.1:8080
var record = flag.String("wiremock", "", "address of a WireMock with testdata as its root, whose answers become the expected ones")

// exchange is a line of testdata/requests.json and of testdata/answers.json.
type exchange struct {
	Method  string      `json:"method"`
	Target  string      `json:"target"`
	Headers [][2]string `json:"headers,omitempty"`
	Body    string      `json:"body,omitempty"`
	Base64  string      `json:"base64,omitempty"` // instead of Body
}

type expectation struct {
	Status    int         `json:"status"`
	Unmatched bool        `json:"unmatched,omitempty"`
	Header    http.Header `json:"header,omitempty"`
	Body      string      `json:"body,omitempty"`
}

// TestAnswersLikeWireMock holds that every request of a table gets the answer
// that WireMock 3.13 gave to it.
func TestAnswersLikeWireMock(t *testing.T) {
	var requests []exchange
	readLines(t, "testdata/requests.json", &requests)
	if *record != "" {
		recordAnswers(t, requests)
	}
	var expected []expectation
	readLines(t, "testdata/answers.json", &expected)
	if len(requests) != len(expected) {
		t.Fatalf("%d requests, %d answers", len(requests), len(expected))
	}
	mappings, err := Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	set := NewSet(mappings)
	for i, e := range requests {
		got := answer(t, set, e)
		if e.Method == http.MethodHead {
			got.Body = ""
		}
		want, _ := json.Marshal(expected[i])
		if have, _ := json.Marshal(got); !bytes.Equal(have, want) {
			t.Errorf("%s %s %v %s\ngot  %s\nwant %s", e.Method, e.Target, e.Headers, e.Body, have, want)
		}
	}
}

// newRequest makes the request that a server would make of an exchange.
func newRequest(e exchange) *Request {
	header := make(http.Header)
	r := &Request{Method: e.Method, Target: e.Target, Host: "localhost", Scheme: "http", Header: header}
	for _, line := range e.Headers {
		if line[0] == "Host" {
			r.Host = line[1]
		} else {
			header.Add(line[0], line[1])
		}
	}
	r.ReadBody = func() ([]byte, error) { return []byte(e.Body), nil }
	return r
}

func answer(t *testing.T, set *Set, e exchange) expectation {
	t.Helper()
	r := newRequest(e)
	m, err := set.Match(r)
	if err != nil {
		t.Fatal(err)
	}
	if m == nil {
		return expectation{Status: http.StatusNotFound, Unmatched: true}
	}
	a, err := m.Respond(r)
	if err != nil {
		t.Fatal(err)
	}
	got := expectation{Status: a.Status, Body: string(a.Body), Header: make(http.Header)}
	for _, f := range a.Header {
		got.Header.Add(f.Name, f.Value)
	}
	return got
}

func readLines(t *testing.T, path string, target any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, target)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func recordAnswers(t *testing.T, requests []exchange) {
	t.Helper()
	var lines []string
	for _, e := range requests {
		line, err := json.Marshal(askWireMock(t, *record, e))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	text := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	if err := os.WriteFile("testdata/answers.json", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func askWireMock(t *testing.T, addr string, e exchange) expectation {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	host := "localhost"
	var fields strings.Builder
	for _, line := range e.Headers {
		if line[0] == "Host" {
			host = line[1]
		} else {
			fmt.Fprintf(&fields, "%s: %s\r\n", line[0], line[1])
		}
	}
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n%s",
		e.Method, e.Target, host, len(e.Body), fields.String(), e.Body)
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: e.Method})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := expectation{Status: response.StatusCode, Body: string(body), Header: response.Header}
	if got.Status == http.StatusNotFound && got.Header.Get("Matched-Stub-Id") == "" {
		return expectation{Status: http.StatusNotFound, Unmatched: true}
	}
	for _, name := range []string{"Matched-Stub-Id", "Matched-Stub-Name", "Connection", "Content-Length", "Transfer-Encoding"} {
		got.Header.Del(name)
	}
	return got
}

// parsePattern reads a condition that stands alone.
func parsePattern(path string, data json.RawMessage) (pattern, error) {
	return (&fields{odd: new([]error)}).patternIn(path, data)
}
