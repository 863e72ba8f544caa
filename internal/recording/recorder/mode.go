// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"io/fs"
	"strconv"
)

// Mode is the permissions of a file. As text it is an octal number: `0600`. The
// owner may read and write the file: what a crash leaves is read and cut by the
// next recorder.
type Mode fs.FileMode

// ParseMode reads the text form.
func ParseMode(text string) (Mode, error) {
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil || n == 0 || n > uint64(fs.ModePerm) {
		return 0, fmt.Errorf("'%s' is not a file mode: expected an octal number like 0600", text)
	}
	if n&0o600 != 0o600 {
		return 0, fmt.Errorf("'%s' does not let the owner read and write: expected a file mode like 0600", text)
	}
	return Mode(n), nil
}

// String gives the text that ParseMode reads.
func (m Mode) String() string { return fmt.Sprintf("%04o", uint32(m)) }

// MarshalText writes the mode as text.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the mode from text.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return err
}
