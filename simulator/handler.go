// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package simulator is a Caddy handler that plays an origin as a recipe says,
// stage by stage: slow, failing, huge, recovered.
package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/simulator/internal/livepage"
	"github.com/caddy-rehearsal/rehearsal/simulator/internal/stubs"
)

func init() {
	caddy.RegisterModule(Handler{})
}

// Handler answers requests as recipes say, stage by stage. It answers every
// request that reaches it, and passes none on unless `on_miss` says where to.
//
// What runs belongs to the name and the recipes: a reload that changes neither
// leaves the clock and the recipes that were posted as they are; others start
// again.
type Handler struct {
	// The name of the running scenario in metrics, logs and Caddy's admin API.
	// Handlers of the same name must have the same recipes, and share one
	// scenario. Default: made from the recipes. The Caddyfile gives
	// `simulator`, `simulator2` and so on, in the order of the directives.
	Name string `json:"name,omitempty"`

	// Files with recipes in JSON, one recipe or a list each. Placeholders that
	// are known at load, like `{env.RECIPES}`, are replaced.
	RecipeFiles []string `json:"recipe_files,omitempty"`

	// Recipes: a list, or a single one. No two of them, files included, may have
	// the same route.
	Recipes recipe.List `json:"recipes,omitempty"`

	// Files and directories with WireMock's stub mappings. They are tried before
	// the recipes; with mappings, a request that nothing takes is answered with
	// 404 and the mapping that came closest. Placeholders that are known at load
	// are replaced.
	MappingFiles []string `json:"mapping_files,omitempty"`

	// Stub mappings themselves: one, a list, or `{"mappings": [...]}`; or a text
	// that holds this as JSON. Of its configuration Caddy sorts the members of
	// objects and rounds large numbers; a text stays as it is.
	Mappings json.RawMessage `json:"mappings,omitempty"`

	// The directory in or beside which the folder `__files` is, where these
	// mappings have their body files. Default: the working directory.
	MappingsRoot string `json:"mappings_root,omitempty"`

	// Renders the responses of all mappings, as WireMock does when it is started
	// with --global-response-templating. Default: false, only those of mappings with
	// response-template among their transformers.
	Templates bool `json:"templates,omitempty"`

	// What becomes of mappings that cannot be served: `fail` refuses the whole
	// configuration and names all of them, `skip` leaves them out and logs each.
	// Default: `fail`.
	Unsupported string `json:"unsupported,omitempty"`

	// WireMock's own admin API. Who can reach it can change what is answered, read
	// requests that others have sent, write files into the folder of the mappings,
	// and have the server send requests to any URL. Default: there is no such API.
	MappingsAdmin *MappingsAdmin `json:"mappings_admin,omitempty"`

	// Where requests go for which there is neither a recipe nor a mapping: what
	// the upstream responds is what the client gets. Default: they are answered
	// with 406, or 404 if there are mappings.
	OnMiss *OnMiss `json:"on_miss,omitempty"`

	// The path under which the recipe API is served, like `/_admin`. Who can
	// reach it can have the server fetch any URL. Default: there is no such API.
	Admin string `json:"admin,omitempty"`

	// When the clock of the recipes is at 0, in the form of RFC 3339, so that
	// simulators on several machines keep one clock. A recipe's own start goes
	// first; recipes that are posted start when they come. Default: when the
	// recipes were loaded.
	Start *time.Time `json:"start,omitempty"`

	// Makes all random choices the same in every run: a whole number below 2^53.
	// A recipe's own seed goes first. Default: every run differs.
	Seed *uint64 `json:"seed,omitempty"`

	// Answers what follows the first request of a keep-alive HTTP/1.1 connection
	// directly, without access logs, HTTP metrics and traces: for load tests. It
	// does so only if the server has nothing but this handler behind matchers of
	// hosts; else a warning names what stands in the way. The recipe API works all the
	// same. Default: false.
	Express bool `json:"express,omitempty"`

	logger   *zap.Logger
	pool     *express.Pool // nil: no connection is taken over
	scenario *scenario.Scenario
	mappings *stubs.Stubs // nil: there are none
	proxies  proxies
	missed   *missed // nil: what nothing takes is answered here
	page     *livepage.Page
	named    *atomic.Bool // only requests for certain hosts come here
	held     []hold
}

// CaddyModule returns the Caddy module information.
func (Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.simulator",
		New: func() caddy.Module { return new(Handler) },
	}
}

// Provision reads the recipes and acquires the scenario that they make.
func (h *Handler) Provision(ctx caddy.Context) error {
	h.logger = ctx.Logger()
	h.named = new(atomic.Bool)
	if err := metrics.Register(ctx.GetMetricsRegistry(), collectors()...); err != nil {
		return err
	}
	if err := checkAdmin(h.Admin); err != nil {
		return fmt.Errorf("admin: %v", err)
	}
	if err := h.checkMappingsAdmin(); err != nil {
		return fmt.Errorf("mappings_admin: %v", err)
	}
	if err := recipe.CheckSeed(h.Seed); err != nil {
		return fmt.Errorf("seed: %v", err)
	}
	recipes, err := h.load()
	if err != nil {
		return err
	}
	mappings, err := h.loadMappings()
	if err != nil {
		return err
	}
	id, err := h.acquire(ctx, recipes)
	if err != nil {
		return err
	}
	if err := h.acquireStubs(mappings, id); err != nil {
		return err
	}
	if err := h.provisionProxies(ctx); err != nil {
		return err
	}
	if h.OnMiss != nil {
		if err := h.provisionOnMiss(ctx); err != nil {
			return fmt.Errorf("on_miss: %w", err)
		}
	}
	h.page = livepage.New(h.scenario)
	if h.Express {
		if h.pool, err = express.NewPool(ctx, h.scenario.Name(), h); err != nil {
			return err
		}
	}
	return h.subscribe(ctx)
}

// Cleanup releases the scenario, which ends with the last handler that has
// it. Requests that are in hand are answered all the same.
func (h *Handler) Cleanup() (err error) {
	h.pool.Close()
	for _, hold := range h.held {
		_, e := hold.pool.Delete(hold.key)
		err = errors.Join(err, e)
	}
	h.held = nil
	return err
}

// ServeHTTP answers a request, or serves an API.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if path, ok := h.apiPath(r.URL.Path); ok {
		return h.serveAPI(w, r, path)
	}
	if path, ok := below(r.URL.Path, h.MappingsAdmin.prefix()); ok {
		return h.serveMappingsAdmin(w, r, path)
	}
	if h.pool.TakeOver(w, r) {
		return nil
	}
	return h.serveOnCaddy(w, r)
}

// apiPath reports whether a path is one of the recipe API, and returns what follows
// the API's prefix in it.
func (h *Handler) apiPath(path string) (rest string, ok bool) { return below(path, h.Admin) }

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
	_ express.Handler             = (*Handler)(nil)
)
