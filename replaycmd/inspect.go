// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

var errOver = errors.New("the duration is over")

// describe writes what would be sent, for how long and where to.
func (p *params) describe(ctx context.Context, w io.Writer, records *records, plan schedule.Schedule, note func(error)) error {
	line := func(label, format string, args ...any) {
		fmt.Fprintf(w, "%-10s "+format+"\n", append([]any{label}, args...)...)
	}
	for _, target := range p.targets {
		line("to", "%s", target.URL)
	}
	if records.url != nil {
		line("request", "%s", records.url)
	}
	if p.shard != nil {
		line("shard", "%d of %d", p.shard.index, p.shard.count)
	}
	line("pace", "%s, up to %d connections to each target", plan.String(), p.connections)
	if records.url != nil && p.requests == 0 && !plan.Timed() {
		line("takes", "%s, with as many requests as there are responses", p.duration)
		return nil
	}
	if p.warmup > 0 {
		line("warm-up", "%s, which counts nowhere", p.warmup)
	}
	var s span
	var last time.Duration
	all := p.selection
	all.requests = 0 // which are those behind the warm-up
	filter, others := p.newShardFilter(nil), int64(0)
	err := all.each(ctx, records, func(r *recording.Request) error {
		due, mine := plan.Next(r.TimeNS), filter == nil || filter.has(r)
		switch {
		case plan.Timed() && due < p.warmup:
			return nil
		case p.duration > 0 && due-p.warmup >= p.duration, p.requests > 0 && s.records+others == p.requests:
			return errOver
		}
		if !mine {
			others++
			return nil
		}
		last = due
		s.add(r)
		return nil
	})
	if err != nil && !errors.Is(err, errOver) {
		return err
	}
	records.noteUntimed(note)
	line("requests", "%s to each target", humanize.Comma(s.records))
	for _, method := range slices.SortedFunc(maps.Keys(s.methods), func(a, b string) int {
		return int(s.methods[b]-s.methods[a])*2 + strings.Compare(a, b)
	}) {
		line("", "%s %s", humanize.Comma(s.methods[method]), report.Escape(method))
	}
	line("bodies", "%s", humanize.IBytes(s.bodies))
	if s.truncated > 0 {
		line("", "%s of them cut in the recording", humanize.Comma(s.truncated))
	}
	if s.first != 0 {
		line("recorded", "%s to %s", timeText(s.first), timeText(s.last))
	}
	switch {
	case !plan.Timed():
		line("takes", "as long as the responses take")
	case p.loop:
		line("takes", "%s, and then all over again", last.Round(time.Millisecond))
	default:
		line("takes", "%s and the time of the last response", last.Round(time.Millisecond))
	}
	if s.records == 0 && records.missing() == nil {
		return records.nothing("would be sent", p.chosenBy())
	}
	return nil
}

// testIntegrity reads recordings to their ends and reports of each whether it is
// whole. One without its end mark is no error: all that it has can be read.
func (p *params) testIntegrity(ctx context.Context, w io.Writer, args []string, stdin io.Reader, note func(error)) (int, error) {
	files, err := new(selection).inputs(ctx, args, stdin, note)
	if err != nil {
		return exitNotStarted, err
	}
	damaged := 0
	for _, file := range files {
		err := testOne(ctx, w, file)
		if ctx.Err() != nil {
			return exitIncomplete, errInterrupted
		}
		if err != nil {
			fmt.Fprintf(w, "%s: %v\n", file.Name, err)
			damaged++
		}
	}
	if damaged > 0 {
		return exitIncomplete, fmt.Errorf("%d of %d recordings are damaged", damaged, len(files))
	}
	return caddy.ExitCodeSuccess, nil
}

