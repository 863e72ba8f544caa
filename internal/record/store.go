// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
)

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
