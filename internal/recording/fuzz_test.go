// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// FuzzReader feeds any bytes: no panic, and no more memory than the input
// can fill.
func FuzzReader(f *testing.F) {
	f.Add(encode(samples()...))
	f.Add(compress(f, encode(samples()...), lz4.Block64Kb))
	files, _ := filepath.Glob("testdata/adobe/*")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		r := NewReader(bytes.NewReader(input))
		for {
			request, err := r.Next()
			if err != nil {
				if request != nil {
					t.Error("a record beside an error")
				}
				break
			}
			for range EachField(request.Headers) {
				continue
			}
			clone(request)
		}
		// 255 bytes from one is the most that LZ4 makes of anything
		if limit := firstStep + 2*256*len(input); cap(r.buffer) > limit {
			t.Errorf("took %d bytes of memory for %d bytes of input", cap(r.buffer), len(input))
		}
	})
}

// FuzzRecord feeds any FlatBuffer, past the length before it.
func FuzzRecord(f *testing.F) {
	for _, r := range samples() {
		f.Add(encode(r)[prefixSize:])
	}
	f.Fuzz(func(_ *testing.T, record []byte) {
		if verify(record) != nil {
			return
		}
		r := Reader{buffer: record}
		r.decode()
		clone(&r.request)
	})
}

// FuzzEncoder encodes any request and reads it back.
func FuzzEncoder(f *testing.F) {
	f.Add([]byte("1"), []byte("GET"), []byte("/"), []byte("Host: h\r\n"), []byte("body"), []byte(""), int64(1), uint64(2), 200)
	f.Fuzz(func(t *testing.T, id, method, uri, headers, body, other []byte, time int64, size uint64, status int) {
		lines := func(text []byte) []byte { return append(bytes.Clone(text), "\r\n"...) }
		headers = lines(headers)
		want := &Request{
			ID: id, Method: method, URI: uri, Headers: headers, Body: body, TimeNS: time, BodySize: size,
			Scheme: other, Host: uri, Proto: method, Remote: id, Trailers: headers, Error: other,
		}
		if status > 0 && status < 1<<16 {
			want.Response = &Response{
				Status: status, Headers: lines(other), Body: body, BodySize: size, Trailers: uri, DurationNS: time, Error: id,
			}
		}
		got, err := readAll(bytes.NewReader(encode(want, want)))
		if err != io.EOF || len(got) != 2 {
			t.Fatalf("got %d records and error %v", len(got), err)
		}
		if want = normal(want); !reflect.DeepEqual(got[1], want) {
			t.Errorf("got %+v, want %+v", got[1], want)
		}
	})
}
