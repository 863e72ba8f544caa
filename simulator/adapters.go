// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

func init() {
	caddyconfig.RegisterAdapter("recipe", recipeAdapter{})
}

// defaultListen is where recipes and mappings without a configuration around
// them are served.
const defaultListen = "127.0.0.1:8080"

// recipeAdapter turns recipes into a configuration for Caddy: a server on
// 127.0.0.1:8080 that
// plays them, with the recipe API on. The recipes are one object or a list, or
// stand beside the address to listen on:
//
//	{"listen": ":8080", "recipes": [...]}
type recipeAdapter struct{}

// Adapt turns recipes into Caddy's JSON. It reads nothing but the body; errors
// name the file if it is known.
func (recipeAdapter) Adapt(body []byte, options map[string]any) ([]byte, []caddyconfig.Warning, error) {
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

// serverConfig returns a configuration whose only server plays what a handler has,
// with the recipe API on.
func serverConfig(listen string, handler Handler) ([]byte, []caddyconfig.Warning, error) {
	if listen == "" {
		listen = defaultListen
	}
	handler.Name, handler.Admin = "simulator", defaultAdmin
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

func init() {
	caddyconfig.RegisterAdapter("wiremock", wireMockAdapter{})
}

// wireMockAdapter turns WireMock's stub mappings into a configuration for
// Caddy: a server on 127.0.0.1:8080 that answers by them. There may be an address to
// listen on beside them, and the handler's options about mappings:
//
//	{"listen": ":8080", "templates": true, "unsupported": "skip", "mappings_admin": {}, "mappings": [...]}
type wireMockAdapter struct{}

// Adapt turns mappings into Caddy's JSON, in which they stand as a text. If the
// name of the file is known, body files are looked for in or beside its
// directory.
func (wireMockAdapter) Adapt(body []byte, options map[string]any) ([]byte, []caddyconfig.Warning, error) {
	body, rest := wiremock.First(body)
	stubs, beside, err := takeOptions(body)
	if err != nil {
		return nil, nil, fmt.Errorf("adapting mappings: %w", inFile(options, err))
	}
	text, err := json.Marshal(string(stubs))
	if err != nil {
		return nil, nil, err
	}
	handler := Handler{Mappings: text, Templates: beside.Templates, Unsupported: beside.Unsupported, MappingsAdmin: beside.MappingsAdmin}
	if name, ok := options["filename"].(string); ok && name != "" {
		handler.MappingsRoot = filepath.Dir(name)
	}
	config, warnings, err := serverConfig(beside.Listen, handler)
	if rest != "" {
		name, _ := options["filename"].(string)
		warnings = append(warnings, caddyconfig.Warning{File: name, Message: "what stands behind the first JSON value is not looked at"})
	}
	return config, warnings, err
}

// besideMappings are the options that may stand beside mappings.
type besideMappings struct {
	Listen        string         `json:"listen"`
	Templates     bool           `json:"templates"`
	Unsupported   string         `json:"unsupported"`
	MappingsAdmin *MappingsAdmin `json:"mappings_admin"`
}

// takeOptions takes the options off the mappings, which it otherwise leaves as
// they are written.
func takeOptions(body []byte) (stubs []byte, beside besideMappings, err error) {
	if err := units.CheckJSON(body); err != nil {
		return nil, beside, err
	}
	var object map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return body, beside, nil
	}
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, beside, err
	}
	some := false
	for name, target := range map[string]any{
		"listen": &beside.Listen, "templates": &beside.Templates,
		"unsupported": &beside.Unsupported, "mappings_admin": &beside.MappingsAdmin,
	} {
		value, given := object[name]
		if !given {
			continue
		}
		if err := json.Unmarshal(value, target); err != nil {
			return nil, beside, fmt.Errorf("%s: %w", name, err)
		}
		some = true
		delete(object, name)
	}
	if !some {
		return body, beside, nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(object)
	return out.Bytes(), beside, err
}

// Interface guards
var (
	_ caddyconfig.Adapter = recipeAdapter{}
	_ caddyconfig.Adapter = wireMockAdapter{}
)
