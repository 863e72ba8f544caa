// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Options say where requests are recorded and how their files are written.
type Options struct {
	// The directory of the files. It is made when the first request is
	// recorded. Placeholders are replaced when the configuration is loaded.
	// Required.
	Dir string `json:"dir,omitempty"`

	// What file names start with. Default: `requests`, which gives names like
	// `requests_20261130T143500Z_482113-9f3c01ab.fbf.lz4`.
	Prefix string `json:"prefix,omitempty"`

	// How files are compressed: `lz4`, which stores most of what hardly shrinks
	// as it is; `lz4` with a level from 1 (fast) to 9 (small) like `lz4 3`, by
	// which everything is compressed; or `none`. Default: `lz4`.
	Compression recorder.Compression `json:"compression,omitzero"`

	// How many bytes a file may have on disk before the next one is begun. A
	// file is larger only if a single record is. Default: `256MiB`.
	RotateSize units.Size `json:"rotate_size,omitempty"`

	// How old a file may get before the next one is begun. Default: `10m`.
	RotateEvery caddy.Duration `json:"rotate_every,omitempty"`

	// Which whole files stay: the newest so many (`100`), those younger than an
	// age (`7d`), the newest that together have so many bytes (`50GiB`). A file
	// stays if all the rules let it. They hold for every file of the prefix in
	// the directory. Default: every file stays.
	Keep []recorder.Keep `json:"keep,omitempty"`

	// How long a record may be in memory only, and so be lost if the process is
	// killed. Default: `1s`.
	FlushEvery caddy.Duration `json:"flush_every,omitempty"`

	// How many bytes of a body are recorded, up to 256MiB. A longer body is
	// recorded up to here and marked as truncated. Default: `16MiB`.
	MaxBody units.Size `json:"max_body,omitempty"`

	// How many bytes of memory records may take that wait for the disk, and
	// bodies that are being received beyond 64 KiB. Default: `64MiB`.
	Memory units.Size `json:"memory,omitempty"`

	// What happens to a request when that memory is full: `block` has it wait,
	// `drop` answers it without recording it. Default: `block`.
	OnOverflow recorder.Overflow `json:"on_overflow,omitzero"`

	// Header and trailer fields whose values are recorded as `REDACTED`, in any
	// case of letters. Default: none.
	Redact []string `json:"redact,omitempty"`

	// The permissions of the files, in octal, whatever the umask is. Their owner
	// may read and write them. Default: `0600`.
	Mode recorder.Mode `json:"mode,omitempty"`
}

// Resolve gives the options with the defaults in place, or says which of them
// cannot work. It makes no file and no directory.
func (o *Options) Resolve() (recorder.Options, error) {
	dir, err := o.checkedDir()
	if err != nil {
		return recorder.Options{}, err
	}
	resolved := recorder.Options{
		Dir:         dir,
		Prefix:      cmp.Or(o.Prefix, "requests"),
		Compression: o.Compression,
		RotateSize:  int64(cmp.Or(o.RotateSize, 256<<20)),
		RotateEvery: time.Duration(cmp.Or(o.RotateEvery, caddy.Duration(10*time.Minute))),
		Keep:        o.Keep,
		FlushEvery:  time.Duration(cmp.Or(o.FlushEvery, caddy.Duration(time.Second))),
		MaxBody:     int64(cmp.Or(o.MaxBody, 16<<20)),
		Memory:      int64(cmp.Or(o.Memory, 64<<20)),
		OnOverflow:  o.OnOverflow,
		Redact:      o.Redact,
		Mode:        cmp.Or(o.Mode, 0o600),
	}
	return resolved, resolved.Check()
}

// checkedDir gives the absolute path of the directory if files can be made in it.
func (o *Options) checkedDir() (string, error) {
	if o.Dir == "" {
		return "", errors.New("record: a directory is needed")
	}
	dir, err := caddy.NewReplacer().ReplaceOrErr(o.Dir, true, true)
	if err != nil {
		return "", fmt.Errorf("record: %v", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", fmt.Errorf("record: %v", err)
	}
	if err := recorder.CheckDir(dir); err != nil {
		return "", fmt.Errorf("record: %v", err)
	}
	return dir, nil
}
