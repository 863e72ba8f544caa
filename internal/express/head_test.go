// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// FuzzHead holds that net/http accepts every head that parse accepts, and reads
// the same in it.
func FuzzHead(f *testing.F) {
	for _, request := range oddRequests {
		f.Add(request)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		end := strings.Index(raw, "\r\n\r\n")
		if end < 0 {
			return
		}
		var h Head
		if !h.parse(raw[:end+4]) {
			return
		}
		in := bufio.NewReader(strings.NewReader(raw[:end+4]))
		r, err := http.ReadRequest(in)
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", raw, err)
		}
		if r.Method != h.Method || r.RequestURI != h.Target || r.URL.Path != h.Path || r.URL.RawQuery != h.Query ||
			r.Host != h.Host || r.ContentLength != h.Length || r.Close != h.close || r.Proto != "HTTP/1.1" {
			t.Errorf("%q is read as %+v, by net/http as %+v", raw, h, r)
		}
		for _, field := range h.Fields {
			if field.Name != "Host" && !strings.EqualFold(field.Name, "Host") && !has(r.Header, field) {
				t.Errorf("%q: field %+v is not in %v", raw, field, r.Header)
			}
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("%q: net/http stopped before its end", raw)
		}
	})
}

func has(header http.Header, field Field) bool {
	return slices.Contains(header.Values(field.Name), field.Value)
}
