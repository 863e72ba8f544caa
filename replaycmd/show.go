// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
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
	return cmd
}

func (s *selection) show(cmd *cobra.Command, args []string) (int, error) {
	if len(args) == 0 || source.IsURL(args[0]) {
		return exitNotStarted, errors.New("nothing to show: expected a recording, a folder, a pattern or -")
	}
	ctx, stop := untilInterrupted(cmd.Context(), cmd.ErrOrStderr())
	defer stop()
	notes := &notes{w: cmd.ErrOrStderr()}
	records, err := s.open(ctx, args, cmd.InOrStdin(), false, notes.note)
	if err != nil {
		return exitNotStarted, beforeStart(err)
	}
	defer records.Close()
	out := bufio.NewWriter(cmd.OutOrStdout())
	one := listRecord
	if len(s.ids) > 0 {
		one = showRecord
		if file, ok := cmd.OutOrStdout().(*os.File); ok && term.IsTerminal(int(file.Fd())) {
			one = showOnTerminal
		}
	} else {
		fmt.Fprintf(out, "%-24s  %-36s  %-7s %8s %10s  %s\n", "TIME", "ID", "METHOD", "HEADERS", "BODY", "TARGET")
	}
	err = s.each(ctx, records, func(r *recording.Request) error { return one(out, r) })
	if errFlush := out.Flush(); err == nil {
		err = errFlush
	}
	return records.incomplete(notes, err)
}

func listRecord(w *bufio.Writer, r *recording.Request) error {
	cut := ""
	if r.Truncated() {
		cut = "+"
	}
	_, err := fmt.Fprintf(w, "%-24s  %-36s  %-7s %8d %9d%1s  %s\n",
		timeText(r.TimeNS), printable(r.ID), printable(r.Method), len(r.Headers), len(r.Body), cut, printable(r.URI))
	return err
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

// showOnTerminal escapes what could steer the terminal and leaves out a body
// that it can't show.
func showOnTerminal(w *bufio.Writer, r *recording.Request) error {
	fmt.Fprintf(w, "%s %s %s\n", printable(r.Method), printable(r.URI), printable(proto(r)))
	showFields(w, r.Headers)
	_, err := fmt.Fprintln(w)
	switch {
	case len(r.Body) == 0:
	case isText(r.Body):
		fmt.Fprintf(w, "%s\n", r.Body)
	default:
		fmt.Fprintf(w, "(%d bytes that are not text: send the output to a file to see them)\n", len(r.Body))
	}
	showFields(w, r.Trailers)
	return err
}

func showFields(w *bufio.Writer, fields []byte) {
	for name, value := range recording.EachField(fields) {
		fmt.Fprintf(w, "%s: %s\n", printable(name), printable(value))
	}
}

// proto is the version of HTTP that a request came in, if that was recorded.
func proto(r *recording.Request) []byte {
	if len(r.Proto) == 0 {
		return []byte("HTTP/1.1")
	}
	return r.Proto
}

// printable gives text that can't steer a terminal: what is not printable is
// escaped.
func printable(b []byte) string {
	for rest := b; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		if c == utf8.RuneError && n == 1 || !unicode.IsPrint(c) {
			quoted := fmt.Sprintf("%+q", b)
			return quoted[1 : len(quoted)-1]
		}
		rest = rest[n:]
	}
	return string(b)
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
