// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

func pack(t *testing.T, body []byte, encodings ...string) []byte {
	t.Helper()
	for _, encoding := range encodings {
		var packed bytes.Buffer
		var w io.WriteCloser
		switch encoding {
		case "gzip":
			w = gzip.NewWriter(&packed)
		case "zlib":
			w = zlib.NewWriter(&packed)
		case "flate":
			encoder, err := flate.NewWriter(&packed, flate.DefaultCompression)
			if err != nil {
				t.Fatal(err)
			}
			w = encoder
		case "br":
			w = brotli.NewWriter(&packed)
		case "zstd":
			encoder, err := zstd.NewWriter(&packed)
			if err != nil {
				t.Fatal(err)
			}
			w = encoder
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		body = packed.Bytes()
	}
	return body
}

func TestUnpack(t *testing.T) {
	text := []byte(strings.Repeat("a body of some length, ", 1000))
	var u Unpacker
	for range 2 { // the second time with readers that have been used
		for encoding, packings := range map[string][]string{
			"gzip": {"gzip"}, "X-GZIP": {"gzip"}, "br": {"br"}, "zstd": {"zstd"}, "": nil, "identity": nil,
			"gzip, br": {"gzip", "br"}, "zstd,identity , gzip": {"zstd", "gzip"}, "gzip, gzip": {"gzip", "gzip"},
			"deflate": {"zlib"}, "Deflate": {"flate"}, "deflate, gzip": {"flate", "gzip"}, "gzip,deflate": {"gzip", "zlib"},
		} {
			packed := pack(t, text, packings...)
			got, err := u.Unpack(make([]byte, 0, 100), packed, []byte(encoding), len(text))
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("%q: got %d bytes, error %v", encoding, len(got), err)
			}
			if len(packings) == 0 {
				continue
			}
			got, err = u.Unpack(nil, packed, []byte(encoding), len(text)-1)
			if !errors.Is(err, ErrTooLarge) || len(packings) == 1 && !bytes.Equal(got, text[:len(text)-1]) {
				t.Errorf("%q with a limit: got %d bytes, error %v", encoding, len(got), err)
			}
			got, err = u.Unpack(nil, packed[:len(packed)-1], []byte(encoding), len(text))
			if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.HasPrefix(text, got) {
				t.Errorf("%q, cut: got %d bytes, error %v", encoding, len(got), err)
			}
			if got, err := u.Unpack(nil, text, []byte(encoding), len(text)); err == nil || len(got) > 0 {
				t.Errorf("%q of what is not packed: got %d bytes, error %v", encoding, len(got), err)
			}
		}
	}
	for _, encoding := range []string{"compress", "gzip, compress", "gzip,gzip,gzip,gzip"} {
		if got, err := u.Unpack(nil, text, []byte(encoding), len(text)); !errors.Is(err, ErrUnknown) || got != nil {
			t.Errorf("%q: got %d bytes, error %v", encoding, len(got), err)
		}
	}
}

func TestLayersAreBoundedToo(t *testing.T) {
	var u Unpacker
	bomb := pack(t, make([]byte, 1<<20), "gzip", "gzip")
	if got, err := u.Unpack(nil, bomb, []byte("gzip, gzip"), 512); !errors.Is(err, ErrTooLarge) || got != nil {
		t.Errorf("got %d bytes, error %v", len(got), err)
	}
}
