// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const origin = int64(1_800_000_000_000_000_000)

// outcome is what came of a command.
type outcome struct {
	status         int
	stdout, stderr string
}

// replay runs the command.
func replay(t *testing.T, args ...string) outcome {
	t.Helper()
	return replayWith(t, t.Context(), nil, args...)
}

func replayWith(t *testing.T, ctx context.Context, stdin io.Reader, args ...string) outcome {
	t.Helper()
	p := new(params)
	return execute(t, ctx, stdin, p, args)
}

// show runs the subcommand.
func show(t *testing.T, args ...string) outcome {
	t.Helper()
	s := new(viewing)
	return execute(t, t.Context(), nil, s, args)
}

func execute(t *testing.T, ctx context.Context, stdin io.Reader, r runner, args []string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	var o outcome
	cmd := complete(&cobra.Command{Use: "replay", SilenceErrors: true, SilenceUsage: true}, r)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		o.status, err = r.run(cmd, args)
		return err
	}
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	o.status = exitNotStarted // unless it gets to run
	if err := cmd.ExecuteContext(ctx); err != nil {
		printError(&stderr, err)
	}
	o.stdout, o.stderr = stdout.String(), stderr.String()
	return o
}

// write makes a recording of n GETs of /0, /1 and so on, some milliseconds apart.
func write(t *testing.T, name string, n int, apart time.Duration) string {
	t.Helper()
	var requests []*recording.Request
	for i := range n {
		requests = append(requests, &recording.Request{
			ID: fmt.Appendf(nil, "id-%d", i), Method: []byte("GET"), URI: fmt.Appendf(nil, "/%d", i), Host: []byte("shop.test"),
			Headers: []byte("Host: shop.test\r\nCookie: id=1; id=2; =x; bad\r\n"), TimeNS: origin + int64(i)*int64(apart),
		})
	}
	return writeRequests(t, name, requests)
}

func writeRequests(t *testing.T, name string, requests []*recording.Request) string {
	t.Helper()
	var e recording.Encoder
	var data []byte
	for _, r := range requests {
		data = e.Append(data, r)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// server answers and keeps what it was asked for.
type server struct {
	url string

	mu       sync.Mutex
	requests []*http.Request
}

func serve(t *testing.T, handler http.HandlerFunc) *server {
	t.Helper()
	s := new(server)
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Clone(context.Background()))
		s.mu.Unlock()
		if handler != nil {
			handler(w, r)
		}
	}))
	t.Cleanup(hs.Close)
	s.url = hs.URL
	return s
}

func (s *server) got() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// read returns copies of the records of recordings, in the order of their times.
func read(t *testing.T, args ...string) []*recording.Request {
	t.Helper()
	records, err := new(selection).open(t.Context(), args, nil, false, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	var all []*recording.Request
	for {
		r, err := records.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		c := new(recording.Copy)
		c.Take(r)
		all = append(all, &c.Request)
	}
}
