// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/record"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
	"github.com/caddy-rehearsal/rehearsal/internal/words"
)

// OnMiss is where requests go for which there is neither a recipe nor a mapping.
type OnMiss struct {
	// The upstream, as `reverse_proxy` takes one in a Caddyfile:
	// `http://host:port`, `https://host`, `h2c://host:port`, `host:port` or
	// `unix//path/to.sock`. Placeholders that are known at load are replaced.
	Upstream string `json:"upstream,omitempty"`

	// Where and how what the upstream is asked and responds is recorded, by a tee
	// before it. Default: it is not.
	Record *record.Options `json:"record,omitempty"`
}

// parseOnMiss reads where requests go that nothing takes. Syntax:
//
//	on_miss <upstream> {
//	    record <dir> { ... }
//	}
func (h *Handler) parseOnMiss(d *caddyfile.Dispenser) error {
	upstream, err := words.Arg(d, parseUpstream)
	if err != nil {
		return err
	}
	m := &OnMiss{Upstream: upstream}
	h.OnMiss = m
	return words.Options{
		"record": func(d *caddyfile.Dispenser) (err error) {
			m.Record, err = record.ParseOption(d)
			return err
		},
	}.Block(d, "on_miss")
}

// parseUpstream checks what can be checked before placeholders are replaced.
func parseUpstream(text string) (string, error) {
	if strings.Contains(text, "{") {
		return text, nil
	}
	_, err := proxyTo(text)
	return text, err
}

// proxyTo returns Caddy's own reverse proxy to an upstream.
func proxyTo(upstream string) (*reverseproxy.Handler, error) {
	if upstream == "" {
		return nil, errors.New("upstream must be given, like http://127.0.0.1:9000")
	}
	proxy := new(reverseproxy.Handler)
	err := proxy.UnmarshalCaddyfile(caddyfile.NewDispenser([]caddyfile.Token{{Text: "reverse_proxy"}, {Text: upstream}}))
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), ", at :0", "")) // there are no lines
	}
	return proxy, nil
}

// missed passes on what nothing takes.
type missed struct {
	upstream string
	chain    caddyhttp.Handler
}

// provisionOnMiss sets up the way to the upstream: a tee, if anything is to be
// recorded, and a reverse proxy. Both are modules that Caddy knows by name.
func (h *Handler) provisionOnMiss(ctx caddy.Context) error {
	upstream, err := caddy.NewReplacer().ReplaceOrErr(h.OnMiss.Upstream, true, true)
	if err != nil {
		return err
	}
	proxy, err := proxyTo(upstream)
	if err != nil {
		return err
	}
	var handlers []json.RawMessage
	if h.OnMiss.Record != nil {
		if _, err := caddy.GetModule("http.handlers.tee"); err != nil {
			return errors.New("record needs the module http.handlers.tee, which this build of Caddy does not have")
		}
		tee := map[string]any{"name": h.scenario.Name(), "record": h.OnMiss.Record}
		handlers = append(handlers, caddyconfig.JSONModuleObject(tee, "handler", "tee", nil))
	}
	handlers = append(handlers, caddyconfig.JSONModuleObject(proxy, "handler", "reverse_proxy", nil))
	routes := caddyhttp.RouteList{{HandlersRaw: handlers}}
	if err := routes.Provision(ctx); err != nil {
		return err
	}
	nobody := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	h.missed = &missed{upstream: upstream, chain: routes.Compile(nobody)}
	if h.scenario.Has(recipe.DefaultRoute) {
		h.logger.Warn("on_miss has nothing to do as long as a recipe takes all paths", zap.String("route", recipe.DefaultRoute))
	}
	return nil
}

// errMissed is that of a request which nothing takes, where such are passed on.
var errMissed = errors.New("there is neither a recipe nor a mapping for the request")

// mostHops is how many Caddys a request may have passed before it is passed on:
// with more, on_miss leads back to where it comes from.
const mostHops = 10

var errLoop = fmt.Errorf("on_miss: the request came by %d Caddys, as if its upstream led back here", mostHops)

// hops returns how many Caddys a request has passed, by the field Via that each
// reverse proxy adds to.
func hops(header http.Header) (n int) {
	for _, line := range header["Via"] {
		for hop := range strings.SplitSeq(line, ",") {
			if strings.HasSuffix(strings.TrimSpace(hop), " Caddy") {
				n++
			}
		}
	}
	return n
}

// passOn passes a request on to the upstream and counts what that responds.
func (h *Handler) passOn(w http.ResponseWriter, r *http.Request) error {
	if hops(r.Header) >= mostHops {
		h.scenario.PassedOn(http.StatusLoopDetected)
		return caddyhttp.Error(http.StatusLoopDetected, errLoop)
	}
	recorder := caddyhttp.NewResponseRecorder(w, nil, nil)
	status := scenario.NoStatus // if the response is broken off
	defer func() { h.scenario.PassedOn(status) }()
	err := h.missed.chain.ServeHTTP(recorder, r)
	status = recorder.Status()
	if failed, ok := errors.AsType[caddyhttp.HandlerError](err); ok && status == 0 {
		status = failed.StatusCode
	}
	return err
}

// keptBody is a request's body that mappings have looked at, for the upstream.
type keptBody struct {
	io.Reader
	io.Closer
}

// keepBody puts a body back that was read whole.
func keepBody(r *http.Request, data []byte) {
	r.Body = keptBody{bytes.NewReader(data), r.Body}
}

// missesExpress reports whether a request on a connection that was taken over
// has to go back to Caddy since the upstream may have to answer it. With
// mappings, which may look at a body that cannot be given back once it is read,
// so does every request that has one.
func (h *Handler) missesExpress(x onExpress) bool {
	if h.missed == nil || h.scenario.Has(x.path()) {
		return false
	}
	if h.mappings == nil || x.Length != 0 {
		return true
	}
	var request wiremock.Request
	x.stubRequest(&request)
	return !h.mappings.Takes(&request)
}

// passedOn is in the access log of a request that nothing took.
type passedOn struct{}

// MarshalLogObject writes it.
func (passedOn) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddBool("on_miss", true)
	return nil
}
