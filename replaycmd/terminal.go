// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// notes are what the user should know beside the results.
type notes struct {
	w       io.Writer
	quiet   bool
	problem func(error) // called for every part of a recording that can't be read

	mu       sync.Mutex
	said     map[string]struct{}
	problems []string
}

// note prints one warning, once: recordings that are read several times have the
// same to say. An UnreadableError is kept for the report and printed even for those
// who want it quiet.
func (n *notes) note(err error) {
	_, isProblem := errors.AsType[*source.UnreadableError](err)
	isNew := n.add(err.Error(), isProblem)
	if isNew && (isProblem || !n.quiet) {
		fmt.Fprintln(n.w, "Warning:", report.Escape(err.Error()))
	}
	if isProblem && n.problem != nil {
		n.problem(err)
	}
}

// add keeps what is said, and reports whether it was not said before.
func (n *notes) add(text string, isProblem bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, said := n.said[text]; said {
		return false
	}
	if n.said == nil {
		n.said = make(map[string]struct{})
	}
	n.said[text] = struct{}{}
	if isProblem {
		n.problems = append(n.problems, text)
	}
	return true
}

// lost returns what could not be read.
func (n *notes) lost() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.problems
}

// untilInterrupted returns a context that the first interrupt ends. The second
// ends the process.
func untilInterrupted(parent context.Context, stderr io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	stopped := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			fmt.Fprintln(stderr, "\nEnding the run. Interrupt again to leave at once.")
			cancel()
		case <-ctx.Done():
			return
		}
		select {
		case <-signals:
			os.Exit(exitInterrupted)
		case <-stopped:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(stopped)
		cancel()
	}
}

const (
	progressEvery = 250 * time.Millisecond
	progressSteps = 1000
)

// showProgress shows how far the run is, on a terminal only, until the function
// that it returns is called.
func (p *params) showProgress(w io.Writer, run *delivery, records *records) (hide func()) {
	terminal, ok := w.(*os.File)
	if !ok || p.quiet || !term.IsTerminal(int(terminal.Fd())) {
		return func() {}
	}
	steps := progressSteps
	if p.fraction(run, records, 0) < 0 {
		steps = -1
	}
	bar := progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(progressEvery/2),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // or a goroutine draws it again after it was cleared
	)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer mayFail()
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		var before int64
		last := time.Now()
		for {
			select {
			case now := <-ticker.C:
				requests, errors := run.counts()
				rate := float64(requests-before) / now.Sub(last).Seconds()
				before, last = requests, now
				bar.Describe(fmt.Sprintf("%d sent, %.0f/s, %d errors", requests, rate, errors))
				p.advance(bar, p.fraction(run, records, requests))
			case <-done:
				bar.Clear() //nolint:errcheck // nothing depends on it
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (p *params) advance(bar *progressbar.ProgressBar, fraction float64) {
	if fraction < 0 {
		bar.Add(1) //nolint:errcheck // nothing depends on it
		return
	}
	bar.Set(int(min(fraction, 0.999) * progressSteps)) //nolint:errcheck // nothing depends on it
}

// fraction returns how much of the run is done, below 0 if that is not known.
func (p *params) fraction(run *delivery, records *records, requests int64) float64 {
	fraction := -1.0
	if records.progress != nil {
		if done, size := records.progress(); size > 0 {
			fraction = float64(done) / float64(size)
		}
	}
	if p.requests > 0 {
		fraction = max(fraction, float64(requests)/float64(p.requests*int64(len(p.targets))))
	}
	if p.duration > 0 {
		fraction = max(fraction, run.run.Elapsed().Seconds()/p.duration.Seconds())
	}
	return fraction
}
