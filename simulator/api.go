// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/page"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/simulator/internal/livepage"
)

// defaultAdmin is the path of the recipe API unless another one is given.
const defaultAdmin = "/_admin"

// checkAdmin refuses what is not the path of a recipe API. Without one there is
// no API.
func checkAdmin(path string) error {
	if path != "" && (path[0] != '/' || strings.HasSuffix(path, "/")) {
		return fmt.Errorf("'%s' is not a path like %s", path, defaultAdmin)
	}
	return nil
}

// endpoint is one path of the recipe API.
type endpoint struct {
	methods []string
	serve   apiFunc
}

type apiFunc = func(*Handler, http.ResponseWriter, *http.Request) error

// endpoints are the paths of origin_simulator's API, below the prefix, and
// restart_clock. As there, restart and clear_current_count take a GET too.
var endpoints = map[string]endpoint{
	"/status":              {reading, (*Handler).serveStatus},
	"/current_recipe":      {reading, (*Handler).serveCurrentRecipe},
	"/routes":              {reading, (*Handler).serveRoutes},
	"/routes_status":       {reading, (*Handler).serveRoutesStatus},
	"/current_count":       {reading, (*Handler).serveCurrentCount},
	"/add_recipe":          {posting, sameSite((*Handler).serveAddRecipe)},
	"/restart":             {either, sameSite((*Handler).serveRestart)},
	"/restart_clock":       {posting, sameSite((*Handler).serveRestartClock)},
	"/clear_current_count": {either, sameSite((*Handler).serveClearCount)},
}

var (
	reading = []string{http.MethodGet, http.MethodHead}
	posting = []string{http.MethodPost}
	either  = []string{http.MethodGet, http.MethodHead, http.MethodPost}
)

// serveAPI serves the recipe API; path is what follows the prefix.
func (h *Handler) serveAPI(w http.ResponseWriter, r *http.Request, path string) error {
	if !page.KnowsHost(r, h.named.Load()) {
		return sendError(w, http.StatusForbidden, errOtherName)
	}
	endpoint, ok := endpoints[path]
	if !ok {
		return sendText(w, http.StatusNotFound, "Not found")
	}
	if !slices.Contains(endpoint.methods, r.Method) {
		w.Header().Set("Allow", strings.Join(endpoint.methods, ", "))
		return sendText(w, http.StatusMethodNotAllowed, "Method not allowed")
	}
	w.Header().Set("Cache-Control", "no-store")
	return endpoint.serve(h, w, r)
}

func (h *Handler) serveStatus(w http.ResponseWriter, _ *http.Request) error {
	return sendText(w, http.StatusOK, "ok!")
}

func (h *Handler) serveCurrentRecipe(w http.ResponseWriter, _ *http.Request) error {
	if recipes := h.scenario.Recipes(); len(recipes) > 0 {
		return sendJSON(w, http.StatusOK, recipes)
	}
	return sendJSON(w, http.StatusOK, scenario.NotSet(h.postTo()))
}

func (h *Handler) serveRoutes(w http.ResponseWriter, _ *http.Request) error {
	list := h.scenario.Status()
	lines := make([]string, 0, len(list))
	for _, status := range list {
		lines = append(lines, status.Route)
	}
	return sendText(w, http.StatusOK, strings.Join(lines, "\n"))
}

func (h *Handler) serveRoutesStatus(w http.ResponseWriter, _ *http.Request) error {
	list := h.scenario.Status()
	lines := make([]string, 0, len(list))
	for _, status := range list {
		what := outcomesText(status.Outcomes)
		if status.PassedTo != "" {
			what = "on_miss " + status.PassedTo
		}
		lines = append(lines, status.Route+" "+what)
	}
	return sendText(w, http.StatusOK, strings.Join(lines, "\n"))
}

// outcomesText returns status and latency of an outcome, as origin_simulator has them
// for a stage; of several, each with its condition.
func outcomesText(outcomes []recipe.Outcome) string {
	texts := make([]string, len(outcomes))
	for i, o := range outcomes {
		texts[i] = fmt.Sprintf("%d %s", o.Status, milliseconds(o.Latency))
		if condition := o.Condition(); len(outcomes) > 1 && condition != "" {
			texts[i] += " " + condition
		}
	}
	return strings.Join(texts, "; ")
}

