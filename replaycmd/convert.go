// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/foreign"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// convertCommand returns the command `caddy replay convert`.
func convertCommand() *cobra.Command {
	return complete(&cobra.Command{
		Use:   "convert [flags] -o <file> <recording|folder|pattern|->...",
		Short: "Writes the requests of recordings in another form",
		Long: `
Writes the requests of recordings, HAR, GoReplay's files, access logs and lists
of vegeta or curl into one file, in the order of their times, with the answers
that they have. Its form is that of its name:

  .fbf, .lz4           ours, plain or compressed
  .har                 HAR 1.2
  .gor                 GoReplay's
  .jsonl, .ndjson      lines of JSON, which vegeta reads as targets

or that of --as. With .gz behind it is packed. What a form has no place for is
counted on standard error.

The exit status is 0 when all was written; 1 if nothing could be started; 3 if
there was nothing to write, or part of a recording could not be read.`,
		Example: `  caddy replay convert -o requests.lz4 access.log
  caddy replay convert -o orders.har --path '/orders/*' recordings/
  caddy replay convert -o - --as jsonl requests.gor | vegeta attack -format=json`,
	}, new(converting))
}

// converting is what the flags of convert say.
type converting struct {
	selection
	output string
	as     string
}

// forms are what convert writes.
var forms = map[string]func(io.Writer) writer{
	"fbf":   func(w io.Writer) writer { return recording.NewWriter(w, false) },
	"lz4":   func(w io.Writer) writer { return recording.NewWriter(w, true) },
	"har":   func(w io.Writer) writer { return foreign.NewHARWriter(w, unpackAtMost) },
	"gor":   func(w io.Writer) writer { return foreign.NewGorWriter(w) },
	"jsonl": func(w io.Writer) writer { return foreign.NewJSONWriter(w) },
}

// writer writes records in one form.
type writer interface {
	Write(r *recording.Request) error
	Close() error
}

// maxUnpacked is the most bytes that the body of an answer is unpacked to.
const maxUnpacked = 64 << 20

func unpackAtMost(body, encoding []byte) ([]byte, error) {
	return new(coding.Unpacker).Unpack(nil, body, encoding, maxUnpacked)
}

func (c *converting) define(flags *pflag.FlagSet) {
	flags.VarP(single(&c.output, "FILE", parseText), "output", "o", "File to write, - for standard output")
	flags.Var(single(&c.as, "FORM", parseForm), "as", "Form of the file: fbf, lz4, har, gor or jsonl (default that of its name)")
	c.selection.define(flags)
}

const formNames = "fbf, lz4, har, gor or jsonl"

func parseForm(text string) (string, error) {
	if forms[text] == nil {
		return "", fmt.Errorf("'%s' is not a form: expected %s", text, formNames)
	}
	return text, nil
}

// form returns the form that is asked for, and whether it is to be packed.
func (c *converting) form() (form string, packed bool, err error) {
	name, packed := strings.CutSuffix(strings.ToLower(c.output), ".gz")
	switch {
	case c.output == "":
		return "", false, errors.New("nowhere to write to: expected -o FILE")
	case c.as != "":
		return c.as, packed, nil
	}
	form = strings.TrimPrefix(filepath.Ext(name), ".")
	if form == "ndjson" {
		form = "jsonl"
	}
	if forms[form] == nil {
		return "", false, fmt.Errorf("the name '%s' says no form: expected one that ends in .fbf, .lz4, .har, .gor or .jsonl, or --as", c.output)
	}
	return form, packed, nil
}

func (c *converting) run(cmd *cobra.Command, args []string) (int, error) {
	if len(args) == 0 || source.IsURL(args[0]) {
		return exitNotStarted, errors.New("nothing to convert: expected a recording, a folder, a pattern or -")
	}
	form, packed, err := c.form()
	if err != nil {
		return exitNotStarted, err
	}
	ctx, stop, notes := begin(cmd)
	defer stop()
	records, err := c.open(ctx, args, cmd.InOrStdin(), false, notes.note)
	if err != nil {
		return exitNotStarted, beforeStart(err)
	}
	defer records.Close()
	out, err := createOutput(c.output, cmd.OutOrStdout())
	if err != nil {
		return exitNotStarted, err
	}
	defer out.discard()
	written, err := c.write(ctx, out, form, packed, records, notes.note)
	if err != nil {
		return exitIncomplete, err
	}
	records.noteUntimed(notes.note)
	if written == 0 {
		return exitIncomplete, records.nothing("was written", nil)
	}
	if err := out.keep(); err != nil {
		return exitIncomplete, err
	}
	if c.output != stdinArg {
		fmt.Fprintf(report.Escaping(cmd.ErrOrStderr()), "%d records in %s\n", written, c.output)
	}
	return records.incomplete(notes, nil)
}

// write writes the records and notes what the form has no place for.
func (c *converting) write(ctx context.Context, out io.Writer, form string, packed bool, records *records, note func(error)) (written int64, err error) {
	buffered := bufio.NewWriterSize(out, 64<<10)
	to, closePacked := io.Writer(buffered), func() error { return nil }
	if packed {
		zip := gzip.NewWriter(buffered)
		to, closePacked = zip, zip.Close
	}
	w := forms[form](to)
	err = c.each(ctx, records, func(r *recording.Request) error {
		written++
		return w.Write(r)
	})
	if err == nil {
		err = errors.Join(w.Close(), closePacked(), buffered.Flush())
	}
	if lossy, ok := w.(foreign.Writer); ok {
		for _, words := range lossy.Losses().Each() {
			note(fmt.Errorf("%s: %s", form, words))
		}
	}
	return written, err
}
