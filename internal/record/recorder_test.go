// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// newObserver counts for an owner that no other test has.
func newObserver(t *testing.T, handler string) (*observer, owner, *prometheus.Registry) {
	t.Helper()
	of := owner{handler, fmt.Sprint("test-", time.Now().UnixNano())}
	registry := prometheus.NewRegistry()
	o, err := observe(registry, of, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	return o, of, registry
}

// open acquires a recorder of a configuration that never runs.
func open(t *testing.T, handler, dir string) (*Recorder, *prometheus.Registry) {
	t.Helper()
	observer, of, registry := newObserver(t, handler)
	r, err := acquire(of, Options{Dir: dir}.WithDefaults(), observer, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, registry
}

// files returns the paths of the files in a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// each calls look with every record of the whole files in a directory.
func each(t *testing.T, dir string, look func(*recording.Request)) (records int) {
	t.Helper()
	for _, path := range files(t, dir) {
		f, err := recording.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Next()
		for ; err == nil; r, err = f.Next() {
			records++
			look(r)
		}
		if err != io.EOF {
			t.Errorf("reading %s: %v", path, err)
		}
		f.Close()
	}
	return records
}

// TestRequestsAfterTheReleaseAreWrittenAtTheEndOfTheProcess has requests come
// when their recorder is released already, as the last copies of a tee may when
// Caddy exits.
func TestRequestsAfterTheReleaseAreWrittenAtTheEndOfTheProcess(t *testing.T) {
	dir := t.TempDir()
	r, _ := open(t, "blackhole", dir)
	if err := r.Release(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		d := r.Begin()
		Describe(d, httptest.NewRequest("POST", "http://shop.test/late", nil))
		d.Add(t.Context())
		d.Release()
	}
	closeReleased()
	if got := each(t, dir, func(r *recording.Request) {
		if string(r.Host) != "shop.test" {
			t.Errorf("got %+v", r)
		}
	}); got != 3 {
		t.Errorf("got %d records, want 3", got)
	}
}

// TestMetricsAreNamedByTheHandler holds the names under which a blackhole and
// any other handler have the same metrics.
func TestMetricsAreNamedByTheHandler(t *testing.T) {
	for handler, want := range map[string]string{
		"blackhole": `caddy_blackhole_%s{blackhole="NAME"`,
		"tee":       `caddy_recording_%s{handler="tee",name="NAME"`,
	} {
		r, registry := open(t, handler, t.TempDir())
		d := r.Begin()
		d.Add(t.Context())
		d.Release()
		r.Close()
		var got strings.Builder
		gathered, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range gathered {
			for _, m := range f.Metric {
				var labels []string
				for _, l := range m.Label {
					labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
				}
				fmt.Fprintf(&got, "%s{%s} %v\n", f.GetName(), strings.Join(labels, ","), m.GetCounter().GetValue())
			}
		}
		want = strings.ReplaceAll(want, "NAME", r.owner.name)
		for _, line := range []string{
			fmt.Sprintf(want, "records_total") + "} 1\n", fmt.Sprintf(want, "files_total") + "} 1\n", fmt.Sprintf(want, "waiting_bytes") + "} 0\n",
			fmt.Sprintf(want, "lag_seconds") + "} 0\n",
		} {
			if !strings.Contains(got.String(), line) {
				t.Errorf("%s: %s is missing in\n%s", handler, line, &got)
			}
		}
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	}
}

// TestResponseIsRecorded holds a record of both sides.
func TestResponseIsRecorded(t *testing.T) {
	dir := t.TempDir()
	r, _ := open(t, "tee", dir)
	d := r.Begin()
	Describe(d, httptest.NewRequest("POST", "http://shop.test/orders?a=b", nil))
	if err := d.ReadBody(t.Context(), strings.NewReader("question")); err != nil {
		t.Fatal(err)
	}
	header := httptest.NewRecorder().Header()
	header.Add("X-Tag", "one")
	header.Add("X-Tag", "two")
	header.Add("Content-Type", "text/plain")
	DescribeResponse(d, 201, header)
	for _, part := range []string{"ans", "", "wer"} {
		d.WriteResponse(t.Context(), []byte(part))
	}
	d.ResponseBrokeOff(io.ErrUnexpectedEOF)
	clear(header)
	header.Add("X-Sum", "7")
	DescribeResponseTrailers(d, header)
	d.EndResponse(70 * time.Millisecond)
	d.Add(t.Context())
	d.Release()
	if err := r.Release(); err != nil {
		t.Fatal(err)
	}
	if got := each(t, dir, func(r *recording.Request) {
		if string(r.URI) != "/orders?a=b" && string(r.URI) != "http://shop.test/orders?a=b" || string(r.Body) != "question" {
			t.Errorf("got request %+v", r)
		}
		a := r.Response
		if a == nil || a.Status != 201 || string(a.Headers) != "Content-Type: text/plain\r\nX-Tag: one\r\nX-Tag: two\r\n" || string(a.Body) != "answer" ||
			a.BodySize != 6 || string(a.Trailers) != "X-Sum: 7\r\n" || a.DurationNS != 70_000_000 || string(a.Error) != "after 6 bytes of the body: unexpected EOF" {
			t.Errorf("got response %+v", a)
		}
	}); got != 1 {
		t.Errorf("got %d records", got)
	}
}

// stuckObserver keeps a recorder from getting on, as a disk that takes nothing does.
type stuckObserver struct {
	*observer
	released chan struct{}
}

// Recorded waits.
func (o *stuckObserver) Recorded(int, int64, int64) { <-o.released }

// TestExitWaitsForAllStuckDisksAtTheSameTime has recorders released one after
// the other, as Caddy's exit does.
func TestExitWaitsForAllStuckDisksAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	others := released.recorders
	released.recorders = nil
	defer func() { released.recorders = others }()
	observer, _, _ := newObserver(t, "tee")
	synctest.Test(t, func(t *testing.T) {
		stuck := &stuckObserver{observer: observer, released: make(chan struct{})}
		var shared []*Recorder
		for range 3 {
			r := &Recorder{Recorder: recorder.New(Options{Dir: dir}.WithDefaults(), stuck)}
			draft := r.Begin()
			draft.Add(t.Context())
			draft.Release()
			shared = append(shared, r)
		}
		begun := time.Now()
		for _, r := range shared {
			r.end(true)
		}
		closeReleased()
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("gave up after %s", took)
		}
		close(stuck.released)
	})
	if got := len(files(t, dir)); got != 3 {
		t.Errorf("got %d files", got)
	}
}

func TestDirectoryIsMadeAbsoluteAndNotMade(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	got, _ := checkedDir("recordings")
	if got != filepath.Join(dir, "recordings") {
		t.Errorf("got %s", got)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("got %v, error %v: something was made", entries, err)
	}
}