// milliseconds writes a fixed latency as origin_simulator does, a bare number
// of milliseconds, and any other in its own form.
func milliseconds(l latency.Latency) string {
	d, err := time.ParseDuration(l.String())
	if err != nil {
		return l.String()
	}
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}

func (h *Handler) serveCurrentCount(w http.ResponseWriter, _ *http.Request) error {
	all, byRoute := h.scenario.Counted()
	routes, branches := make(map[string]any, len(byRoute)), h.scenario.Branches()
	for route, counts := range byRoute {
		object := countObject(counts)
		if byBranch, several := branches[route]; several {
			object["branches"] = byBranch
		}
		routes[route] = object
	}
	object := countObject(all)
	object["routes"] = routes
	return sendJSON(w, http.StatusOK, object)
}

func countObject(counts scenario.Counts) map[string]any {
	object := map[string]any{"total_requests": counts.Total()}
	for status, n := range counts {
		key := strconv.Itoa(status)
		if status == scenario.NoStatus {
			key = "fault"
		}
		object[key] = n
	}
	return object
}

func (h *Handler) serveClearCount(w http.ResponseWriter, _ *http.Request) error {
	h.scenario.ClearCounts()
	page.Send(w, http.StatusOK, "application/json; charset=utf-8", []byte(`{"cleared": "yes"}`))
	return nil
}

func (h *Handler) serveRestart(w http.ResponseWriter, _ *http.Request) error {
	h.scenario.Forget()
	h.logger.Info("all recipes forgotten")
	return sendText(w, http.StatusOK, "ok!")
}

func (h *Handler) serveRestartClock(w http.ResponseWriter, _ *http.Request) error {
	if err := h.scenario.Rewind(); err != nil {
		return sendError(w, http.StatusInternalServerError, err)
	}
	h.logger.Info("all recipes start again")
	return sendText(w, http.StatusOK, "ok!")
}

func (h *Handler) serveAddRecipe(w http.ResponseWriter, r *http.Request) error {
	return addRecipes(w, r, h.scenario, h.logger, refuseFiles)
}

// postTo returns where recipes can be posted.
func (h *Handler) postTo() string {
	if h.Admin == "" {
		return "/rehearsal/simulators/" + h.scenario.Name() + "/recipes of Caddy's admin API"
	}
	return h.Admin + "/add_recipe"
}

func init() {
	endpoints[""] = endpoint{reading, (*Handler).redirectToPage}
	for _, path := range livepage.Paths() {
		endpoints[path] = endpoint{reading, (*Handler).servePage}
	}
}

// redirectToPage goes on to the path whose links lead into the API. The target
// is relative, so that it holds behind a proxy that serves it elsewhere.
func (h *Handler) redirectToPage(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Location", path.Base(h.Admin)+"/")
	w.WriteHeader(http.StatusFound)
	return nil
}

func (h *Handler) servePage(w http.ResponseWriter, r *http.Request) error {
	return h.page.Serve(w, r, strings.TrimPrefix(r.URL.Path, h.Admin))
}

var errOtherName = errors.New("from this machine the recipe API is reached by an IP address, as localhost, or by a name that the site's address has")

// sameSite refuses what a browser sends on behalf of another site's page.
func sameSite(serve apiFunc) apiFunc {
	return func(h *Handler, w http.ResponseWriter, r *http.Request) error {
		if err := page.CheckSite(r); err != nil {
			return sendError(w, http.StatusForbidden, err)
		}
		return serve(h, w, r)
	}
}

// problem is the JSON of an error.
type problem struct {
	Error string `json:"error"`
	Field string `json:"field,omitempty"`
}

func problemOf(err error) problem {
	p := problem{Error: err.Error()}
	if field, ok := errors.AsType[*recipe.FieldError](err); ok {
		p.Field = field.Field
	}
	return p
}

func sendError(w http.ResponseWriter, status int, err error) error {
	return sendJSON(w, status, problemOf(err))
}

// sendJSON leaves the angle brackets of recipes as they were posted.
func sendJSON(w http.ResponseWriter, status int, value any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return err
	}
	page.Send(w, status, "application/json; charset=utf-8", bytes.TrimSuffix(out.Bytes(), []byte("\n")))
	return nil
}

func sendText(w http.ResponseWriter, status int, text string) error {
	page.Send(w, status, "text/plain; charset=utf-8", []byte(text))
	return nil
}
