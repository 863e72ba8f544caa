// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
)

var errOver = errors.New("the duration is over")

// describe says what would be sent, for how long and where to.
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
	line("pace", "%s, up to %d connections to each target", plan.String(), p.connections)
	if records.url != nil && p.requests == 0 && !plan.Timed() {
		line("takes", "%s, with as many requests as there are responses", p.duration)
		return nil
	}
	var s span
	var last time.Duration
	err := p.each(ctx, records, func(r *recording.Request) error {
		due := plan.Next(r.TimeNS)
		if p.duration > 0 && due >= p.duration {
			return errOver
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
