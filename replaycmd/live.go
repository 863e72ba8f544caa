// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

const (
	liveEvery   = 500 * time.Millisecond
	plainEvery  = 10 * time.Second // where nothing can be drawn in place
	liveTargets = 8                // that are drawn; the rest is counted
)

// showLive draws the running figures of each target in place, and where that is no
// terminal writes them as a line now and then, until the function that it returns
// is called. It reports false on a terminal that cannot be drawn on.
func (p *params) showLive(w io.Writer, run *delivery, records *records) (hide func(), can bool) {
	terminal, ok := w.(*os.File)
	isTerminal := ok && term.IsTerminal(int(terminal.Fd()))
	if isTerminal && (runtime.GOOS == "windows" || os.Getenv("TERM") == "dumb") {
		return nil, false
	}
	every := plainEvery
	if isTerminal {
		every = liveEvery
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer mayFail()
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		view := liveView{before: make([]report.Running, len(run.lines)), last: time.Now()}
		for {
			select {
			case now := <-ticker.C:
				view.take(now, p, run, records)
				if !isTerminal {
					fmt.Fprintln(w, view.plain())
					continue
				}
				width, _, err := term.GetSize(int(terminal.Fd()))
				if err != nil || width <= 0 {
					width = 80
				}
				view.draw(w, width)
			case <-done:
				view.clear(w)
				return
			}
		}
	}()
	return func() { close(done); <-ended }, true
}

// liveView is what is drawn.
type liveView struct {
	lines int // on the terminal

	names    []string // of the targets
	all      []report.Running
	before   []report.Running // those that were drawn last
	seconds  float64          // since then
	elapsed  time.Duration
	fraction float64 // that is done; below 0 if that is not known
	last     time.Time
}

// clear takes what was drawn off the terminal.
func (v *liveView) clear(w io.Writer) {
	if v.lines > 0 {
		fmt.Fprintf(w, "\x1b[%dA\r\x1b[J", v.lines)
	}
	v.lines = 0
}

// take takes the running figures.
func (v *liveView) take(now time.Time, p *params, run *delivery, records *records) {
	copy(v.before, v.all)
	v.all, v.names = v.all[:0], v.names[:0]
	var requests int64
	for i, l := range run.lines[:run.counted()] {
		v.all, v.names = append(v.all, l.collector.Running()), append(v.names, run.targets[i].Name)
		requests += v.all[i].Requests
	}
	v.seconds, v.last = now.Sub(v.last).Seconds(), now
	v.elapsed, v.fraction = run.run.Elapsed(), p.fraction(run, records, requests)
}

// draw draws what was taken in place of what was drawn before.
func (v *liveView) draw(w io.Writer, width int) {
	lines := liveLines(width, v.names, v.all, v.before, v.seconds, v.elapsed, v.fraction)
	v.clear(w)
	io.WriteString(w, strings.Join(lines, "\n")+"\n") //nolint:errcheck // nothing depends on it
	v.lines = len(lines)
}

// plain returns what was taken in one line.
func (v *liveView) plain() string {
	lines := liveLines(60, v.names, v.all, v.before, v.seconds, v.elapsed, v.fraction) // narrow: two lines for each target
	var text strings.Builder
	text.WriteString(lines[0])
	for i, line := range lines[1:] {
		if i%2 == 0 {
			text.WriteString("; " + line)
		} else {
			text.WriteString(", " + strings.TrimSpace(line))
		}
	}
	return text.String()
}

// liveLines returns the lines that show running figures, none longer than the
// terminal is wide: from 72 columns on one of each target, below that two.
func liveLines(width int, names []string, all, before []report.Running, seconds float64, elapsed time.Duration, fraction float64) []string {
	head := elapsed.Round(time.Second).String()
	if fraction >= 0 {
		head += fmt.Sprintf(", %.0f%%", 100*min(fraction, 1))
	}
	lines := []string{head}
	wide := width >= 72
	if wide {
		lines = append(lines, fmt.Sprintf("%-20s %9s %9s %9s %9s %9s", "", "sent", "rate", "errors", "p50", "p99"))
	}
	for i, name := range names {
		if i == liveTargets {
			lines = append(lines, fmt.Sprintf("and %d more targets", len(names)-i))
			break
		}
		now, was := all[i], before[i]
		rate := fmt.Sprintf("%.0f/s", float64(now.Requests-was.Requests)/max(seconds, 0.001))
		name = report.Escape(name)
		if wide {
			lines = append(lines, fmt.Sprintf("%-20s %9d %9s %9d %9s %9s", fitRunes(name, 20), now.Requests, rate, now.Errors, brief(now.P50), brief(now.P99)))
			continue
		}
		sent := fmt.Sprintf(": %d sent, %s", now.Requests, rate)
		lines = append(lines, fitRunes(name, max(width-1-len(sent), 4))+sent,
			fmt.Sprintf("  %d errors, p50 %s, p99 %s", now.Errors, brief(now.P50), brief(now.P99)))
	}
	for i, line := range lines {
		lines[i] = fitRunes(strings.TrimRight(line, " "), max(width-1, 1))
	}
	return lines
}

// brief returns a latency to three digits, - if there is none.
func brief(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.0fms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2fms", float64(d)/1e6)
}

// fitRunes cuts the end off what is longer than n characters.
func fitRunes(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}