func testOne(ctx context.Context, w io.Writer, file source.Input) error {
	var from io.Reader
	if file.Stream {
		from = file.Reader(ctx)
	} else {
		opened, err := file.Open()
		if err != nil {
			return err
		}
		defer opened.Close()
		from = opened
	}
	decoder := source.Decode(from, file.Stream)
	var s span
	for {
		r, err := decoder.Next()
		if ctx.Err() != nil {
			return errInterrupted
		}
		if errors.Is(err, io.EOF) {
			state := "whole"
			if decoder.Unfinished() {
				state = "unfinished (it is being written, or its writer was killed)"
			}
			left := leftOut(decoder)
			if left != nil {
				state = "not whole"
			}
			size := ""
			if n := decoder.Offset(); n > 0 {
				size = fmt.Sprintf(", %d bytes uncompressed", n)
			}
			fmt.Fprintf(w, "%s: %s, %s%s\n", file.Name, state, s.String(), size)
			return left
		}
		if err != nil {
			return err
		}
		s.add(r)
	}
}

// leftOut returns what of an input could not be read, nil if all could.
func leftOut(decoder *source.Decoder) error {
	skipped := decoder.Skipped()
	if skipped == nil || skipped.Total() == 0 {
		return nil
	}
	return errors.Join(append(skipped.New(), skipped.Summary())...)
}

// extractTo writes each record to a file of its own in a folder, as it would be
// sent. A record that is no valid request is noted and left out.
func (p *params) extractTo(ctx context.Context, folder string, records *records, note func(error)) error {
	rewriter := p.rewriter()
	var m send.Message
	n, bad := 0, 0
	err := p.each(ctx, records, func(r *recording.Request) error {
		n++
		if err := rewriter.Write(&m, r); err != nil {
			bad++
			note(fmt.Errorf("record %d is left out: %w", n, err))
			return nil
		}
		path := filepath.Join(folder, fmt.Sprintf("%06d_%s", n, fileName(r.ID)))
		if err := os.WriteFile(path+".http", m.Bytes(), 0o600); err != nil {
			return err
		}
		if r.Response == nil || r.Response.Status == 0 {
			return nil
		}
		var response bytes.Buffer
		w := bufio.NewWriter(&response)
		s := responseSide(r)
		if err := errors.Join(s.write(w), w.Flush()); err != nil {
			return err
		}
		return os.WriteFile(path+".response.http", response.Bytes(), 0o600)
	})
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d of %d records are not valid requests", bad, n)
	}
	return err
}

// fileName makes a part of a file's name of an identifier.
func fileName(id []byte) string {
	const longest = 64
	safe := strings.Map(func(c rune) rune {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_':
			return c
		}
		return '_'
	}, string(id))
	return safe[:min(len(safe), longest)]
}

// span is what many records are together.
type span struct {
	records     int64
	bodies      uint64
	truncated   int64
	first, last int64 // times
	methods     map[string]int64
}

func (s *span) add(r *recording.Request) {
	s.records++
	s.bodies += uint64(len(r.Body))
	if r.Truncated() {
		s.truncated++
	}
	if s.methods == nil {
		s.methods = make(map[string]int64)
	}
	s.methods[string(r.Method)]++
	if r.TimeNS == 0 {
		return
	}
	if s.first == 0 || r.TimeNS < s.first {
		s.first = r.TimeNS
	}
	s.last = max(s.last, r.TimeNS)
}

// String returns how many records there are and from when.
func (s *span) String() string {
	text := fmt.Sprintf("%d records", s.records)
	if s.records == 1 {
		text = "1 record"
	}
	if s.first != 0 {
		text += fmt.Sprintf(" from %s to %s", timeText(s.first), timeText(s.last))
	}
	return text
}

// timeText writes a recorded time, to the millisecond.
func timeText(ns int64) string {
	if ns == 0 {
		return "-"
	}
	return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// saying remembers the first error of writing what was asked for.
type saying struct {
	io.Writer
	err error
}

func (f *saying) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	var n int
	n, f.err = f.Writer.Write(p)
	return n, f.err
}

// status returns the exit status of a command, which has not done all if what it
// says could not be written.
func (f *saying) status(status int, err error) (int, error) {
	if f.err != nil && status == caddy.ExitCodeSuccess {
		return exitIncomplete, f.err
	}
	return status, err
}
