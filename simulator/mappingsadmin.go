// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/internal/page"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/words"
	"github.com/caddy-rehearsal/rehearsal/simulator/internal/stubs"
)

// defaultMappingsAdmin is the path of WireMock's admin API unless another one is
// given.
const defaultMappingsAdmin = "/__admin"

// MappingsAdmin is WireMock's own admin API, by which its clients add and remove
// mappings, set states of scenarios, and ask which requests there were.
type MappingsAdmin struct {
	// The path under which it is served. Default: `/__admin`.
	Prefix string `json:"prefix,omitempty"`

	// How many requests the journal keeps; the oldest go first. Default: 1000.
	JournalRequests int `json:"journal_requests,omitempty"`

	// How many bytes of memory they may take, with their bodies and those of their
	// responses. Default: 32 MiB.
	JournalSize units.BinarySize `json:"journal_size,omitempty"`

	// Header fields whose values are kept in the journal as `REDACTED`, in any case.
	// Default: none.
	Redact []string `json:"redact,omitempty"`

	// Parameters of queries and forms whose values are kept as `REDACTED`. Default:
	// none.
	RedactQuery []string `json:"redact_query,omitempty"`

	// Places in JSON bodies whose values are kept as `"REDACTED"`, like
	// `$.card.number`. Default: none.
	RedactJSON []string `json:"redact_json,omitempty"`
}

const (
	defaultJournalRequests = 1000
	defaultJournalSize     = 32 << 20
)

// prefix returns the path; empty if there is no API.
func (m *MappingsAdmin) prefix() string {
	if m == nil {
		return ""
	}
	return cmp.Or(m.Prefix, defaultMappingsAdmin)
}

func (m *MappingsAdmin) journal() (*stubs.JournalOptions, error) {
	o := stubs.JournalOptions{
		Requests: cmp.Or(m.JournalRequests, defaultJournalRequests),
		Bytes:    int64(cmp.Or(m.JournalSize, defaultJournalSize)),
	}
	if o.Requests < 0 || o.Bytes < 0 {
		return nil, errors.New("journal: expected a number of requests and a size above 0")
	}
	if len(m.Redact)+len(m.RedactQuery)+len(m.RedactJSON) == 0 {
		return &o, nil
	}
	mask, err := recorder.NewMask(m.Redact, m.RedactQuery, m.RedactJSON)
	o.Mask = mask
	return &o, err
}

// parseMappingsAdmin reads WireMock's admin API. Syntax:
//
//	mappings_admin [<prefix>] {
//	    journal      <requests> [<size>]
//	    redact       <field>...
//	    redact_query <name>...
//	    redact_json  <path>...
//	}
func (h *Handler) parseMappingsAdmin(d *caddyfile.Dispenser) error {
	m := new(MappingsAdmin)
	h.MappingsAdmin = m
	if d.NextArg() {
		m.Prefix = d.Val()
	}
	if d.NextArg() {
		return d.ArgErr()
	}
	if err := checkAdmin(m.prefix()); err != nil {
		return d.Errf("parsing mappings_admin: %v", err)
	}
	return words.Options{
		"journal":      m.parseJournal,
		"redact":       words.List(&m.Redact, parseFieldName),
		"redact_query": words.List(&m.RedactQuery, words.Plain),
		"redact_json":  words.List(&m.RedactJSON, parsePlace),
	}.Block(d, "mappings_admin", "redact", "redact_query", "redact_json")
}

func (m *MappingsAdmin) parseJournal(d *caddyfile.Dispenser) error {
	if !d.NextArg() {
		return d.ArgErr()
	}
	var err error
	if m.JournalRequests, err = strconv.Atoi(d.Val()); err != nil || m.JournalRequests < 1 {
		return d.Errf("parsing journal: '%s' is not a number of requests", d.Val())
	}
	if d.NextArg() {
		if m.JournalSize, err = units.ParseBinarySize(d.Val()); err != nil {
			return d.Errf("parsing journal: %v", err)
		}
	}
	if d.NextArg() {
		return d.ArgErr()
	}
	return nil
}

func parseFieldName(text string) (string, error) { return text, units.CheckField(text, "") }

func parsePlace(text string) (string, error) {
	_, err := jsonpath.Parse(text)
	return text, err
}

// checkMappingsAdmin refuses a prefix that is none, or that leads to the recipe API
// too.
func (h *Handler) checkMappingsAdmin() error {
	if h.MappingsAdmin == nil {
		return nil
	}
	prefix := h.MappingsAdmin.prefix()
	if err := checkAdmin(prefix); err != nil {
		return err
	}
	if _, inner := below(prefix, h.Admin); inner {
		return fmt.Errorf("'%s' is a path of the recipe API", prefix)
	}
	if _, inner := below(h.Admin, prefix); inner {
		return fmt.Errorf("the recipe API has a path of '%s'", prefix)
	}
	return nil
}

// serveMappingsAdmin serves WireMock's admin API; path is what follows the prefix.
func (h *Handler) serveMappingsAdmin(w http.ResponseWriter, r *http.Request, path string) error {
	if !page.KnowsHost(r, h.named.Load()) {
		return sendError(w, http.StatusForbidden, errOtherName)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if err := page.CheckSite(r); err != nil {
			return sendError(w, http.StatusForbidden, err)
		}
	}
	h.mappings.ServeAPI(w, r, cmp.Or(path, "/"))
	return nil
}

// below reports whether a path is one under a prefix, and returns what follows that
// in it.
func below(path, prefix string) (rest string, ok bool) {
	if prefix == "" {
		return "", false
	}
	rest, ok = strings.CutPrefix(path, prefix)
	return rest, ok && (rest == "" || rest[0] == '/')
}
