// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/learn"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const simulatorModule = "http.handlers.simulator"

// canGrade reports whether this build has a simulator.
func canGrade() bool {
	_, err := caddy.GetModule(simulatorModule)
	return err == nil
}

// ask returns what a handler responds to a recorded request.
func ask(handler caddyhttp.Handler, recorded *recording.Request) (status int, body []byte, broken bool) {
	target := string(recorded.URI)
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return 0, nil, true
	}
	left, leave := context.WithCancel(context.Background())
	leave() // so that what hangs ends at once
	r := (&http.Request{
		Method: string(recorded.Method), URL: u, RequestURI: target, Host: string(recorded.Host), RemoteAddr: string(recorded.Remote),
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: make(http.Header), // a stream that is broken off has no connection
		Body: io.NopCloser(bytes.NewReader(recorded.Body)), ContentLength: int64(len(recorded.Body)),
	}).WithContext(left)
	for name, value := range recording.EachField(recorded.Headers) {
		if !strings.EqualFold(string(name), "Host") {
			r.Header.Add(string(name), string(value))
		}
	}
	w := httptest.NewRecorder()
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, new(caddyhttp.Server))
	defer func() {
		if value := recover(); value != nil {
			if value != http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
				panic(value)
			}
			broken = true
		}
	}()
	if err := handler.ServeHTTP(w, r); err != nil {
		failed, _ := errors.AsType[caddyhttp.HandlerError](err)
		return failed.StatusCode, nil, false
	}
	return w.Code, w.Body.Bytes(), false
}

// stage returns the simulator that stays in the stages of a number.
func (g *grade) stage(number int) (caddyhttp.Handler, error) {
	if handler := g.stages[number]; handler != nil {
		return handler, nil
	}
	routes, err := g.routesOf(number)
	if err != nil {
		return nil, err
	}
	quiet := &caddy.Config{
		Admin:   &caddy.AdminConfig{Disabled: true},
		Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{caddy.DefaultLoggerName: {BaseLog: caddy.BaseLog{Level: "ERROR"}}}},
	}
	base, err := caddy.ProvisionContext(quiet)
	if err != nil {
		return nil, err
	}
	ctx, release := caddy.NewContext(base)
	g.release = append(g.release, release)
	var list caddyhttp.RouteList
	if err := json.Unmarshal(routes, &list); err != nil {
		return nil, err
	}
	if err := list.Provision(ctx); err != nil {
		return nil, fmt.Errorf("what was learned does not load: %w", err)
	}
	nobody := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return caddyhttp.Error(http.StatusNotFound, nil) })
	handler := list.Compile(nobody)
	g.stages[number] = handler
	return handler, nil
}

// routesOf returns the routes of Caddy that stand for the learned file, in JSON.
func (g *grade) routesOf(number int) ([]byte, error) {
	name := fmt.Sprintf("grading_%d", number)
	files := new(learn.Files)
	if g.learning.form != formWireMock { // whose files lie where mappings are
		files.Folder = filepath.ToSlash(g.learning.folder())
	}
	text := formOf(g.learning.form, name, g.model.Only(number), files)
	simulator := map[string]any{"name": name, "seed": 1}
	switch g.learning.form {
	case formRecipe:
		simulator["recipes"] = json.RawMessage(text)
	case formWireMock:
		simulator["mappings"] = json.RawMessage(text)
	default:
		config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(text, map[string]any{"filename": "learned"})
		if err != nil {
			return nil, fmt.Errorf("what was learned does not load: %w", err)
		}
		var parsed struct {
			Apps struct {
				HTTP struct {
					Servers map[string]struct{ Routes json.RawMessage }
				}
			}
		}
		err = json.Unmarshal(config, &parsed)
		return parsed.Apps.HTTP.Servers["srv0"].Routes, err
	}
	return json.Marshal([]any{map[string]any{"handle": []any{caddyconfig.JSONModuleObject(simulator, "handler", "simulator", nil)}}})
}
