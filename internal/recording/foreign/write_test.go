// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// samples are requests with all that a record can have.
func samples() []*recording.Request {
	return []*recording.Request{
		{
			ID: []byte("one"), Method: []byte("POST"), URI: []byte("/a%2Fb//c?x=1;&y=+"), Scheme: []byte("https"), Host: []byte("shop.test"), Proto: []byte("HTTP/1.1"),
			Headers: []byte("Host: shop.test\r\nX-Tag: two\r\nx-tag: one\r\nContent-Length: 19\r\nX-Empty: \r\n"), Body: []byte("\x00\xff\n🐵🙈🙉\n<b>"), BodySize: 19,
			TimeNS: 1_800_000_000_123_456_789, Remote: []byte("[::1]:99"),
			Response: &recording.Response{Status: 201, Headers: []byte("Server: x\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 4\r\n"), Body: []byte("täl"), BodySize: 4, DurationNS: 1_234_567},
		},
		{
			ID: []byte("two"), Method: []byte("PUT"), URI: []byte("/cut"), Scheme: []byte("http"), Host: []byte("shop.test"), Proto: []byte("HTTP/1.1"),
			Headers: []byte("Host: shop.test\r\nContent-Length: 100\r\n"), Body: []byte("beginning"), BodySize: 100, TimeNS: 1_800_000_001_000_000_000,
		},
		{
			ID: []byte("three"), Method: []byte("POST"), URI: []byte("/chunks"), Scheme: []byte("http"), Host: []byte("shop.test"), Proto: []byte("HTTP/1.1"),
			Headers: []byte("Host: shop.test\r\nTransfer-Encoding: chunked\r\n"), Body: []byte("abc"), BodySize: 3, TimeNS: 1_800_000_002_000_000_000,
			Trailers: []byte("X-Sum: 7\r\n"), Error: []byte("broke off"),
			Response: &recording.Response{Status: 502, Headers: []byte("X-Odd: \xe9\r\n"), Error: []byte("cut"), DurationNS: 5},
		},
	}
}

// roundTrip writes the samples in a form and reads them again.
func roundTrip(t *testing.T, form func(io.Writer) Writer) (got []*recording.Request, losses []string) {
	t.Helper()
	var out bytes.Buffer
	w := form(&out)
	for _, r := range samples() {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, skips := decode(t, out.Bytes())
	if skips.Total() > 0 {
		t.Fatalf("left out: %v\n%s", skips.New(), out.Bytes())
	}
	return got, w.Losses().Each()
}

// plain returns a record without what tells empty from none.
func plain(r *recording.Request) recording.Request {
	c := *r
	for _, b := range []*[]byte{&c.ID, &c.Body, &c.Scheme, &c.Host, &c.Proto, &c.Remote, &c.Trailers, &c.Error} {
		if len(*b) == 0 {
			*b = nil
		}
	}
	if c.Response != nil {
		a := *c.Response
		for _, b := range []*[]byte{&a.Headers, &a.Body, &a.Trailers, &a.Error} {
			if len(*b) == 0 {
				*b = nil
			}
		}
		c.Response = &a
	}
	return c
}

// Every form keeps all bytes, and says of what it cannot keep.
func TestRoundTripsKeepWhatTheFormHolds(t *testing.T) {
	noUnpack := func([]byte, []byte) ([]byte, error) { return nil, errors.New("not packed") }
	for name, tc := range map[string]struct {
		form   func(io.Writer) Writer
		lose   func(r *recording.Request)
		losses []string
	}{
		"JSON lines": {NewJSONWriter, func(*recording.Request) {}, []string{}},
		"HAR": {func(w io.Writer) Writer { return NewHARWriter(w, noUnpack) }, func(r *recording.Request) {
			r.Trailers, r.Error = nil, nil
			if r.Response != nil {
				r.Response.Error = nil
				r.Response.Headers = bytes.ReplaceAll(r.Response.Headers, []byte("\xe9"), []byte("\uFFFD"))
			}
		}, []string{"1 answers had not come whole", "1 answers have header fields with bytes that are no text", "1 requests had not come whole", "1 requests had trailers"}},
		"GoReplay": {NewGorWriter, func(r *recording.Request) {
			r.Scheme, r.Remote, r.Error = nil, nil, nil
			if r.Response != nil {
				r.Response.Error = nil
			}
		}, []string{
			"1 answers had not come whole", "1 requests came over TLS, which the form does not say", "1 requests had not come whole",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			want := samples()
			got, losses := roundTrip(t, tc.form)
			if len(got) != len(want) {
				t.Fatalf("%d records", len(got))
			}
			for i := range got {
				tc.lose(want[i])
				if a, b := plain(got[i]), plain(want[i]); !reflect.DeepEqual(a, b) {
					t.Errorf("got\n%q %+v\nwant\n%q %+v", show(&a), a, show(&b), b)
				}
			}
			if !slices.Equal(losses, tc.losses) {
				t.Errorf("losses:\n%s", strings.Join(losses, "\n"))
			}
		})
	}
}

func TestAnswersAreUnpackedForHAR(t *testing.T) {
	var out bytes.Buffer
	w := NewHARWriter(&out, func(body, encoding []byte) ([]byte, error) {
		return append(append([]byte("un"), encoding...), body...), nil
	})
	r := samples()[0]
	r.Response.Headers = []byte("Content-Encoding: gzip\r\nContent-Length: 4\r\n")
	if err := errors.Join(w.Write(r), w.Close()); err != nil {
		t.Fatal(err)
	}
	got, _ := decode(t, out.Bytes())
	if a := got[0].Response; string(a.Body) != "ungziptäl" || string(a.Headers) != "Content-Length: 10\r\n" || a.Truncated() {
		t.Errorf("got %q %q", a.Headers, a.Body)
	}
	if losses := w.Losses().Each(); !slices.Equal(losses, []string{"1 answers are unpacked"}) {
		t.Errorf("losses %v", losses)
	}
}

// HAR asks for a time, so that what has none is told of.
func TestHARTellsOfRequestsWithoutATime(t *testing.T) {
	w := NewHARWriter(io.Discard, nil)
	for _, at := range []int64{0, 1796051592000000000} {
		if err := w.Write(&recording.Request{TimeNS: at, Method: []byte("GET"), URI: []byte("/"), Headers: []byte("Host: shop.test\r\n")}); err != nil {
			t.Fatal(err)
		}
	}
	if losses := w.Losses().Each(); !slices.Equal(losses, []string{"1 requests had no time, which HAR asks for"}) {
		t.Errorf("losses %v", losses)
	}
}
