// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// clone copies what a Reader lends.
func clone(r *Request) *Request {
	c := *r
	for _, field := range byteFields(&c) {
		*field = append([]byte(nil), *field...)
	}
	if r.Response != nil {
		answer := *r.Response
		for _, field := range []*[]byte{&answer.Headers, &answer.Body, &answer.Trailers, &answer.Error} {
			*field = append([]byte(nil), *field...)
		}
		c.Response = &answer
	}
	return &c
}

func byteFields(r *Request) []*[]byte {
	return []*[]byte{
		&r.ID, &r.Method, &r.URI, &r.Headers, &r.Body, &r.Scheme, &r.Host, &r.Proto, &r.Remote, &r.Trailers, &r.Error,
	}
}

// readAll returns all whole records and the error that ended reading.
func readAll(in io.Reader) ([]*Request, error) {
	r := NewReader(in)
	var all []*Request
	for {
		request, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, clone(request))
	}
}

// mustReadAll fails the test unless the recording is whole.
func mustReadAll(t testing.TB, in io.Reader) []*Request {
	t.Helper()
	all, err := readAll(in)
	if err != io.EOF {
		t.Fatalf("reading the recording: %v", err)
	}
	return all
}

// encode returns a plain recording.
func encode(requests ...*Request) []byte {
	var e Encoder
	var plain []byte
	for _, r := range requests {
		plain = e.Append(plain, r)
	}
	return plain
}

// compress puts a recording into one LZ4 frame with block checksums.
func compress(t testing.TB, plain []byte, blocks lz4.BlockSize) []byte {
	t.Helper()
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	if err := w.Apply(lz4.BlockChecksumOption(true), lz4.ChecksumOption(false), lz4.BlockSizeOption(blocks)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// everyByte has all the bytes there are, and what could be taken for a mark of the format.
func everyByte() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return append(all, "\r\n\r\n\x00\x00\x04\x22\x4d\x18\xff\xff\xff\xff\xff\xff\xff\x7f\xf0\x9f\x98\x80"...)
}

// samples are requests with and without each field.
func samples() []*Request {
	return []*Request{
		{
			ID: []byte("order-17"), Method: []byte("POST"), URI: []byte("/orders?a=1;b=%2F&c"),
			Headers: []byte("Host: shop.test\r\nX-Tag: one\r\nX-Tag: two\r\nX-Latin: \xe9\r\n"), Body: everyByte(),
			TimeNS: 1796051592983829235, Scheme: []byte("https"), Host: []byte("shop.test"), Proto: []byte("HTTP/1.1"),
			Remote: []byte("[::1]:4242"), BodySize: 1 << 40, Trailers: []byte("X-Sum: 9\r\n"), Error: []byte("client broke off"),
			Response: &Response{
				Status: 503, Headers: []byte("Retry-After: 1\r\n"), Body: []byte("Error 503"), BodySize: 9,
				Trailers: []byte("X-End: 1\r\n"), DurationNS: 70_000_000, Error: []byte("upstream broke off"),
			},
		},
		{Method: []byte("GET"), URI: []byte("*"), Headers: []byte("Host: h\r\n")},
		{},
		{Body: []byte("x"), BodySize: 1, Response: &Response{}},
		{ID: []byte("1"), Response: &Response{Status: 200}},
	}
}

// normal makes nil and empty the same.
func normal(r *Request) *Request { return clone(r) }

func TestWhatIsEncodedIsReadBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	requests := samples()
	for size := range 70 { // every padding
		requests = append(requests, &Request{
			ID: make([]byte, random.IntN(40)), Method: []byte("PUT"), URI: make([]byte, size), Body: make([]byte, random.IntN(9000)),
			Trailers: make([]byte, random.IntN(5)), TimeNS: random.Int64(), Response: &Response{Headers: append(make([]byte, random.IntN(5)), "\r\n"...), BodySize: random.Uint64()},
		})
	}
	plain := encode(requests...)
	inputs := map[string][]byte{
		"plain":        plain,
		"one frame":    compress(t, plain, lz4.Block64Kb),
		"large blocks": compress(t, plain, lz4.Block4Mb),
		"two frames":   slices.Concat(compress(t, plain[:1000], lz4.Block64Kb), compress(t, plain[1000:], lz4.Block256Kb)),
	}
	for name, input := range inputs {
		got := mustReadAll(t, bytes.NewReader(input))
		if len(got) != len(requests) {
			t.Fatalf("%s: got %d records, want %d", name, len(got), len(requests))
		}
		for i := range got {
			if want := normal(requests[i]); !reflect.DeepEqual(got[i], want) {
				t.Errorf("%s: record %d: got %+v, want %+v", name, i, got[i], want)
			}
		}
	}
}

