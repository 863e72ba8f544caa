// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/pierrec/lz4/v4"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const origin = int64(1_800_000_000_000_000_000)

// encode makes a recording of requests whose identifiers are the times, in
// milliseconds after the origin.
func encode(times ...int64) []byte {
	var e recording.Encoder
	var data []byte
	for _, ms := range times {
		data = e.Append(data, &recording.Request{
			ID: fmt.Append(nil, ms), Method: []byte("GET"), URI: fmt.Appendf(nil, "/%d", ms), TimeNS: origin + ms*1e6,
		})
	}
	return data
}

func compress(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	if err := w.Apply(lz4.BlockChecksumOption(true)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pack(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func write(t *testing.T, folder, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// files returns the inputs of these names. All but regular files are streams.
func files(t *testing.T, names ...string) []Input {
	t.Helper()
	var inputs []Input
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		open := func() (io.ReadCloser, error) { return os.Open(name) }
		inputs = append(inputs, Input{Name: name, Size: info.Size(), Stream: !info.Mode().IsRegular(), Open: open})
	}
	return inputs
}

// streamOf returns a stream that reads from r.
func streamOf(r io.Reader) Input {
	return Input{Name: "stream", Stream: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
}

// ids reads a source to its end and returns the identifiers of its records.
func ids(t *testing.T, s Source) []string {
	t.Helper()
	var all []string
	for {
		r, err := s.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(r.ID))
	}
}

// collector keeps what is noted.
type collector []error

func (c *collector) note(err error) { *c = append(*c, err) }

func TestFilesAreMergedInTime(t *testing.T) {
	dir := t.TempDir()
	var notes collector
	m, err := Open(t.Context(), files(t,
		write(t, dir, "c.fbf", encode(3000, 100, 2500, 60_000)),
		write(t, dir, "a.fbf.lz4", compress(t, encode(900, 0, 2000, 1000))),
		write(t, dir, "b.fbf", encode(50_000, 40_000)),
	), notes.note)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	want := "0 100 900 1000 2000 2500 3000 40000 50000 60000"
	if got := strings.Join(ids(t, m), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(notes) > 0 {
		t.Errorf("noted %v", notes)
	}
	if done, size := m.Progress(); done != size || size == 0 {
		t.Errorf("read %d of %d bytes", done, size)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	names := []string{write(t, t.TempDir(), "a.fbf", encode(1, 2, 3))}
	m, err := Open(ctx, files(t, names...), unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	skipping := &Filter{Source: m, Methods: []string{"NONE"}}
	cancel()
	if _, err := skipping.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if _, err := Open(ctx, files(t, names...), unexpected(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("opening: got error %v", err)
	}
}

func TestFilesThatFollowOneAnotherAreNotOpenTogether(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range int64(50) {
		names = append(names, write(t, dir, fmt.Sprintf("%02d.fbf", 49-i), encode(i*60_000, i*60_000+30_000)))
	}
	m, err := Open(t.Context(), files(t, names...), unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		r, err := m.Next()
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint(n/2*60_000 + n%2*30_000); string(r.ID) != want {
			t.Fatalf("record %d is %s, want %s", n, r.ID, want)
		}
		if len(m.open) > 2 {
			t.Fatalf("%d files are open", len(m.open))
		}
	}
}

func TestRecordsWithoutTimesKeepTheirPlaces(t *testing.T) {
	dir := t.TempDir()
	untimed := func(from, n int) (data []byte) {
		var e recording.Encoder
		for i := range n {
			data = e.Append(data, &recording.Request{ID: fmt.Append(nil, from+i), Method: []byte("GET"), URI: []byte("/")})
		}
		return data
	}
	m, err := Open(t.Context(), files(t,
		write(t, dir, "z.fbf", untimed(0, 3)), write(t, dir, "a.fbf", untimed(3, 3)), write(t, dir, "timed.fbf", encode(7)),
	), unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(t, m); !slices.Equal(got, []string{"0", "1", "2", "3", "4", "5", "7"}) {
		t.Errorf("got %v", got)
	}
}

func TestMemoryIsBoundedWhateverTheOrder(t *testing.T) {
	var e recording.Encoder
	var data []byte
	const n = 3 * maxHeld
	for i := range int64(n) { // all within the time that is sorted
		data = e.Append(data, &recording.Request{ID: fmt.Append(nil, i), Method: []byte("GET"), URI: []byte("/"), TimeNS: origin + n - i})
	}
	m, err := Open(t.Context(), files(t, write(t, t.TempDir(), "a.fbf", data)), unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for {
		if _, err := m.Next(); err != nil {
			break
		}
		count++
		if len(m.sorted)+len(m.free) > maxHeld+1 {
			t.Fatalf("%d records are held", len(m.sorted)+len(m.free))
		}
	}
	if count != n {
		t.Errorf("got %d records, want %d", count, n)
	}
}

func TestEmptyCutAndDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	whole := encode(1, 2, 3, 4, 5)
	damaged := slices.Clone(compress(t, encode(20, 21)))
	damaged[len(damaged)/2] ^= 0xff
	var notes collector
	m, err := Open(t.Context(), files(t,
		write(t, dir, "empty.fbf", nil),
		write(t, dir, "header.fbf.lz4", compress(t, nil)),
		write(t, dir, "cut.fbf", whole[:len(whole)-10]),
		write(t, dir, "damaged.fbf.lz4", damaged),
		write(t, dir, "good.fbf", encode(10, 11)),
	), notes.note)
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(t, m); !slices.Equal(got, []string{"1", "2", "3", "4", "10", "11"}) {
		t.Errorf("got %v", got)
	}
	var unreadable, empty []string
	for _, err := range notes {
		if lost, ok := errors.AsType[*UnreadableError](err); ok {
			unreadable = append(unreadable, filepath.Base(lost.Name))
		} else {
			empty = append(empty, err.Error())
		}
	}
	slices.Sort(unreadable)
	if !slices.Equal(unreadable, []string{"cut.fbf", "damaged.fbf.lz4"}) || len(empty) != 2 {
		t.Errorf("noted %v", notes)
	}
}

func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"text.lz4": strings.Repeat("this is text\n", 100),
		"gzip.lz4": string(pack(t, []byte("this is text\n"))),
		"huge.fbf": "\xff\xff\xff\xff\x00\x00\x00\x00" + strings.Repeat("x", 100),
	} {
		if _, err := Open(t.Context(), files(t, write(t, dir, name, []byte(data))), func(error) {}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	m, err := Open(t.Context(), []Input{streamOf(strings.NewReader("this is not a recording at all"))}, unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("standard input: got error %v", err)
	}
}

func TestAStreamIsSorted(t *testing.T) {
	m, err := Open(t.Context(), []Input{streamOf(bytes.NewReader(compress(t, encode(3, 1, 2))))}, unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(t, m); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("got %v", got)
	}
}

// unexpected fails the test if anything is noted.
func unexpected(t *testing.T) func(error) {
	return func(err error) { t.Errorf("noted %v", err) }
}

// What a stream has given is not held back while it gives no more.
func TestAStreamThatWaitsHoldsNothingBack(t *testing.T) {
	pipe, end := io.Pipe()
	defer end.Close()
	m, err := Open(t.Context(), []Input{streamOf(pipe)}, unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	go end.Write(encode(30, 10, 20))
	for _, want := range []string{"10", "20", "30"} {
		r, err := m.Next()
		if err != nil || string(r.ID) != want {
			t.Fatalf("got %s, error %v; want %s", r.ID, err, want)
		}
	}
	go func() {
		end.Write(encode(40))
		end.Close()
	}()
	if got := ids(t, m); !slices.Equal(got, []string{"40"}) {
		t.Errorf("got %v", got)
	}
}

func TestResponsesAreKept(t *testing.T) {
	var e recording.Encoder
	var data []byte
	for i := range 50 {
		r := &recording.Request{ID: fmt.Append(nil, i), Method: []byte("GET"), URI: []byte("/"), TimeNS: origin - int64(i)}
		if i%2 == 0 {
			r.Response = &recording.Response{
				Status: 200 + i, Headers: fmt.Appendf(nil, "X-N: %d\r\n", i), Body: fmt.Appendf(nil, "body %d", i), BodySize: 1000,
				DurationNS: int64(i), Trailers: []byte("T: x\r\n"), Error: []byte("cut"),
			}
		}
		data = e.Append(data, r)
	}
	name := write(t, t.TempDir(), "a.fbf", data)
	loop, err := NewLoop(func() (Source, error) {
		m, err := Open(t.Context(), files(t, name), unexpected(t))
		return &Filter{Source: m}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer loop.Close()
	for n := range 100 {
		r, err := loop.Next()
		if err != nil {
			t.Fatal(err)
		}
		i := 49 - n%50
		if (r.Response != nil) != (i%2 == 0) {
			t.Fatalf("record %s: response %v", r.ID, r.Response)
		}
		if p := r.Response; p != nil && (p.Status != 200+i || string(p.Headers) != fmt.Sprintf("X-N: %d\r\n", i) || string(p.Body) != fmt.Sprintf("body %d", i) ||
			p.BodySize != 1000 || p.DurationNS != int64(i) || string(p.Trailers) != "T: x\r\n" || string(p.Error) != "cut") {
			t.Fatalf("record %s: response %+v", r.ID, p)
		}
	}
}

func TestProgressIsWhatWasPassedOn(t *testing.T) {
	var times []int64
	for i := range int64(100) {
		times = append(times, i)
	}
	m, err := Open(t.Context(), files(t, write(t, t.TempDir(), "a.fbf", encode(times...))), unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for range 50 {
		if _, err := m.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if done, size := m.Progress(); done != size/2 {
		t.Errorf("%d of %d bytes after half the records", done, size)
	}
}

func TestFormsAreChosenByContent(t *testing.T) {
	list := []byte("GET http://shop.test/x\n\nGET http://shop.test/y\n")
	dir := t.TempDir()
	for name, data := range map[string][]byte{"plain": list, "lz4": compress(t, list), "gzip": pack(t, list), "both": compress(t, pack(t, list))} {
		m, err := Open(t.Context(), files(t, write(t, dir, name, data), write(t, dir, "ours", encode(7))), unexpected(t))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for {
			r, err := m.Next()
			if err != nil {
				break
			}
			got = append(got, string(r.URI))
		}
		if !slices.Equal(got, []string{"/x", "/y", "/7"}) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if _, err := Open(t.Context(), files(t, write(t, dir, "c", []byte("this is no recording"))), unexpected(t)); err == nil {
		t.Error("a text was accepted")
	}
}

func TestLinesThatAreLeftOutAreNoted(t *testing.T) {
	log := strings.Repeat("what is this\n", 5) + `::1 - - [30/Nov/2026:15:13:30 +0000] "GET /a HTTP/1.1" 200 5` + "\n"
	path := write(t, t.TempDir(), "access.log", []byte(log))
	var notes []string
	m, err := Open(t.Context(), files(t, path), func(err error) { notes = append(notes, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := m.Next(); err != nil {
			break
		}
	}
	if got := strings.Join(notes, "\n"); len(notes) != 4 || !strings.Contains(got, "access.log: line 1 is left out") || !strings.Contains(got, "5 are left out in all") {
		t.Errorf("noted:\n%s", got)
	}
}
