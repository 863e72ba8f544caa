// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// MaxBody is the most that can be kept of one body, in bytes.
const MaxBody = 256 << 20

// Options say where a Recorder writes and how. WithDefaults fills in what is
// not set.
type Options struct {
	// The directory of the files. It is made when the first request is
	// recorded. Placeholders are replaced when the configuration is loaded.
	// Required.
	Dir string `json:"dir,omitempty"`

	// What file names start with. Default: `requests`, which makes names like
	// `requests_20261130T143500Z_482113-9f3c01ab.fbf.lz4`.
	Prefix string `json:"prefix,omitempty"`

	// How files are compressed: `lz4`, which stores most of what hardly shrinks
	// as it is; `lz4` with a level from 1 (fast) to 9 (small) like `lz4 3`, by
	// which everything is compressed; or `none`. Default: `lz4`.
	Compression Compression `json:"compression,omitzero"`

	// How many bytes a file may have on disk before the next one is begun. A
	// file is larger only if a single record is. Default: `256MiB`.
	RotateSize units.Size `json:"rotate_size,omitempty"`

	// How old a file may get before the next one is begun. Default: `10m`.
	RotateEvery Duration `json:"rotate_every,omitempty"`

	// Which whole files stay: the newest so many (`100`), those younger than an
	// age (`7d`), the newest that together have so many bytes (`50GiB`). A file
	// stays if all the rules let it. They hold for every recording of the prefix
	// in the directory. Default: every file stays.
	Keep []Keep `json:"keep,omitempty"`

	// The object store to which finished files go; here they stay until it has
	// confirmed them. Stores are modules that a Caddy is built with: `s3`, or
	// others. Default: files stay here.
	Store json.RawMessage `json:"store,omitempty" caddy:"namespace=rehearsal.stores inline_key=scheme"`

	// Below which folder of the store the files are kept, for a handler that has
	// several recordings of one store.
	StoreFolder string `json:"-"`

	// How long a record may be in memory only, and so be lost if the process is
	// killed. Default: `1s`.
	FlushEvery Duration `json:"flush_every,omitempty"`

	// How many bytes of a body are recorded, up to 256MiB. A longer body is
	// recorded up to here and marked as truncated. Default: `16MiB`.
	MaxBody units.Size `json:"max_body,omitempty"`

	// How many bytes of memory records may take that wait for the disk, and
	// bodies that are being received beyond 64 KiB. Default: `64MiB`.
	Memory units.Size `json:"memory,omitempty"`

	// What happens to a request when that memory is full: `block` makes it wait,
	// `drop` answers it without recording it. Default: `block`, and `drop` in a
	// tee, which refuses `block`.
	OnOverflow Overflow `json:"on_overflow,omitzero"`

	// Header and trailer fields whose values are recorded as `REDACTED`, in any
	// case of letters, of requests and responses. `Host` is left out of targets,
	// too, and `X-Request-ID` is not the record's ID. Default: none.
	Redact []string `json:"redact,omitempty"`

	// Parameters whose values are recorded as `REDACTED`: of queries, of those in
	// fields like Referer and Location, and of forms in bodies. Default: none.
	RedactQuery []string `json:"redact_query,omitempty"`

	// Places in JSON bodies whose values are recorded as `"REDACTED"`, like
	// `$.card.number`, `$.items[*].id` or `$['odd name']`, of requests and
	// responses. Default: none.
	RedactJSON []string `json:"redact_json,omitempty"`

	// Like `redact`, but what is recorded is a keyed hash of the value: the same
	// wherever the value stands, of the same length and letters, or 32 hexadecimal
	// digits for what has letters that no header can. It is of the value
	// alone: behind an authentication scheme, of each cookie and without its
	// attributes. Default: none.
	RedactHash []string `json:"redact_hash,omitempty"`

	// Like `redact_query`, with the hash of `redact_hash`. Default: none.
	RedactQueryHash []string `json:"redact_query_hash,omitempty"`

	// Like `redact_json`, with the hash of `redact_hash`; of an object or array,
	// that of each value in it. Default: none.
	RedactJSONHash []string `json:"redact_json_hash,omitempty"`

	// The key of these hashes, of at least 16 characters; placeholders like
	// `{env.REDACT_KEY}` are replaced when the configuration is loaded. Default: one
	// that is made once for each directory and kept there in `redact.key`.
	RedactKey string `json:"redact_key,omitempty"`

	// A header field that has the target that the client sent, where a proxy in
	// front changes it: nginx's `mirror` does. Name one only if that proxy sets
	// it: otherwise clients choose what is recorded. Default: the target as it
	// was received.
	OriginalURI string `json:"original_uri,omitempty"`

	// The permissions of the files, in octal, whatever the umask is. Their owner
	// may read and write them. Default: `0600`.
	Mode Mode `json:"mode,omitempty"`
}

