// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func headOf(r io.Reader) *http1 {
	c := &http1{br: bufio.NewReaderSize(r, readBuffer)}
	c.head.DisableNormalizing()
	return c
}

// However a head comes in, it ends at its empty line.
func TestHeadsInPieces(t *testing.T) {
	for _, head := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n",
		"HTTP/1.1 200 OK\nContent-Length: 7\n\n",
		"HTTP/1.1 200 OK\nContent-Length: 7\r\n\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 7\n\r\n",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*readBuffer) + "\nContent-Length: 7\n\n",
	} {
		c := headOf(iotest.OneByteReader(strings.NewReader(head + "\n\nbody.")))
		_, err := c.readHead(false)
		if err != nil || c.head.StatusCode() != 200 || c.head.ContentLength() != 7 {
			t.Errorf("%.60q: status %d, length %d, error %v", head, c.head.StatusCode(), c.head.ContentLength(), err)
		}
		if rest, _ := io.ReadAll(c.br); string(rest) != "\n\nbody." {
			t.Errorf("%.60q: %q follows", head, rest)
		}
	}
}

// FuzzReadHead holds that a head is read alike whether it comes at once or byte
// by byte, that nothing behind it is awaited, and that what is there stays.
func FuzzReadHead(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nbody"))
	f.Add([]byte("HTTP/1.1 200 OK\nA: b\n c\n\r\nbody"))
	f.Add([]byte("HTTP/1.0 304\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r"))
	f.Fuzz(func(t *testing.T, data []byte) {
		waits := errors.New("more was awaited")
		whole := headOf(io.MultiReader(bytes.NewReader(data), iotest.ErrReader(waits)))
		pieces := headOf(iotest.OneByteReader(bytes.NewReader(data)))
		closesWhole, errWhole := whole.readHead(false)
		closesPieces, errPieces := pieces.readHead(false)
		if (errWhole == nil) != (errPieces == nil) || closesWhole != closesPieces && errWhole == nil {
			t.Fatalf("at once: %v %v; byte by byte: %v %v", closesWhole, errWhole, closesPieces, errPieces)
		}
		if errWhole != nil {
			if errors.Is(errWhole, waits) && endOfHead(data, 0) > 0 {
				t.Fatal("the head is whole, but more was awaited")
			}
			return
		}
		rest, _ := io.ReadAll(whole.br)
		others, _ := io.ReadAll(pieces.br)
		if !bytes.Equal(rest, others) || len(rest) == len(data) {
			t.Fatalf("%q and %q follow", rest, others)
		}
		if stricter, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), nil); err == nil {
			stricter.Body.Close()
			if got := whole.head.StatusCode(); got != stricter.StatusCode && stricter.StatusCode > 0 {
				t.Fatalf("status %d, net/http reads %d", got, stricter.StatusCode)
			}
		}
	})
}

func BenchmarkReadHead(b *testing.B) {
	head := []byte("HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\nDate: Mon, 30 Nov 2026 17:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 100\r\nConnection: keep-alive\r\n\r\n")
	from := bytes.NewReader(head)
	c := headOf(from)
	b.ReportAllocs()
	for b.Loop() {
		from.Reset(head)
		c.br.Reset(from)
		if _, err := c.readHead(false); err != nil {
			b.Fatal(err)
		}
	}
}
