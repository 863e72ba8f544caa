// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// linksCommand returns the command `caddy replay links`.
func linksCommand() *cobra.Command {
	return complete(&cobra.Command{
		Use:   "links [flags] <recording|folder|pattern|->...",
		Short: "Finds which values of requests come from earlier answers",
		Long: `
Finds the values in requests that come from earlier answers of the same session:
tokens, ids, cookies. They are found by counting: a link is a place in requests
and a place in answers whose values are equal in at least 90% of the sessions
that have both, and in at most 10% when paired with other sessions. It takes 10
sessions, or values that cannot be equal by chance, such as a UUID.

Sessions are told apart by --session. Without it those cookies and bearer tokens
are taken that name sessions, judging by the first records.

The exit status is 0 if links were found, 3 if none, or if part of a recording
could not be read.`,
		Example: `  caddy replay links recordings/
  caddy replay links --session 'cookie sid' -o links.json recordings/`,
	}, new(linking))
}

// linking is what the flags of links say.
type linking struct {
	selection
	keys []conversation.SessionKey
	file string
}

func (l *linking) define(flags *pflag.FlagSet) {
	flags.Var(several(&l.keys, "KEY", conversation.ParseSessionKey), "session", "What of a request names its session: 'cookie NAME', 'header NAME', bearer or client_ip (repeatable, the first that a request has counts)")
	flags.VarP(single(&l.file, "FILE", parseText), "output", "o", "Write what was found to this file as JSON, to be edited and used (- for standard output, then tables go to standard error)")
	l.selection.define(flags)
}

func (l *linking) run(cmd *cobra.Command, args []string) (int, error) {
	if len(args) == 0 || source.IsURL(args[0]) {
		return exitNotStarted, errors.New("nothing to look at: expected a recording, a folder, a pattern or -")
	}
	ctx, stop, notes := begin(cmd)
	defer stop()
	records, err := l.open(ctx, args, cmd.InOrStdin(), false, notes.note)
	if err != nil {
		return exitNotStarted, beforeStart(err)
	}
	defer records.Close()
	tables, out := cmd.OutOrStdout(), new(outputFile)
	if l.file != "" {
		if out, err = createOutput(l.file, tables); err != nil {
			return exitNotStarted, err
		}
		defer out.discard()
	}
	if l.file == stdinArg {
		tables = cmd.ErrOrStderr()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	finder := conversation.NewFinder(l.keys)
	finder.Listing = l.file != ""
	if err := l.each(ctx, records, func(r *recording.Request) error {
		finder.Add(r)
		return nil
	}); err != nil {
		return exitIncomplete, err
	}
	records.noteUntimed(notes.note)
	found := finder.Result()
	if err := writeLinks(report.Escaping(tables), found); err != nil {
		return exitIncomplete, err
	}
	for _, left := range beyondBounds(&found.Left) {
		notes.note(left)
	}
	if len(found.Links) == 0 {
		return exitIncomplete, noLinks(found)
	}
	if l.file != "" {
		if err := found.Write(out); err != nil {
			return exitIncomplete, outputError(l.file, err)
		}
		if err := out.keep(); err != nil {
			return exitIncomplete, err
		}
	}
	return records.incomplete(notes, nil)
}

// noLinks returns why nothing was found.
func noLinks(found *conversation.Result) error {
	switch {
	case found.Records == 0:
		return errors.New("no links: there are no records")
	case found.Responses == 0:
		return errors.New("no links: no record has a response")
	case found.Sessions == 0:
		return errors.New("no links: no record has a session; expected --session with what of a request names it")
	}
	return errors.New("no links were found")
}

// beyondBounds returns a warning for each kind of thing that was left out.
func beyondBounds(left *conversation.Left) (warnings []error) {
	for _, kind := range []struct {
		n    int64
		what string
	}{
		{left.Endpoints, "requests are of endpoints beyond the first 2,000: their paths may have ids that are not recognized"},
		{left.Slots, "values are at places beyond those that are kept of an endpoint"},
		{left.Values, "values are beyond those that are kept of a session"},
		{left.Sessions, "sessions were not looked into, or not as wholes, since too many went on at once"},
		{left.Pairs, "pairs of places are beyond those that are counted"},
		{left.Records, "records are not listed with their session: there are too many"},
	} {
		if kind.n > 0 {
			warnings = append(warnings, fmt.Errorf("left out: %s %s", humanize.Comma(kind.n), kind.what))
		}
	}
	return warnings
}

// writeLinks writes what was found as tables.
func writeLinks(w io.Writer, found *conversation.Result) error {
	keys := make([]string, len(found.Session))
	for i, key := range found.Session {
		keys[i] = key.String()
	}
	if len(keys) == 0 {
		keys = []string{"nothing"}
	}
	fmt.Fprintf(w, "%s, named by %s, in %s", counted(found.Sessions, "session", "sessions"), strings.Join(keys, " and "), counted(found.Records, "record", "records"))
	if found.Outside > 0 {
		fmt.Fprintf(w, "; %s to none", counted(found.Outside, "belongs", "belong"))
	}
	fmt.Fprintln(w)
	links := columns{head: []string{"CONSUMER", "", "PRODUCER", "", "SESSIONS", "SUPPORT", "CHANCE", "EXAMPLE"}}
	for _, link := range found.Links {
		links.link(link)
	}
	if err := links.write(w, ""); err != nil {
		return err
	}
	few := columns{head: links.head}
	for _, link := range found.Few {
		few.link(link)
	}
	if err := few.write(w, fmt.Sprintf("Not linked: values so short may be equal by chance, and fewer than %d sessions have both", conversation.MinSessions)); err != nil {
		return err
	}
	elsewhere := columns{head: []string{"CONSUMER", "", "SESSIONS", "EXAMPLE"}}
	for _, e := range found.Elsewhere {
		elsewhere.rows = append(elsewhere.rows, []string{e.Consumer.Endpoint, e.Consumer.Place.String(), humanize.Comma(int64(e.Sessions)), e.Value})
	}
	return elsewhere.write(w, "From elsewhere: values that no earlier answer of the session had, and that differ between sessions")
}

// counted returns a number with the word that goes with it.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(n) + " " + many
}

// columns is a table.
type columns struct {
	head []string
	rows [][]string
}

func (c *columns) link(l conversation.Link) {
	c.rows = append(c.rows, []string{
		l.Consumer.Endpoint, l.Consumer.Place.String(), l.Producer.Endpoint, l.Producer.Place.String(),
		humanize.Comma(int64(l.Sessions)), shareText(l.Support), shareText(l.Chance), l.Example.Value,
	})
}

func shareText(share float64) string { return strconv.FormatFloat(100*share, 'f', -1, 64) + "%" }

// write writes the table below a title, and nothing if it has no rows.
func (c *columns) write(w io.Writer, title string) error {
	if len(c.rows) == 0 {
		return nil
	}
	rows := append([][]string{c.head}, c.rows...)
	widths := make([]int, len(c.head))
	for _, row := range rows {
		for i := range row {
			row[i] = report.Escape(row[i])
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	var text strings.Builder
	text.WriteByte('\n')
	if title != "" {
		text.WriteString(title + ":\n\n")
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if _, err := strconv.ParseFloat(strings.NewReplacer("%", "", ",", "").Replace(cell), 64); err == nil && i < len(row)-1 {
				line.WriteString(space + cell)
			} else {
				line.WriteString(cell + space)
			}
		}
		text.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}
