// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// play makes a scenario of recipes in JSON.
func play(t testing.TB, text string) *Scenario {
	t.Helper()
	var list recipe.List
	if text != "" {
		list = parse(t, text)
	}
	s, err := New(t.Name(), list, Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Destruct() })
	return s
}

func parse(t testing.TB, text string) recipe.List {
	t.Helper()
	list, err := recipe.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// ask returns the response to a GET of a path, which must have a route.
func ask(t testing.TB, s *Scenario, path string) response.Response {
	t.Helper()
	a, found := s.Decide(Request{Method: "GET", Path: path})
	if !found {
		t.Fatalf("no route takes %s", path)
	}
	return a
}

func bodyOf(a response.Response) string {
	return string(bytes.Join(a.Content.Parts, nil))
}

func unzip(t testing.TB, a response.Response) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(bytes.Join(a.Content.Parts, nil)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// field returns the first line of a header field.
func field(a response.Response, name string) string {
	for _, f := range a.Fields {
		if f.Name == name {
			return f.Values[0]
		}
	}
	return ""
}
