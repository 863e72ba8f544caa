// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/record"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/words"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("blackhole", parseCaddyfile)
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	var handler Handler
	err := handler.UnmarshalCaddyfile(h.Dispenser)
	return &handler, err
}

// UnmarshalCaddyfile sets up the handler from Caddyfile tokens. Syntax:
//
//	blackhole [<matcher>] {
//		name    <name>
//		status  <code>
//		header  <field> <value>
//		body    <text>
//		percent <percent>
//		record  <dir> {
//			...
//		}
//		express
//	}
//
// header may be given more than once; the same field twice makes two lines.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume directive name
	if d.NextArg() {
		return d.ArgErr()
	}
	return words.Options{
		"name":    words.Value(&h.Name, words.Plain),
		"status":  words.Value(&h.Status, parseStatus),
		"header":  h.field,
		"body":    words.Value(&h.Body, words.Plain),
		"percent": words.Optional(&h.Percent, units.ParsePercent),
		"record": func(d *caddyfile.Dispenser) (err error) {
			h.Record, err = record.ParseOption(d)
			return err
		},
		"express": words.On(&h.Express),
	}.Block(d, "blackhole", "header")
}

func (h *Handler) field(d *caddyfile.Dispenser) error {
	name, value, err := words.Field(d)
	if err != nil {
		return err
	}
	if err := refuseFraming(name); err != nil {
		return d.Errf("parsing header: %v", err)
	}
	if h.Headers == nil {
		h.Headers = make(http.Header)
	}
	h.Headers.Add(name, value)
	return nil
}

// parseStatus reads the status of a response.
func parseStatus(text string) (int, error) {
	status, err := strconv.Atoi(text)
	if err != nil || status < 200 || status > 599 {
		return 0, fmt.Errorf("'%s' is not the status of an answer: expected 200 to 599", text)
	}
	return status, nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
