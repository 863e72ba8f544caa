// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// showCommand is `caddy replay show`.
func showCommand() *cobra.Command {
	s := new(selection)
	cmd := &cobra.Command{
		Use:   "show [flags] <recording|folder|pattern|->...",
		Short: "Lists the requests of recordings, or shows one of them whole",
		Long: `
Lists the requests of recordings in the order of their times: when they came,
their identifiers, methods, sizes of headers and body, and targets. With --id it
shows a request whole, as it was recorded.`,
		Example: `  caddy replay show recordings/
  caddy replay show --path '/api/*' -n 20 recordings/
  caddy replay show -i 018f6e1c-4d2a recordings/`,
		Args: cobra.ArbitraryArgs,
		RunE: exiting(s.show),
	}
	cmd.Flags().SortFlags = false
	s.define(cmd.Flags())
	helpWithFlags(cmd)
	return cmd
}

func (s *selection) show(cmd *cobra.Command, args []string) (int, error) {
	if len(args) == 0 || source.IsURL(args[0]) {
		return exitNotStarted, errors.New("nothing to show: expected a recording, a folder, a pattern or -")
	}
	ctx, stop := untilInterrupted(cmd.Context(), cmd.ErrOrStderr())
	defer stop()
	notes := &notes{w: report.Escaping(cmd.ErrOrStderr())}
	records, err := s.open(ctx, args, cmd.InOrStdin(), false, notes.note)
	if err != nil {
		return exitNotStarted, beforeStart(err)
	}
	defer records.Close()
	out := bufio.NewWriter(cmd.OutOrStdout())
	width, isTerminal := terminalWidth(cmd.OutOrStdout())
	list := &listing{w: report.Escaping(out), width: width}
	one := list.record
	switch {
	case len(s.ids) == 0:
		list.head()
	case isTerminal:
		one = func(r *recording.Request) error { return showOnTerminal(report.Escaping(out), r) }
	default:
		one = func(r *recording.Request) error { return showRecord(out, r) }
	}
	err = s.each(ctx, records, one)
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
	w     io.Writer
	width int // 0: any
}

// wideEnough is the width from which on a listing has all there is.
const wideEnough = 120

func (l *listing) isWide() bool { return l.width == 0 || l.width >= wideEnough }

func (l *listing) head() {
	l.line("TIME", "ID", "METHOD", "HEADERS", "BODY", "TARGET") //nolint:errcheck // flushing returns it
}

func (l *listing) record(r *recording.Request) error {
	body := strconv.Itoa(len(r.Body)) + " "
	if r.Truncated() {
		body = strconv.Itoa(len(r.Body)) + "+"
	}
	at := timeText(r.TimeNS)
	if !l.isWide() && r.TimeNS != 0 {
		at = time.Unix(0, r.TimeNS).UTC().Format("15:04:05.000")
	}
	return l.line(at, report.Escape(string(r.ID)), report.Escape(string(r.Method)),
		strconv.Itoa(len(r.Headers)), body, report.Escape(string(r.URI)))
}

func (l *listing) line(at, id, method, headers, body, target string) error {
	if l.isWide() {
		text := fmt.Sprintf("%-24s  %-36s  %-7s %8s %10s  %s", at, id, method, headers, body, target)
		_, err := fmt.Fprintln(l.w, l.fit(text))
		return err
	}
	_, err := fmt.Fprintln(l.w, l.fit(fmt.Sprintf("%-12s %-36s %-7s %8s %s", at, id, method, body, target)))
	return err
}

// fit cuts a line to the width.
func (l *listing) fit(line string) string {
	if runes := []rune(line); l.width > 0 && len(runes) > l.width {
		return string(runes[:l.width-1]) + "…"
	}
	return line
}

// showRecord writes a record as it was recorded, byte for byte: its head, the
// body out of its chunks, and its trailers behind a line break.
func showRecord(w *bufio.Writer, r *recording.Request) error {
	fmt.Fprintf(w, "%s %s %s\r\n%s", r.Method, r.URI, proto(r), r.Headers)
	if len(r.Headers) > 0 && !bytes.HasSuffix(r.Headers, []byte("\n")) {
		fmt.Fprint(w, "\r\n")
	}
	fmt.Fprint(w, "\r\n")
	_, err := w.Write(r.Body)
	if len(r.Trailers) > 0 {
		_, err = fmt.Fprintf(w, "\r\n%s", r.Trailers)
	}
	return err
}

// showOnTerminal leaves out a body that a terminal can't show.
func showOnTerminal(w io.Writer, r *recording.Request) error {
	fmt.Fprintf(w, "%s %s %s\n", report.Escape(string(r.Method)), report.Escape(string(r.URI)), report.Escape(string(proto(r))))
	showFields(w, r.Headers)
	_, err := fmt.Fprintln(w)
	switch {
	case len(r.Body) == 0:
	case isText(r.Body):
		fmt.Fprintf(w, "%s\n", bytes.ReplaceAll(r.Body, []byte("\r\n"), []byte("\n")))
	default:
		fmt.Fprintf(w, "(%d bytes that are not text: send the output to a file to see them)\n", len(r.Body))
	}
	showFields(w, r.Trailers)
	return err
}

func showFields(w io.Writer, fields []byte) {
	for name, value := range recording.EachField(fields) {
		fmt.Fprintf(w, "%s: %s\n", report.Escape(string(name)), report.Escape(string(value)))
	}
}

// proto is the version of HTTP that a request came in, if that was recorded.
func proto(r *recording.Request) []byte {
	if len(r.Proto) == 0 {
		return []byte("HTTP/1.1")
	}
	return r.Proto
}

func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, c := range string(b) {
		if !unicode.IsPrint(c) && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
