// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/words"
)

// Options say where requests are recorded and how their files are written.
type Options = recorder.Options

// ParseOption returns the options of a record option, whose name is under the
// cursor. Syntax:
//
//	record <dir> {
//		prefix       <name>
//		compression  lz4 [<level>] | none
//		rotate_size  <size>
//		rotate_every <duration>
//		keep         <number> | <duration> | <size>
//		store        <url>
//		flush_every  <duration>
//		max_body     <size>
//		memory       <size>
//		on_overflow  block | drop
//		redact       <field>...
//		redact_query <name>...
//		redact_json  <path>...
//		redact_hash       <field>...
//		redact_query_hash <name>...
//		redact_json_hash  <path>...
//		redact_key        <key>
//		original_uri <field>
//		mode         <octal>
//	}
//
// keep and those of redacting may be given more than once. A directory in which no files
// can be made is refused here already, where its line is known.
func ParseOption(d *caddyfile.Dispenser) (*Options, error) {
	option := d.Val()
	dir, err := words.Arg(d, words.Plain)
	if err != nil {
		return nil, err
	}
	o := &Options{Dir: dir}
	if _, err := checkedDir(o.Dir); err != nil {
		return nil, d.WrapErr(fmt.Errorf("%s: %w", option, err))
	}
	err = words.Options{
		"prefix":            words.Value(&o.Prefix, recorder.ParsePrefix),
		"compression":       words.Joined(&o.Compression, 1, 2, recorder.ParseCompression),
		"rotate_size":       words.Value(&o.RotateSize, words.Positive(units.ParseSize)),
		"rotate_every":      words.Value(&o.RotateEvery, words.Positive(parseDuration)),
		"keep":              words.List(&o.Keep, recorder.ParseKeep),
		"store":             words.Value(&o.Store, parseStore),
		"flush_every":       words.Value(&o.FlushEvery, words.Positive(parseDuration)),
		"max_body":          words.Value(&o.MaxBody, parseMaxBody),
		"memory":            words.Value(&o.Memory, words.Positive(units.ParseSize)),
		"on_overflow":       words.Value(&o.OnOverflow, recorder.ParseOverflow),
		"redact":            words.List(&o.Redact, parseField),
		"redact_query":      words.List(&o.RedactQuery, words.Plain),
		"redact_json":       words.List(&o.RedactJSON, parsePath),
		"redact_hash":       words.List(&o.RedactHash, parseField),
		"redact_query_hash": words.List(&o.RedactQueryHash, words.Plain),
		"redact_json_hash":  words.List(&o.RedactJSONHash, parsePath),
		"redact_key":        words.Value(&o.RedactKey, recorder.ParseKey),
		"original_uri":      words.Value(&o.OriginalURI, parseField),
		"mode":              words.Value(&o.Mode, recorder.ParseMode),
	}.Block(d, "record", "keep", "redact", "redact_query", "redact_json", "redact_hash", "redact_query_hash", "redact_json_hash")
	if err != nil {
		return nil, err
	}
	return o, nil
}

// checkedDir returns the absolute path of a directory if files can be made in it.
func checkedDir(dir string) (string, error) {
	dir, err := caddy.NewReplacer().ReplaceOrErr(dir, true, true)
	if err != nil {
		return "", err
	}
	if dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return "", err
		}
	}
	if err := recorder.CheckDir(dir); err != nil {
		return "", err
	}
	return dir, nil
}

// parseMaxBody reads a size that a record can have.
func parseMaxBody(text string) (units.Size, error) {
	size, err := words.Positive(units.ParseSize)(text)
	if err == nil && size > recorder.MaxBody {
		err = fmt.Errorf("at most %d MiB of a body can be recorded", recorder.MaxBody>>20)
	}
	return size, err
}

// parseField reads the name of a header field.
func parseField(text string) (string, error) { return text, units.CheckField(text, "") }

// parsePath reads the path of a place in JSON.
func parsePath(text string) (string, error) {
	_, err := jsonpath.Parse(text)
	return text, err
}

func parseDuration(text string) (recorder.Duration, error) {
	duration, err := words.ParseDuration(text)
	return recorder.Duration(duration), err
}

// store is what the JSON of every store has.
type store struct {
	Scheme string `json:"scheme"`
	URL    string `json:"url"`
}

// parseStore reads the URL of a store, and returns the JSON of the module that has
// it. It is checked here already, where its line is known, with placeholders as
// they are now.
func parseStore(text string) (json.RawMessage, error) {
	scheme, _, found := strings.Cut(text, "://")
	if !found {
		return nil, errors.New("not the URL of an object store: expected one like s3://bucket/prefix")
	}
	if _, err := storeAt(text); err != nil {
		return nil, err
	}
	return json.Marshal(store{scheme, text})
}

// storeAt returns the address that a text has once its placeholders are replaced.
func storeAt(text string) (*objects.Address, error) {
	replaced, err := caddy.NewReplacer().ReplaceOrErr(text, true, true)
	if err != nil {
		return nil, err
	}
	return objects.Parse(replaced)
}

// storeOf returns the address of the store that the options have, nil if they have
// none. Caddy loads the module, so that it is a module like all others: what is
// in it that is unknown is refused.
func storeOf(ctx caddy.Context, options *Options) (*objects.Address, error) {
	if len(options.Store) == 0 {
		return nil, nil
	}
	var s store
	if err := json.Unmarshal(options.Store, &s); err != nil {
		return nil, fmt.Errorf("expected an object with scheme and url: %w", err)
	}
	loading := *options
	if _, err := ctx.LoadModule(&loading, "Store"); err != nil {
		return nil, err
	}
	address, err := storeAt(s.URL)
	if err != nil {
		return nil, err
	}
	if address.Scheme() != s.Scheme {
		return nil, fmt.Errorf("scheme is %s, and that of url %s: expected the same", s.Scheme, address.Scheme())
	}
	return address, nil
}
