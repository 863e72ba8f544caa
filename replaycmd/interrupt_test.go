// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package replaycmd

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

// lines takes what is written.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestTheFirstInterruptEndsTheContext(t *testing.T) {
	written := make(lines, 1)
	ctx, stop := untilInterrupted(t.Context(), written)
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the context goes on")
	}
	if line := <-written; !strings.Contains(line, "Interrupt again") {
		t.Errorf("wrote %q", line)
	}
}

func TestAnUninterruptedRunSaysNothing(t *testing.T) {
	for range 100 {
		written := make(lines, 1)
		_, stop := untilInterrupted(t.Context(), written)
		stop()
		if len(written) > 0 {
			t.Fatalf("wrote %q", <-written)
		}
	}
}

// process is the command as a process of its own.
type process struct {
	*exec.Cmd
	stdout io.Reader
	stderr *bufio.Reader
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: caddytest.Command(t, append([]string{"replay"}, args...)...)}
	var err error
	if p.stdout, err = p.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stderr = bufio.NewReader(stderr)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) interrupt(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

// hanging is a target that reports requests and never answers them.
func hanging(t *testing.T) (url string, came <-chan struct{}) {
	t.Helper()
	requests := make(chan struct{}, 1000)
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		requests <- struct{}{}
		<-r.Context().Done()
	})
	return s.url, requests
}

func TestTheFirstInterruptEndsTheRunWithItsReport(t *testing.T) {
	url, came := hanging(t)
	p := start(t, url, "-n", "10", "-c", "2", "--timeout", "1h")
	<-came
	<-came
	p.interrupt(t)
	report, err := io.ReadAll(p.stdout)
	if err != nil || !strings.Contains(spaced(string(report)), "interrupted 2\n") {
		t.Errorf("reported %s, error %v", report, err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// What keeps the process from ending after the first interrupt is a report that
// nobody reads.
func TestTheSecondInterruptEndsTheProcess(t *testing.T) {
	url, came := hanging(t)
	args := []string{url, "-n", "10", "-c", "1", "--timeout", "1h", "--report", "json"}
	const targets = 300 // whose reports are larger than any pipe's buffer
	for n := range targets {
		args = append(args, "--to", fmt.Sprintf("target-%d=%s", n, url))
	}
	p := start(t, args...)
	for range targets {
		<-came
	}
	p.interrupt(t)
	for line := ""; !strings.Contains(line, "Interrupt again"); {
		var err error
		if line, err = p.stderr.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	p.interrupt(t)
	if err := p.Wait(); err == nil || p.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("it ended with %v, want status %d", err, exitInterrupted)
	}
}

// TestAnInterruptWhileAskingAgain ends the asking with the report of what is known.
func TestAnInterruptWhileAskingAgain(t *testing.T) {
	var asked atomic.Int64
	again := make(chan struct{})
	var once sync.Once
	ended := make(chan struct{})
	old, fresh := seldom(t, func(version string) {
		if version == "new" && asked.Add(1) > 3 {
			once.Do(func() { close(again) })
			<-ended
		}
	})
	t.Cleanup(func() { close(ended) })
	p := start(t, requestsTo(t, "/items/6", "/items/7", "/items/8"), "--max", "--timeout", "1h",
		"--to", "old="+old.url, "--to", "new="+fresh.url, "--compare=old", "--noise", "self")
	<-again
	p.interrupt(t)
	report, err := io.ReadAll(p.stdout)
	for _, want := range []string{"unconfirmed  changed", "$.answer", "not asked      all: the run ended before", "in 3 pairs"} {
		if err != nil || !strings.Contains(string(report), want) {
			t.Errorf("the report lacks %q, error %v:\n%s", want, err, report)
		}
	}
	if err := p.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
