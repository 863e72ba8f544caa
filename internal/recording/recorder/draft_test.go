// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// endless is a reader of so many bytes.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	e.left -= n
	return int(n), nil
}

// only returns the one record in the directory.
func only(t *testing.T, dir string) *recording.Request {
	t.Helper()
	f, err := recording.OpenFile(filepath.Join(dir, filesIn(t, dir)[0]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	got, err := f.Next()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestBodyIsKeptUpToALimit(t *testing.T) {
	for _, tc := range []struct{ limit, size int64 }{
		{1, 0}, {1, 1}, {1, 2}, {4096, 4096}, {4097, 4097}, {5000, 4999}, {5000, 5001}, {65536, 65537}, {1 << 20, 40 << 20}, {16 << 20, 5 << 20},
	} {
		o := testOptions(t.TempDir())
		o.MaxBody = units.Size(tc.limit)
		r := New(o, newWitness())
		if err := add(context.Background(), r, "1", &endless{tc.size}); err != nil {
			t.Error(err)
		}
		if waiting := r.Waiting(); waiting > 2*tc.limit+1000 {
			t.Errorf("limit %d, %d sent: %d bytes are taken", tc.limit, tc.size, waiting)
		}
		r.Close()
		got := only(t, o.Dir)
		if int64(len(got.Body)) != min(tc.limit, tc.size) || got.BodySize != uint64(tc.size) || got.Truncated() != (tc.size > tc.limit) || got.Error != nil {
			t.Errorf("limit %d, %d sent: got %d bytes of %d, truncated %v, error %q", tc.limit, tc.size, len(got.Body), got.BodySize, got.Truncated(), got.Error)
		}
	}
}

func TestBodyThatBreaksOffIsRecordedSo(t *testing.T) {
	broken := errors.New("connection reset")
	for _, limit := range []int64{2, 1000} {
		o := testOptions(t.TempDir())
		o.MaxBody = units.Size(limit)
		r := New(o, newWitness())
		err := add(context.Background(), r, "1", io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("got error %v", err)
		}
		r.Close()
		got := only(t, o.Dir)
		if string(got.Body) != "abc"[:min(3, limit)] || got.BodySize != 3 || string(got.Error) != "after 3 bytes of the body: connection reset" {
			t.Errorf("got %+v", got)
		}
	}
	o := testOptions(t.TempDir())
	r := New(o, newWitness())
	if err := add(context.Background(), r, "1", iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got error %v", err)
	}
	r.Close()
}

func TestMemoryOfALargeBodyIsNotKept(t *testing.T) {
	r := New(testOptions(t.TempDir()), newWitness())
	for range 10 {
		d := r.Begin()
		if cap(d.Body) > freeBody {
			t.Errorf("a new draft has %d bytes of memory", cap(d.Body))
		}
		if err := d.ReadBody(context.Background(), &endless{1 << 20}); err != nil {
			t.Error(err)
		}
		d.Add(context.Background())
		d.Release()
	}
	r.Close()
}

// TestBothBodiesAreKeptUpToTheLimit has the response come in parts while the
// request's body is there already: what is taken for them is given back whole.
func TestBothBodiesAreKeptUpToTheLimit(t *testing.T) {
	for _, tc := range []struct{ limit, request, response int }{
		{10, 5, 20}, {10, 20, 5}, {70_000, 69_000, 69_000}, {1 << 20, 3 << 20, 3 << 20}, {16 << 20, 100, 1 << 20},
	} {
		o := testOptions(t.TempDir())
		o.MaxBody = units.Size(tc.limit)
		r := New(o, newWitness())
		request, response := noise(tc.request), noise(tc.response)
		for range 2 { // the second with the memory of the first
			d := r.Begin()
			d.ID = d.Text("both")
			if d.Response != nil {
				t.Error("a new draft has a response")
			}
			if err := d.ReadBody(t.Context(), strings.NewReader(request)); err != nil {
				t.Error(err)
			}
			d.Respond(200)
			for rest := response; rest != ""; {
				n := min(10_000, len(rest))
				d.WriteResponse(t.Context(), []byte(rest[:n]))
				rest = rest[n:]
			}
			d.Add(t.Context())
			d.Release()
		}
		r.Close()
		got := only(t, o.Dir)
		if string(got.Body) != request[:min(tc.limit, tc.request)] || got.BodySize != uint64(tc.request) {
			t.Errorf("%+v: got %d bytes of a request of %d", tc, len(got.Body), got.BodySize)
		}
		a := got.Response
		if a == nil || a.Status != 200 || string(a.Body) != response[:min(tc.limit, tc.response)] || a.BodySize != uint64(tc.response) {
			t.Errorf("%+v: got %d bytes of a response of %d", tc, len(a.Body), a.BodySize)
		}
		if r.Waiting() != 0 {
			t.Errorf("%+v: %d bytes of memory are taken in the end", tc, r.Waiting())
		}
	}
}
