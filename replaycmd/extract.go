// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/send"
)

// extractTo writes each record to a file of its own in a folder, as it would be
// sent.
func (p *params) extractTo(folder string, records *records) error {
	rewriter := send.Rewriter{Set: p.set, Remove: p.remove}
	if p.host != hostPreserve && p.host != hostTarget {
		rewriter.Host = p.host
	}
	var m send.Message
	n := 0
	return p.each(records, func(r *recording.Request) error {
		n++
		if err := rewriter.Write(&m, r); err != nil {
			return fmt.Errorf("record %d: %v", n, err)
		}
		name := fmt.Sprintf("%06d_%s.http", n, fileName(r.ID))
		return os.WriteFile(filepath.Join(folder, name), m.Bytes(), 0o600)
	})
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
