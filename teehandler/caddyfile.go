// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	words "github.com/caddy-rehearsal/rehearsal/caddyfile"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
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
//	    sample_by         client_ip|uri|header <field>|cookie <name>
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
//	}
//
// to, handle, header_up and only_status can be repeated.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume directive name
	if err := h.addURLs(d, d.RemainingArgs()); err != nil {
		return err
	}
	var once words.Once
	for d.NextBlock(0) {
		if err := once.Check(d, "to", "handle", "header_up", "only_status"); err != nil {
			return err
		}
		if err := h.parseOption(d); err != nil {
			return err
		}
	}
	if len(h.To) == 0 && len(h.handleSegments) == 0 {
		return d.Err("no shadow: give a URL or a handle block")
	}
	return nil
}

func (h *Handler) parseOption(d *caddyfile.Dispenser) (err error) {
	switch d.Val() {
	case "name":
		h.Name, err = words.Text(d)
	case "to":
		return h.parseTo(d)
	case "handle":
		h.handleSegments = append(h.handleSegments, d.NewFromNextSegment())
	case "percent":
		h.Percent, err = pointer(words.Arg(d, units.ParsePercent))
	case "sample_by":
		h.SampleBy, err = parseSampleBy(d)
	case "rate_limit":
		h.RateLimit, err = words.Arg(d, parseText[Rate])
	case "timeout":
		h.Timeout, err = words.Arg(d, parseTimeout)
	case "concurrency":
		h.Concurrency, err = words.Arg(d, atLeast(1))
	case "queue":
		h.Queue, err = pointer(words.Arg(d, atLeast(0)))
	case "max_body":
		h.MaxBody, err = pointer(words.Arg(d, units.ParseSize))
	case "body":
		h.Body, err = words.Arg(d, parseOff)
	case "host":
		h.Host, err = words.Text(d)
	case "header_up":
		return h.parseHeaderUp(d)
	case "forward_client_ip":
		h.ForwardClientIP, err = true, words.Flag(d)
	case "close_connections":
		h.CloseConnections, err = true, words.Flag(d)
	case "tls_insecure_skip_verify", "tls_server_name", "tls_trust_pool":
		return h.parseTLS(d)
	case "only_status":
		return h.parseOnlyStatus(d)
	default:
		return words.Unrecognized(d, "tee")
	}
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

func parseSampleBy(d *caddyfile.Dispenser) (*SampleBy, error) {
	words := d.RemainingArgs()
	if len(words) == 0 {
		return nil, d.ArgErr()
	}
	by, err := parseText[SampleBy](strings.Join(words, " "))
	if err != nil {
		return nil, d.Errf("parsing sample_by: %v", err)
	}
	return &by, nil
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
		h.TLS.ServerName, err = words.Text(d)
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

func (h *Handler) parseOnlyStatus(d *caddyfile.Dispenser) error {
	words := d.RemainingArgs()
	if len(words) == 0 {
		return d.ArgErr()
	}
	for _, word := range words {
		status, err := parseText[Status](word)
		if err != nil {
			return d.Errf("parsing only_status: %v", err)
		}
		h.OnlyStatus = append(h.OnlyStatus, status)
	}
	return nil
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

func pointer[T any](value T, err error) (*T, error) { return &value, err }

func atLeast(least int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return 0, fmt.Errorf("'%s' is not a number from %d", text, least)
		}
		return n, nil
	}
}

func parseTimeout(text string) (caddy.Duration, error) {
	timeout, err := words.ParseDuration(text)
	if err == nil && timeout <= 0 {
		err = fmt.Errorf("'%s' is no time to wait", text)
	}
	return timeout, err
}

func parseOff(text string) (string, error) {
	if text != "off" {
		return "", fmt.Errorf("'%s' is unknown: only off can be given", text)
	}
	return text, nil
}

// Interface guards
var _ caddyfile.Unmarshaler = (*Handler)(nil)
