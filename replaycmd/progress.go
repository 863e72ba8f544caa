// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

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

// fraction is how much of the run is done, below 0 if that is not known.
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
