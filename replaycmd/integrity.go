// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// testIntegrity reads recordings to their ends and says of each whether it is
// whole.
func (p *params) testIntegrity(ctx context.Context, w io.Writer, args []string, stdin io.Reader, note func(error)) (int, error) {
	files, err := inputs(args, stdin, note)
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
	decoder := source.Decode(from)
	var s span
	for {
		r, err := decoder.Next()
		if ctx.Err() != nil {
			return errInterrupted
		}
		if errors.Is(err, io.EOF) {
			fmt.Fprintf(w, "%s: whole, %s, %d bytes uncompressed\n", file.Name, s.String(), source.Offset(decoder))
			return nil
		}
		if err != nil {
			return err
		}
		s.add(r)
	}
}