// WithDefaults returns the options with the defaults in place of what is not set.
func (o Options) WithDefaults() Options {
	o.Prefix = cmp.Or(o.Prefix, "requests")
	o.RotateSize = cmp.Or(o.RotateSize, 256<<20)
	o.RotateEvery = cmp.Or(o.RotateEvery, Duration(10*time.Minute))
	o.FlushEvery = cmp.Or(o.FlushEvery, Duration(time.Second))
	o.MaxBody = cmp.Or(o.MaxBody, 16<<20)
	o.Memory = cmp.Or(o.Memory, 64<<20)
	o.OnOverflow = cmp.Or(o.OnOverflow, Block)
	o.Mode = cmp.Or(o.Mode, 0o600)
	return o
}

// Check returns an error if the options cannot work, naming the option as users
// write it.
func (o *Options) Check() error {
	if _, err := ParsePrefix(o.Prefix); err != nil {
		return fmt.Errorf("prefix: %v", err)
	}
	switch {
	case o.RotateSize <= 0:
		return fmt.Errorf("rotate_size: must be greater than 0, is %d", o.RotateSize)
	case o.RotateEvery <= 0:
		return fmt.Errorf("rotate_every: must be greater than 0, is %s", time.Duration(o.RotateEvery))
	case o.FlushEvery <= 0:
		return fmt.Errorf("flush_every: must be greater than 0, is %s", time.Duration(o.FlushEvery))
	case o.MaxBody <= 0 || o.MaxBody > MaxBody:
		return fmt.Errorf("max_body: must be from 1 byte to %d MiB, is %d bytes", MaxBody>>20, o.MaxBody)
	case o.Memory <= 0:
		return fmt.Errorf("memory: must be greater than 0, is %d", o.Memory)
	}
	if slices.Contains(o.Keep, Keep{}) {
		return errors.New("keep: a rule is empty: expected a number of files, an age or a size")
	}
	for option, fields := range map[string][]string{"redact": o.Redact, "redact_hash": o.RedactHash, "original_uri": {cmp.Or(o.OriginalURI, "none")}} {
		for _, field := range fields {
			if err := units.CheckField(field, ""); err != nil {
				return fmt.Errorf("%s: %v", option, err)
			}
		}
	}
	if _, err := newRedaction(o); err != nil {
		return err
	}
	return nil
}

// ParsePrefix returns the text if it can start a file name.
func ParsePrefix(text string) (string, error) {
	if text == "" || strings.ContainsFunc(text, notInNames) {
		return "", fmt.Errorf("'%s' cannot start a file name: use letters, digits, dots, dashes and underscores", text)
	}
	return text, nil
}

func notInNames(r rune) bool {
	return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", r)
}

// CheckDir returns an error if no files can be made in a directory, which need
// not exist. It leaves nothing behind.
func CheckDir(dir string) error {
	if dir == "" {
		return errors.New("a directory is needed")
	}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at):
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is not a directory", at)
		}
		return tryFile(at)
	}
}

// tryFile makes a file in a directory and removes it: permissions alone do not
// tell a read-only file system, or one like /proc, to a process that has all
// rights.
func tryFile(dir string) error {
	file, err := os.CreateTemp(dir, ".rehearsal-*")
	if err != nil {
		return fmt.Errorf("%s is not writable: %w", dir, cmp.Or(errors.Unwrap(err), err))
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
