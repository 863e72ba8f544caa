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

func write(t *testing.T, folder, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ids reads a source to its end and gives the identifiers of its records.
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
	m, err := Open(t.Context(), []string{
		write(t, dir, "c.fbf", encode(3000, 100, 2500, 60_000)),
		write(t, dir, "a.fbf.lz4", compress(t, encode(900, 0, 2000, 1000))),
		write(t, dir, "b.fbf", encode(50_000, 40_000)),
	}, nil, notes.note)
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
	m, err := Open(ctx, names, nil, unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	skipping := &Filter{Source: m, Methods: []string{"NONE"}}
	cancel()
	if _, err := skipping.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if _, err := Open(ctx, names, nil, unexpected(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("opening: got error %v", err)
	}
}

func TestFilesThatFollowOneAnotherAreNotOpenTogether(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range int64(50) {
		names = append(names, write(t, dir, fmt.Sprintf("%02d.fbf", 49-i), encode(i*60_000, i*60_000+30_000)))
	}
	m, err := Open(t.Context(), names, nil, unexpected(t))
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
	m, err := Open(t.Context(), []string{
		write(t, dir, "z.fbf", untimed(0, 3)), write(t, dir, "a.fbf", untimed(3, 3)), write(t, dir, "timed.fbf", encode(7)),
	}, nil, unexpected(t))
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
	m, err := Open(t.Context(), []string{write(t, t.TempDir(), "a.fbf", data)}, nil, unexpected(t))
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
	m, err := Open(t.Context(), []string{
		write(t, dir, "empty.fbf", nil),
		write(t, dir, "header.fbf.lz4", compress(t, nil)),
		write(t, dir, "cut.fbf", whole[:len(whole)-10]),
		write(t, dir, "damaged.fbf.lz4", damaged),
		write(t, dir, "good.fbf", encode(10, 11)),
	}, nil, notes.note)
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
		"gzip.lz4": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + strings.Repeat("x", 100),
		"huge.fbf": "\xff\xff\xff\xff\x00\x00\x00\x00" + strings.Repeat("x", 100),
	} {
		if _, err := Open(t.Context(), []string{write(t, dir, name, []byte(data))}, nil, func(error) {}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	m, err := Open(t.Context(), []string{Stdin}, strings.NewReader("this is not a recording at all"), unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("standard input: got error %v", err)
	}
}

func TestStandardInput(t *testing.T) {
	m, err := Open(t.Context(), []string{Stdin}, bytes.NewReader(compress(t, encode(3, 1, 2))), unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(t, m); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("got %v", got)
	}
}

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.fbf", "a.fbf.lz4", "c.lz4", "notes.txt", ".hidden.fbf", "open.fbf.lz4.tmp"} {
		write(t, dir, name, nil)
	}
	empty := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub.fbf"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ args, want []string }{
		{[]string{dir}, []string{"a.fbf.lz4", "b.fbf", "c.lz4"}},
		{[]string{filepath.Join(dir, "*.fbf")}, []string{"b.fbf"}},
		{[]string{filepath.Join(dir, "notes.txt"), dir}, []string{"notes.txt", "a.fbf.lz4", "b.fbf", "c.lz4"}},
		{[]string{filepath.Join(dir, "b.fbf"), filepath.Join(dir, "b.fbf")}, []string{"b.fbf"}},
		{[]string{"-"}, []string{"-"}},
	} {
		got, err := Expand(tc.args, func(error) {})
		for i := range got {
			got[i] = filepath.Base(got[i])
		}
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%v: got %v, error %v; want %v", tc.args, got, err, tc.want)
		}
	}
	for _, arg := range []string{filepath.Join(dir, "missing"), empty, filepath.Join(dir, "["), filepath.Join(dir, "*.none")} {
		if got, err := Expand([]string{arg}, unexpected(t)); err == nil {
			t.Errorf("%s: got %v", arg, got)
		}
	}
}

// What a server is still writing is not sent by chance, but can be asked for.
func TestExpandUnfinishedRecordings(t *testing.T) {
	both, open := t.TempDir(), t.TempDir()
	write(t, both, "a.fbf", nil)
	write(t, both, "b.fbf.lz4.tmp", nil)
	unfinished := write(t, open, "c.fbf.tmp", nil)
	write(t, open, "d.txt.tmp", nil)
	for _, tc := range []struct {
		arg, want, note string
	}{
		{both, "a.fbf", "left out, as they are not finished: " + filepath.Join(both, "b.fbf.lz4.tmp")},
		{unfinished, "c.fbf.tmp", unfinished + " is not finished: only what is there now is read"},
		{filepath.Join(open, "c*"), "c.fbf.tmp", unfinished + " is not finished: only what is there now is read"},
	} {
		var noted []string
		got, err := Expand([]string{tc.arg}, func(err error) { noted = append(noted, err.Error()) })
		if err != nil || len(got) != 1 || filepath.Base(got[0]) != tc.want || !slices.Equal(noted, []string{tc.note}) {
			t.Errorf("%s: got %v, error %v, noted %q", tc.arg, got, err, noted)
		}
	}
	if got, err := Expand([]string{open}, unexpected(t)); err == nil || !strings.Contains(err.Error(), "name '"+unfinished+"'") {
		t.Errorf("got %v, error %v", got, err)
	}
}

// unexpected fails the test if anything is noted.
func unexpected(t *testing.T) func(error) {
	return func(err error) { t.Errorf("noted %v", err) }
}
