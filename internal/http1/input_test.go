// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// quiet is for servers whose clients are expected to misbehave.
var quiet = log.New(io.Discard, "", 0)

// from reads what a reader brings as if it came over a connection.
type from struct {
	net.Conn
	io.Reader
}

func (f from) Read(p []byte) (int, error) { return f.Reader.Read(p) }

// readHead reads one head and returns what follows it.
func readHead(r io.Reader) (h head, in *input, err error) {
	in = newInput(from{Reader: r})
	if _, err := in.br.Peek(1); err != nil {
		return h, in, err
	}
	raw, err := in.peekHead()
	if err == nil {
		err = h.parse(raw)
		in.discard(len(raw))
	}
	return h, in, err
}

// However a head comes in, it ends at its empty line.
func TestHeadsInPieces(t *testing.T) {
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n",
		"HTTP/1.1 200 OK\nContent-Length: 7\n\n",
		"HTTP/1.1 200 OK\nContent-Length: 7\r\n\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 7\n\r\n",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*readBuffer) + "\nContent-Length: 7\n\n",
	} {
		h, in, err := readHead(iotest.OneByteReader(strings.NewReader(text + "\n\nbody.")))
		if err != nil || h.status != 200 || h.length != 7 {
			t.Errorf("%.60q: status %d, length %d, error %v", text, h.status, h.length, err)
		}
		if rest, _ := io.ReadAll(in.br); string(rest) != "\n\nbody." {
			t.Errorf("%.60q: %q follows", text, rest)
		}
	}
}

func TestFieldOf(t *testing.T) {
	for name, want := range map[string]Field{
		"Host": Host, "hOST": Host, "Content-Length": ContentLength, "content-length": ContentLength, "TRANSFER-ENCODING": TransferEncoding,
		"Trailer": Trailer, "Connection": Connection, "Keep-Alive": HopByHop, "Proxy-Connection": HopByHop, "Upgrade": HopByHop, "HTTP2-Settings": HopByHop,
		"te": TE, "Expect": Expect, "Proxy-Authenticate": Proxy, "Proxy-Authorization": Proxy,
		"": EndToEnd, "Hosts": EndToEnd, "Trailor": EndToEnd, "Content_Length": EndToEnd, "X": EndToEnd, "Content-Length\x00": EndToEnd, "\xc8ost": EndToEnd,
	} {
		if got := FieldOf(name); got != want {
			t.Errorf("%q is %d, want %d", name, got, want)
		}
		if got := FieldOf([]byte(name)); got != want {
			t.Errorf("%q is %d, want %d, as bytes", name, got, want)
		}
	}
}

func TestHasBody(t *testing.T) {
	for _, tc := range []struct {
		method string
		status int
		want   bool
	}{
		{"GET", 200, true},
		{"GET", 404, true},
		{"POST", 999, true},
		{"head", 200, true},
		{"CONNECT", 404, true},
		{"GET", 100, false},
		{"GET", 101, false},
		{"GET", 204, false},
		{"GET", 304, false},
		{"HEAD", 200, false},
		{"HEAD", 404, false},
		{"CONNECT", 200, false},
	} {
		if got := HasBody(tc.method, tc.status); got != tc.want {
			t.Errorf("%s, %d: got %v", tc.method, tc.status, got)
		}
	}
}

// FuzzHead holds that a head is read alike whether it comes at once or byte by
// byte, that nothing behind it is awaited, that what is there stays, and that
// net/http, where it takes a response, reads the same one.
func FuzzHead(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nbody"))
	f.Add([]byte("HTTP/1.1 200 OK\nA: b\n c\n\r\nbody"))
	f.Add([]byte("HTTP/1.0 304\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		waits := errors.New("more was awaited")
		whole, restOfWhole, errWhole := readHead(io.MultiReader(bytes.NewReader(data), iotest.ErrReader(waits)))
		pieces, restOfPieces, errPieces := readHead(iotest.OneByteReader(bytes.NewReader(data)))
		if (errWhole == nil) != (errPieces == nil) || errWhole == nil && whole.length != pieces.length {
			t.Fatalf("at once: %+v %v; byte by byte: %+v %v", whole, errWhole, pieces, errPieces)
		}
		if errWhole != nil {
			if errors.Is(errWhole, waits) && endOfHead(data, 0) > 0 {
				t.Fatal("the head is whole, but more was awaited")
			}
			return
		}
		rest, _ := io.ReadAll(restOfWhole.br)
		others, _ := io.ReadAll(restOfPieces.br)
		if !bytes.Equal(rest, others) || len(rest) == len(data) {
			t.Fatalf("%q and %q follow", rest, others)
		}
		stricter, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), nil)
		if err != nil {
			return
		}
		stricter.Body.Close()
		if whole.status != stricter.StatusCode {
			t.Fatalf("status %d, net/http reads %d", whole.status, stricter.StatusCode)
		}
		chunked := len(stricter.TransferEncoding) > 0
		if HasBody("GET", whole.status) && whole.minor == 1 && (chunked != whole.chunked || !chunked && !whole.encoded && stricter.ContentLength != whole.length) {
			t.Fatalf("got %+v, net/http reads length %d, chunked %v", whole, stricter.ContentLength, chunked)
		}
	})
}

// FuzzExchange holds that whatever a server sends, an exchange ends when it
// does, and that what was captured is within what came.
func FuzzExchange(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"), int64(2), 3)
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n"), int64(0), 2)
	f.Add([]byte("HTTP/1.1 103 Go\r\n\r\nHTTP/1.0 200 OK\n\nbody"), int64(9), 0)
	f.Fuzz(func(t *testing.T, data []byte, limit int64, kept int) {
		if limit < 0 || kept < 0 {
			return
		}
		var resp, without Response
		capture := &Capture{MaxBody: kept}
		req := &Request{Head: page.Head, MaxBody: limit}
		in := newInput(from{Reader: bytes.NewReader(data)})
		err := in.response(&resp, req, capture)
		errWithout := newInput(from{Reader: bytes.NewReader(data)}).response(&without, req, nil)
		if resp != without || (err == nil) != (errWithout == nil) {
			t.Fatalf("captured: %+v %v; dropped: %+v %v", resp, err, without, errWithout)
		}
		if limit > 0 && resp.BodySize > limit || len(capture.Body) > kept || int64(len(capture.Body)) > resp.BodySize ||
			int64(len(capture.Body)) < min(resp.BodySize, int64(kept)) || len(capture.Head)+len(capture.Body)+len(capture.Trailers) > len(data) {
			t.Fatalf("%+v, %d bytes of the body were kept of %d", resp, len(capture.Body), kept)
		}
	})
}

func BenchmarkReadHead(b *testing.B) {
	text := []byte("HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\nDate: Mon, 30 Nov 2026 17:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 100\r\nConnection: keep-alive\r\n\r\n")
	source := bytes.NewReader(text)
	b.ReportAllocs()
	for b.Loop() {
		source.Reset(text)
		_, in, err := readHead(source)
		if err != nil {
			b.Fatal(err)
		}
		in.release()
	}
}
