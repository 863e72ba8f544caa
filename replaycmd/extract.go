// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

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
		name := fmt.Sprintf("%06d_%s.http", n, fileName(r.ID))
		return os.WriteFile(filepath.Join(folder, name), m.Bytes(), 0o600)
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
