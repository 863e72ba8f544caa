// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/caddy-rehearsal/rehearsal/internal/record"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/words"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("tee", parseCaddyfile)
}

func parseCaddyfile(helper httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h := new(Handler)
	if err := h.UnmarshalCaddyfile(helper.Dispenser); err != nil {
		return nil, err
	}
	return h, h.finishCaddyfile(helper)
}

// UnmarshalCaddyfile sets up the handler from Caddyfile tokens. Syntax:
//
//	tee [<matcher>] [<shadow-url>...] {
//	    name              <name>
//	    to                <shadow-url>...
//	    handle            { <directives...> }
//	    percent           <percent>
//	    sample_by         client_ip|uri|bearer|header <field>|cookie <name>
//	    rate_limit        <n>/s
//	    timeout           <duration>
//	    concurrency       <n>
//	    queue             <n>
//	    max_body          <size>
//	    body              off
//	    host              preserve|target|<value>
//	    header_up         [+|-]<field> [<value|regexp> [<replacement>]]
//	    forward_client_ip
//	    close_connections
//	    tls_insecure_skip_verify
//	    tls_server_name   <name>
//	    tls_trust_pool    <module> { ... }
//	    only_status       <status|class>...
//	    record            <dir> { ... }
//	}
//
// to, handle, header_up and only_status can be repeated.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume directive name
	if err := h.addURLs(d, d.RemainingArgs()); err != nil {
		return err
	}
	if err := h.options().Block(d, "tee", "to", "handle", "header_up", "only_status"); err != nil {
		return err
	}
	if len(h.To) == 0 && len(h.handleSegments) == 0 && h.Record == nil {
		return d.Err(errNothing.Error())
	}
	switch {
	case h.Compare != nil && len(h.To) == 0 && len(h.handleSegments) == 0:
		return d.Err(errNothingToCompare.Error())
	case h.Admin != "" && h.Compare == nil:
		return d.Err(errNothingToShow.Error())
	}
	return nil
}

func (h *Handler) options() words.Options {
	return words.Options{
		"name": words.Value(&h.Name, words.Plain),
		"to":   h.parseTo,
		"handle": func(d *caddyfile.Dispenser) error {
			h.handleSegments = append(h.handleSegments, d.NewFromNextSegment())
			return nil
		},
		"percent":                  words.Optional(&h.Percent, units.ParsePercent),
		"sample_by":                words.OptionalJoined(&h.SampleBy, 1, 2, parseText[SampleBy]),
		"rate_limit":               words.Value(&h.RateLimit, parseText[Rate]),
		"timeout":                  words.Value(&h.Timeout, words.Positive(words.ParseDuration)),
		"concurrency":              words.Value(&h.Concurrency, atLeast(1)),
		"queue":                    words.Optional(&h.Queue, atLeast(0)),
		"max_body":                 words.Optional(&h.MaxBody, units.ParseSize),
		"body":                     words.Value(&h.Body, parseOff),
		"host":                     words.Value(&h.Host, words.Plain),
		"header_up":                h.parseHeaderUp,
		"forward_client_ip":        words.On(&h.ForwardClientIP),
		"close_connections":        words.On(&h.CloseConnections),
		"tls_insecure_skip_verify": h.parseTLS,
		"tls_server_name":          h.parseTLS,
		"tls_trust_pool":           h.parseTLS,
		"only_status":              words.List(&h.OnlyStatus, parseText[Status]),
		"record":                   h.parseRecord,
		"compare":                  h.parseCompare,
		"admin":                    h.parseAdmin,
	}
}

func (h *Handler) parseRecord(d *caddyfile.Dispenser) (err error) {
	h.Record, err = record.ParseOption(d)
	return err
}

func (h *Handler) parseTo(d *caddyfile.Dispenser) error {
	urls := d.RemainingArgs()
	if len(urls) == 0 {
		return d.ArgErr()
	}
	return h.addURLs(d, urls)
}

// addURLs checks what can be checked before placeholders are replaced, when
// the line is known still.
func (h *Handler) addURLs(d *caddyfile.Dispenser, urls []string) error {
	for _, text := range urls {
		if strings.Contains(text, "{") {
			continue
		}
		if _, err := parseAddress(text); err != nil {
			return d.Errf("parsing shadow '%s': %v", text, err)
		}
	}
	h.To = append(h.To, urls...)
	return nil
}

func (h *Handler) parseHeaderUp(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) < 1 || len(args) > 3 {
		return d.ArgErr()
	}
	if h.HeaderUp == nil {
		h.HeaderUp = new(headers.HeaderOps)
	}
	field, value := strings.TrimSuffix(args[0], ":"), ""
	var replacement *string
	if len(args) > 1 {
		value = args[1]
	}
	if len(args) > 2 {
		replacement = &args[2]
	}
	if err := headers.CaddyfileHeaderOp(h.HeaderUp, field, value, replacement); err != nil {
		return d.Errf("parsing header_up: %v", err)
	}
	return nil
}

func (h *Handler) parseTLS(d *caddyfile.Dispenser) (err error) {
	if h.TLS == nil {
		h.TLS = new(reverseproxy.TLSConfig)
	}
	switch d.Val() {
	case "tls_insecure_skip_verify":
		h.TLS.InsecureSkipVerify, err = true, words.Flag(d)
	case "tls_server_name":
		h.TLS.ServerName, err = words.Arg(d, words.Plain)
	case "tls_trust_pool":
		if !d.NextArg() {
			return d.ArgErr()
		}
		name := d.Val()
		module, err := caddyfile.UnmarshalModule(d, "tls.ca_pool.source."+name)
		if err != nil {
			return err
		}
		ca, ok := module.(caddytls.CA)
		if !ok {
			return d.Errf("module %s is not a certificate pool provider", name)
		}
		h.TLS.CARaw = caddyconfig.JSONModuleObject(ca, "provider", name, nil)
	}
	return err
}

// finishCaddyfile makes routes of the handle blocks, which takes the helper.
func (h *Handler) finishCaddyfile(helper httpcaddyfile.Helper) error {
	for _, block := range h.handleSegments {
		handler, err := httpcaddyfile.ParseSegmentAsSubroute(helper.WithDispenser(block))
		if err != nil {
			return err
		}
		subroute, ok := handler.(*caddyhttp.Subroute)
		if !ok || len(subroute.Routes) == 0 {
			return block.Err("handle has no directives")
		}
		h.Handle = append(h.Handle, subroute.Routes)
	}
	h.handleSegments = nil
	return nil
}

// parseText reads a value of a type that reads itself from text.
func parseText[T any, P interface {
	*T
	UnmarshalText([]byte) error
}](text string) (T, error) {
	var value T
	err := P(&value).UnmarshalText([]byte(text))
	return value, err
}

func atLeast(least int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return 0, fmt.Errorf("'%s' is not valid: expected a number of at least %d", text, least)
		}
		return n, nil
	}
}

func parseOff(text string) (string, error) {
	if text != "off" {
		return "", fmt.Errorf("'%s' is not valid: expected off", text)
	}
	return text, nil
}

// Interface guards
var _ caddyfile.Unmarshaler = (*Handler)(nil)
