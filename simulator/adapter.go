// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

func init() {
	caddyconfig.RegisterAdapter("recipe", Adapter{})
}

// defaultListen is where recipes and mappings without a configuration around
// them are served.
const defaultListen = "127.0.0.1:8080"

// Adapter turns recipes into a configuration for Caddy: a server on
// 127.0.0.1:8080 that
// plays them, with the recipe API on. The recipes are one object or a list, or
// stand beside the address to listen on:
//
//	{"listen": ":8080", "recipes": [...]}
type Adapter struct{}

// Adapt turns recipes into Caddy's JSON. It reads nothing but the body; errors
// name the file if it is known.
func (Adapter) Adapt(body []byte, options map[string]any) ([]byte, []caddyconfig.Warning, error) {
	document, err := recipe.ParseDocument(body)
	if err != nil {
		return nil, nil, fmt.Errorf("adapting recipe: %w", inFile(options, err))
	}
	return serverConfig(document.Listen, Handler{Recipes: document.Recipes})
}

// inFile puts the name of the file that is adapted before an error.
func inFile(options map[string]any, err error) error {
	if name, ok := options["filename"].(string); ok && name != "" {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// serverConfig is a configuration whose only server plays what a handler has,
// with the recipe API on.
func serverConfig(listen string, handler Handler) ([]byte, []caddyconfig.Warning, error) {
	if listen == "" {
		listen = defaultListen
	}
	handler.Name, handler.Admin = "simulator", DefaultAdmin
	var warnings []caddyconfig.Warning
	app := caddyhttp.App{Servers: map[string]*caddyhttp.Server{
		"simulator": {
			Listen: []string{listen},
			Routes: caddyhttp.RouteList{{
				HandlersRaw: []json.RawMessage{
					caddyconfig.JSONModuleObject(handler, "handler", "simulator", &warnings),
				},
			}},
		},
	}}
	config := map[string]any{"apps": map[string]any{"http": app}}
	return caddyconfig.JSON(config, &warnings), warnings, nil
}

// Interface guard
var _ caddyconfig.Adapter = Adapter{}
