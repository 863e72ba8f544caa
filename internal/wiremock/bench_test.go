// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"net/http"
	"testing"
)

const benchOrder = `{"items":[{"sku":"teapot","quantity":2},{"sku":"kettle","quantity":1}],"customer":{"id":7,"name":"Ada"}}`

// BenchmarkAnswer measures finding and making an answer with the mappings of
// the example, which are those that others were measured with, and with many.
func BenchmarkAnswer(b *testing.B) {
	static, dynamic := loadSet(b, "../../examples/wiremock/static"), loadSet(b, "../../examples/wiremock/dynamic")
	few, many := parse(b, manyMappings(10)), parse(b, manyMappings(2500))
	for _, bc := range []struct {
		name, method, target, body string
		set                        *Set
	}{
		{"22 fixed", "GET", "/products/1", "", static},
		{"102 template", "GET", "/greeting?name=Ada", "", dynamic},
		{"102 query and JSON", "POST", "/orders?currency=EUR", benchOrder, dynamic},
		{"40 url", "GET", "/exact/5", "", few},
		{"40 path", "GET", "/path/5?x=1", "", few},
		{"40 pattern", "GET", "/pattern/5/z", "", few},
		{"40 template of a path", "GET", "/v1/template/5/z", "", few},
		{"10,000 url", "GET", "/exact/1500", "", many},
		{"10,000 path", "GET", "/path/1500?x=1", "", many},
		{"10,000 pattern", "GET", "/pattern/1500/z", "", many},
		{"10,000 template of a path", "GET", "/v1/template/1500/z", "", many},
	} {
		b.Run(bc.name, func(b *testing.B) {
			header, body := make(http.Header), []byte(bc.body)
			readBody := func() ([]byte, error) { return body, nil }
			b.ReportAllocs()
			for b.Loop() {
				r := Request{Method: bc.method, Target: bc.target, Header: header, ReadBody: readBody}
				m, err := bc.set.Match(&r)
				if m == nil || err != nil {
					b.Fatal(m, err)
				}
				if _, err := m.Respond(&r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkClosest measures a request that none of many mappings takes.
func BenchmarkClosest(b *testing.B) {
	set := parse(b, manyMappings(2000))
	b.ReportAllocs()
	for b.Loop() {
		r := Request{Method: "GET", Target: "/exact/1500x"}
		if m, _ := set.Match(&r); m != nil {
			b.Fatal(m)
		}
		set.Closest(&r)
	}
}

func loadSet(b *testing.B, path string) *Set {
	b.Helper()
	mappings, err := Load(path)
	if err != nil {
		b.Fatal(err)
	}
	return NewSet(mappings)
}
