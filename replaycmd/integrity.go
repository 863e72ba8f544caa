// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// testIntegrity reads recordings to their ends and says of each whether it is
// whole.
func (p *params) testIntegrity(ctx context.Context, w io.Writer, args []string, stdin io.Reader, note func(error)) (int, error) {
	names, err := source.Expand(args, note)
	if err != nil {
		return exitNotStarted, err
	}
	damaged := 0
	for _, name := range names {
		err := testOne(ctx, w, name, stdin)
		if ctx.Err() != nil {
			return exitIncomplete, errInterrupted
		}
		if err != nil {
			fmt.Fprintf(w, "%s: %v\n", name, err)
			damaged++
		}
	}
	if damaged > 0 {
		return exitIncomplete, fmt.Errorf("%d of %d recordings are damaged", damaged, len(names))
	}
	return caddy.ExitCodeSuccess, nil
}

func testOne(ctx context.Context, w io.Writer, name string, stdin io.Reader) error {
	var reader *recording.Reader
	if source.IsStream(name) {
		reader = recording.NewReader(source.OpenStream(ctx, name, stdin))
	} else {
		file, err := recording.OpenFile(name)
		if err != nil {
			return err
		}
		defer file.Close()
		reader = file.Reader
	}
	var s span
	for {
		r, err := reader.Next()
		if ctx.Err() != nil {
			return errInterrupted
		}
		if errors.Is(err, io.EOF) {
			fmt.Fprintf(w, "%s: whole, %s, %d bytes uncompressed\n", name, s.String(), reader.Offset())
			return nil
		}
		if err != nil {
			return err
		}
		s.add(r)
	}
}
