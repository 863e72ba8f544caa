// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"strings"
	"time"
)

// MaxBody is the most that can be kept of one body, in bytes.
const MaxBody = 256 << 20

// Options say where and how a Recorder writes. All of them must be set, but for
// Keep and Redact.
type Options struct {
	Dir         string
	Prefix      string        // of file names
	Compression Compression   // of the files
	RotateSize  int64         // bytes on disk that a file may have
	RotateEvery time.Duration // age that a file may reach
	Keep        []Keep        // which whole files stay; all of them without a rule
	FlushEvery  time.Duration // how long a record may wait in memory
	MaxBody     int64         // bytes that are kept of a body
	Memory      int64         // bytes that records being received or waiting for the disk may take
	OnOverflow  Overflow      // what happens beyond Memory
	Redact      []string      // fields whose values are not recorded
	Mode        Mode          // permissions of the files
}

// Check refuses options that cannot work, naming the option as users write it.
func (o *Options) Check() error {
	if _, err := ParsePrefix(o.Prefix); err != nil {
		return fmt.Errorf("prefix: %v", err)
	}
	switch {
	case o.RotateSize <= 0:
		return fmt.Errorf("rotate_size: must be more than 0, is %d", o.RotateSize)
	case o.RotateEvery <= 0:
		return fmt.Errorf("rotate_every: must be more than 0, is %s", o.RotateEvery)
	case o.FlushEvery <= 0:
		return fmt.Errorf("flush_every: must be more than 0, is %s", o.FlushEvery)
	case o.MaxBody <= 0 || o.MaxBody > MaxBody:
		return fmt.Errorf("max_body: must be from 1 byte to %d MiB, is %d bytes", MaxBody>>20, o.MaxBody)
	case o.Memory <= 0:
		return fmt.Errorf("memory: must be more than 0, is %d", o.Memory)
	}
	return nil
}

// ParsePrefix refuses what cannot start a file name.
func ParsePrefix(text string) (string, error) {
	if text == "" || strings.ContainsFunc(text, notInNames) {
		return "", fmt.Errorf("'%s' cannot start a file name: use letters, digits, dots, dashes and underscores", text)
	}
	return text, nil
}

func notInNames(r rune) bool {
	return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", r)
}

// redacts tells whether the value of a field is to be left out.
func (o *Options) redacts(name string) bool {
	for _, redacted := range o.Redact {
		if strings.EqualFold(name, redacted) {
			return true
		}
	}
	return false
}
