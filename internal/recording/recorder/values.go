// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Compression is how files are compressed. As text it is `lz4`, `lz4` with a
// level from 1 (fast) to 9 (small), or `none`. The zero value is `lz4`.
type Compression struct {
	none  bool
	level int
}

// ParseCompression reads the text form.
func ParseCompression(text string) (Compression, error) {
	switch text {
	case "lz4":
		return Compression{}, nil
	case "none":
		return Compression{none: true}, nil
	}
	if level, ok := cutWord(text, "lz4"); ok {
		if n, err := strconv.Atoi(level); err == nil && n >= 1 && n <= 9 {
			return Compression{level: n}, nil
		}
	}
	return Compression{}, fmt.Errorf("'%s' is not a compression: expected lz4, lz4 with a level from 1 to 9, or none", text)
}

func cutWord(text, word string) (rest string, ok bool) {
	if len(text) <= len(word)+1 || text[:len(word)+1] != word+" " {
		return "", false
	}
	return text[len(word)+1:], true
}

// String returns the text that ParseCompression reads.
func (c Compression) String() string {
	switch {
	case c.none:
		return "none"
	case c.level > 0:
		return "lz4 " + strconv.Itoa(c.level)
	}
	return "lz4"
}

// MarshalText writes the compression as text.
func (c Compression) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the compression from text.
func (c *Compression) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCompression(string(text))
	return units.InField[Compression](err)
}

// Keep is a rule about which whole files stay. As text it is a number of
// files (`100`), an age (`7d`, `12h`) or bytes on disk (`50GiB`).
type Keep struct {
	files int
	age   time.Duration
	bytes int64
}

// ParseKeep reads the text form. A rule by which nothing stays is refused.
func ParseKeep(text string) (Keep, error) {
	k := Keep{}
	if n, err := strconv.Atoi(text); err == nil {
		k.files = n
	} else if age, err := units.ParseDuration(text); err == nil {
		k.age = age
	} else if size, err := units.ParseSize(text); err == nil {
		k.bytes = int64(size)
	} else {
		return k, fmt.Errorf("'%s' is neither a number of files, an age like 7d nor a size like 50GiB", text)
	}
	if k.files <= 0 && k.age <= 0 && k.bytes <= 0 {
		return k, fmt.Errorf("'%s' would keep nothing", text)
	}
	return k, nil
}

// String returns a text that ParseKeep reads.
func (k Keep) String() string {
	switch {
	case k.files > 0:
		return strconv.Itoa(k.files)
	case k.age > 0:
		return k.age.String()
	}
	return strconv.FormatInt(k.bytes, 10) + "B"
}

// MarshalText writes the rule as text.
func (k Keep) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the rule from text.
func (k *Keep) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKeep(string(text))
	return units.InField[Keep](err)
}

// Duration is a time. In JSON it is text like `10m` or `7d`, or a number of
// nanoseconds.
type Duration time.Duration

// UnmarshalJSON reads either form.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		return json.Unmarshal(data, (*int64)(d))
	}
	age, err := units.ParseDuration(text)
	*d = Duration(age)
	return units.InField[Duration](err)
}

// Overflow is what happens to a record when memory is full. As text it is
// `block` or `drop`. The zero value is what the handler does by default.
type Overflow struct{ block, drop bool }

// The two things that can happen.
var (
	Block = Overflow{block: true} // the request waits
	Drop  = Overflow{drop: true}  // the request goes on, and is not recorded
)

// ParseOverflow reads the text form.
func ParseOverflow(text string) (Overflow, error) {
	switch text {
	case "block":
		return Block, nil
	case "drop":
		return Drop, nil
	}
	return Overflow{}, fmt.Errorf("'%s' is neither block nor drop", text)
}

// String returns the text that ParseOverflow reads.
func (o Overflow) String() string {
	if o.drop {
		return "drop"
	}
	return "block"
}

// MarshalText writes the choice as text.
func (o Overflow) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the choice from text.
func (o *Overflow) UnmarshalText(text []byte) (err error) {
	*o, err = ParseOverflow(string(text))
	return units.InField[Overflow](err)
}

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

// String returns the text that ParseMode reads: octal, with four digits.
func (m Mode) String() string { return fmt.Sprintf("%04o", uint32(m)) }

// MarshalText writes the mode as text.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the mode from text.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return units.InField[Mode](err)
}
