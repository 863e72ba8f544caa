// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// showCommand returns the command `caddy replay show`.
func showCommand() *cobra.Command {
	return complete(&cobra.Command{
		Use:   "show [flags] <recording|folder|pattern|->...",
		Short: "Lists the requests of recordings, or shows one of them whole",
		Long: `
Lists the requests of recordings in the order of their times: when they came,
their identifiers, methods, sizes of headers and body, and targets; if they have
responses, also status, size and duration of those. With --id it shows one
whole, as it was recorded.`,
		Example: `  caddy replay show recordings/
  caddy replay show --path '/api/*' -n 20 recordings/
  caddy replay show -i 018f6e1c-4d2a recordings/
  caddy replay show -i 018f6e1c-4d2a --part response --body recordings/`,
	}, new(viewing))
}

// viewing is what the flags of show say.
type viewing struct {
	selection
	part part
	body bool
}

func (v *viewing) define(flags *pflag.FlagSet) {
	v.selection.define(flags)
	flags.Var(single(&v.part, "PART", parsePart), "part", "What --id shows: request, response or both (default both on a terminal, else request)")
	flags.BoolVar(&v.body, "body", false, "Write nothing but the body of that --part, as it was recorded")
}

func (v *viewing) check() error {
	switch {
	case (v.part != "" || v.body) && len(v.ids) == 0:
		return errors.New("--part and --body are for one record: expected --id")
	case v.body && v.part != partRequest && v.part != partResponse:
		return errors.New("--body is of one part: expected --part request or --part response")
	}
	return nil
}

func (v *viewing) run(cmd *cobra.Command, args []string) (int, error) {
	if len(args) == 0 || source.IsURL(args[0]) {
		return exitNotStarted, errors.New("nothing to show: expected a recording, a folder, a pattern or -")
	}
	if err := v.check(); err != nil {
		return exitNotStarted, err
	}
	ctx, stop, notes := begin(cmd)
	defer stop()
	records, err := v.open(ctx, args, cmd.InOrStdin(), false, notes.note)
	if err != nil {
		return exitNotStarted, beforeStart(err)
	}
	defer records.Close()
	out := bufio.NewWriter(cmd.OutOrStdout())
	width, isTerminal := terminalWidth(cmd.OutOrStdout())
	list := &listing{w: report.Escaping(out), width: width}
	one := list.record
	if len(v.ids) > 0 {
		one = v.whole(out, isTerminal)
	}
	err = v.each(ctx, records, one)
	if len(v.ids) == 0 && err == nil {
		list.end()
	}
	if errFlush := out.Flush(); err == nil {
		err = errFlush
	}
	records.noteUntimed(notes.note)
	return records.incomplete(notes, err)
}

// terminalWidth returns how many columns the terminal has that w is, if it is one.
func terminalWidth(w io.Writer) (width int, isTerminal bool) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0, true
	}
	return width, true
}

// listing is a line for each record. On a terminal no line is longer than that
// is wide: if need be times are of the day and sizes those of bodies only.
type listing struct {
	w         io.Writer
	width     int // 0: any
	headed    bool
	responses bool // there are columns for them
}

// wideEnough is the width from which on a listing has all there is.
const wideEnough = 120

func (l *listing) isWide() bool { return l.width == 0 || l.width >= wideEnough }

// end writes the head if there was no record to write it for.
func (l *listing) end() {
	if !l.headed {
		l.head()
	}
}

func (l *listing) head() {
	l.headed = true
	l.line("TIME", "ID", "METHOD", "HEADERS", "BODY", "STATUS", "RESPONSE", "DURATION", "TARGET") //nolint:errcheck // flushing returns it
}

// record writes the line of a record. The first record with a response gives all
// that follow the columns of one.
func (l *listing) record(r *recording.Request) error {
	if r.Response != nil && !l.responses {
		l.responses, l.headed = true, false
	}
	if !l.headed {
		l.head()
	}
	at := timeText(r.TimeNS)
	if !l.isWide() && r.TimeNS != 0 {
		at = time.Unix(0, r.TimeNS).UTC().Format("15:04:05.000")
	}
	status, size, duration := "-", "- ", "-"
	if response := r.Response; response != nil {
		if response.Status > 0 {
			status = strconv.Itoa(response.Status)
		}
		if len(response.Error) > 0 {
			status += "!"
		}
		size = sizeText(response.Body, response.Truncated())
		if response.DurationNS > 0 {
			duration = fmt.Sprintf("%.2f ms", float64(response.DurationNS)/1e6)
		}
	}
	return l.line(at, report.Escape(string(r.ID)), report.Escape(string(r.Method)),
		strconv.Itoa(len(r.Headers)), sizeText(r.Body, r.Truncated()), status, size, duration, report.Escape(string(r.URI)))
}

// sizeText returns the size of a body, with a mark if that is not all of it.
func sizeText(body []byte, truncated bool) string {
	if truncated {
		return strconv.Itoa(len(body)) + "+"
	}
	return strconv.Itoa(len(body)) + " "
}

func (l *listing) line(at, id, method, headers, body, status, size, duration, target string) error {
	var text string
	switch {
	case l.isWide() && l.responses:
		text = fmt.Sprintf("%-24s  %-36s  %-7s %8s %10s %6s %10s %12s  %s", at, id, method, headers, body, status, size, duration, target)
	case l.isWide():
		text = fmt.Sprintf("%-24s  %-36s  %-7s %8s %10s  %s", at, id, method, headers, body, target)
	case l.responses:
		text = fmt.Sprintf("%-12s %-36s %-7s %6s %s", at, id, method, status, target)
	default:
		text = fmt.Sprintf("%-12s %-36s %-7s %8s %s", at, id, method, body, target)
	}
	_, err := fmt.Fprintln(l.w, l.fit(text))
	return err
}

// fit cuts a line to the width.
func (l *listing) fit(line string) string {
	if runes := []rune(line); l.width > 0 && len(runes) > l.width {
		return string(runes[:l.width-1]) + "…"
	}
	return line
}