func TestAppendAddsToWhatIsThere(t *testing.T) {
	var e Encoder
	r := samples()[0]
	got := e.Append([]byte("before"), r)
	if !bytes.Equal(got, append([]byte("before"), encode(r)...)) {
		t.Error("a record differs by what stands before it")
	}
}

func TestSizeIsWhatAppendAdds(t *testing.T) {
	requests := samples()
	for size := range 20 {
		requests = append(requests, &Request{URI: make([]byte, size), Response: &Response{Headers: make([]byte, size/3)}})
	}
	for i, r := range requests {
		if got, want := Size(r), len(encode(r)); got != want {
			t.Errorf("record %d: got %d, want %d", i, got, want)
		}
	}
}

func TestEncoderAllocatesNothing(t *testing.T) {
	var e Encoder
	r := samples()[0]
	memory := make([]byte, 0, 64<<10)
	if n := testing.AllocsPerRun(100, func() { memory = e.Append(memory[:0], r) }); n != 0 {
		t.Errorf("got %v allocations for a record, want none", n)
	}
}

func TestTruncated(t *testing.T) {
	for _, tc := range []struct {
		size uint64
		body string
		want bool
	}{{0, "", false}, {0, "abc", false}, {3, "abc", false}, {4, "abc", true}} {
		r := Request{Body: []byte(tc.body), BodySize: tc.size}
		answer := Response{Body: []byte(tc.body), BodySize: tc.size}
		if r.Truncated() != tc.want || answer.Truncated() != tc.want {
			t.Errorf("%d bytes sent, %q kept: truncated is %v and %v, want %v", tc.size, tc.body, r.Truncated(), answer.Truncated(), tc.want)
		}
	}
}

func TestEachField(t *testing.T) {
	lines := http1.AppendField(nil, "Host", "shop.test")
	lines = http1.AppendField(lines, "X-Empty", "")
	lines = append(lines, "X-Tight:1\r\nX-Colon: a:b: c \r\nOdd\r\n\r\n"...)
	var got []string
	for name, value := range EachField(lines) {
		got = append(got, string(name)+"="+string(value))
	}
	want := []string{"Host=shop.test", "X-Empty=", "X-Tight=1", "X-Colon=a:b: c ", "Odd="}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for name := range EachField(lines) {
		if string(name) == "Host" {
			break
		}
		t.Errorf("went on to %q after a break", name)
	}
}

func BenchmarkAppend(b *testing.B) {
	var e Encoder
	r := samples()[0]
	r.Body = make([]byte, 2048)
	memory := make([]byte, 0, 64<<10)
	b.ReportAllocs()
	for b.Loop() {
		memory = e.Append(memory[:0], r)
	}
	b.SetBytes(int64(len(memory)))
}

func BenchmarkNext(b *testing.B) {
	r := samples()[0]
	r.Body = make([]byte, 2048)
	for i := range r.Body {
		r.Body[i] = byte(rand.Uint32())
	}
	var plain []byte
	for range 1000 {
		plain = append(plain, encode(r)...)
	}
	for name, input := range map[string][]byte{"plain": plain, "lz4": compress(b, plain, lz4.Block256Kb)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(plain) / 1000))
			b.ReportAllocs()
			reader := NewReader(bytes.NewReader(input))
			for b.Loop() {
				_, err := reader.Next()
				if err == io.EOF {
					reader = NewReader(bytes.NewReader(input))
				} else if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
