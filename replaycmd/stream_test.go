// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// waiting is standard input that gives seven records and then waits.
func waiting(t *testing.T) io.Reader {
	t.Helper()
	data, err := os.ReadFile(write(t, "a.fbf", 7, 20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	pipe, end := io.Pipe()
	t.Cleanup(func() { end.Close() })
	go end.Write(data)
	return pipe
}

func TestARunEndsThoughStandardInputGoesOn(t *testing.T) {
	good := serve(t, nil)
	broken := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, tc := range map[string]struct {
		args   []string
		status int
		error  string
	}{
		"with its duration":         {[]string{"--to", good.url, "--max", "--duration", "300ms"}, 0, ""},
		"with its duration, a rate": {[]string{"--to", good.url, "--rate", "100/s", "--duration", "1s"}, 0, ""},
		"at the first error":        {[]string{"--to", broken.url, "--max", "-x", "-c", "1"}, 3, ": "},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan outcome, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { ended <- replayWith(t, ctx, waiting(t), append(tc.args, "-")...) }()
			select {
			case o := <-ended:
				if o.status != tc.status || !strings.Contains(o.stderr, tc.error) {
					t.Errorf("status %d\n%s%s", o.status, o.stdout, o.stderr)
				}
			case <-time.After(20 * time.Second):
				cancel()
				<-ended
				t.Error("it had to be interrupted")
			}
		})
	}
}

// What standard input has given is sent though more of it could come: a run of
// two seconds gets what it is due.
func TestStandardInputIsSentAsItComes(t *testing.T) {
	s := serve(t, nil)
	began := time.Now()
	o := replayWith(t, t.Context(), waiting(t), "--to", s.url, "--rate", "10/s", "--duration", "2s", "-")
	if took := time.Since(began); o.status != 0 || len(s.got()) != 7 || took > 9*time.Second { // 10 s are sorted
		t.Errorf("status %d, %d requests in %v\n%s%s", o.status, len(s.got()), took, o.stdout, o.stderr)
	}
}

// interrupting is a recording without an end whose first read is interrupted.
type interrupting struct {
	data   []byte
	at     int
	cancel func()
}

func (i *interrupting) Read(p []byte) (int, error) {
	i.cancel()
	n := copy(p, i.data[i.at:])
	i.at = (i.at + n) % len(i.data)
	return n, nil
}

func TestWhatOnlyReadsCanBeInterrupted(t *testing.T) {
	data, err := os.ReadFile(write(t, "a.fbf", 10, time.Second))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := replayWith(t, ctx, &interrupting{data: data, cancel: cancel}, "--test", "-")
	if o.status != exitIncomplete || !strings.Contains(o.stderr, "interrupted before the end") {
		t.Errorf("a test of standard input: status %d: %s", o.status, o.stderr)
	}
	path := write(t, "a.fbf", 10, time.Second)
	for _, args := range [][]string{{"--test", path}, {"--dry-run", path}, {"--extract", t.TempDir(), path}, {"--dry-run", "--rate", "1/s", "-n", "1000000000000", "http://localhost/"}} {
		o := replayWith(t, ctx, nil, args...)
		if o.status == 0 || !strings.Contains(o.stderr, "interrupted before the") || strings.Contains(o.stdout, "whole") {
			t.Errorf("%v: status %d: %s", args, o.status, o.stderr)
		}
	}
}
