// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/page"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// version is the version of WireMock whose API this is.
const version = "3.13.2"

// mostPosted bounds what may be sent to the API, in bytes.
const mostPosted = 16 << 20

// task serves one path of the API. Its result is sent as JSON.
type task func(s *Stubs, c *inquiry) (any, error)

// inquiry is a request to the API.
type inquiry struct {
	*http.Request
	body  []byte
	query url.Values
}

// tasks are WireMock's paths. What is not among them is not there: files, recordings
// and shutting down are for those who administer the server.
var tasks = map[string]task{
	"POST /reset":                         (*Stubs).serveReset,
	"GET /mappings":                       (*Stubs).serveMappings,
	"POST /mappings":                      (*Stubs).serveAdd,
	"DELETE /mappings":                    (*Stubs).serveRemoveAll,
	"POST /mappings/new":                  (*Stubs).serveAdd,
	"POST /mappings/edit":                 (*Stubs).serveEdit,
	"POST /mappings/save":                 (*Stubs).serveSave,
	"POST /mappings/reset":                (*Stubs).serveReset,
	"POST /mappings/import":               (*Stubs).serveImport,
	"POST /mappings/remove":               (*Stubs).serveRemove,
	"POST /mappings/find-by-metadata":     (*Stubs).serveFindByMetadata,
	"POST /mappings/remove-by-metadata":   (*Stubs).serveRemoveByMetadata,
	"GET /mappings/unmatched":             (*Stubs).serveUnused,
	"DELETE /mappings/unmatched":          (*Stubs).serveRemoveUnused,
	"GET /mappings/{id}":                  (*Stubs).serveMapping,
	"PUT /mappings/{id}":                  (*Stubs).serveEdit,
	"DELETE /mappings/{id}":               (*Stubs).serveRemove,
	"GET /scenarios":                      (*Stubs).serveScenarios,
	"POST /scenarios/reset":               (*Stubs).serveResetScenarios,
	"PUT /scenarios/{name}/state":         (*Stubs).serveSetState,
	"GET /requests":                       (*Stubs).serveEvents,
	"DELETE /requests":                    (*Stubs).serveForget,
	"POST /requests/reset":                (*Stubs).serveForget,
	"POST /requests/count":                (*Stubs).serveCount,
	"POST /requests/find":                 (*Stubs).serveFind,
	"POST /requests/remove":               (*Stubs).serveForgetMatching,
	"POST /requests/remove-by-metadata":   (*Stubs).serveForgetByMetadata,
	"GET /requests/unmatched":             (*Stubs).serveUnmatched,
	"GET /requests/unmatched/near-misses": (*Stubs).serveNearUnmatched,
	"GET /requests/{id}":                  (*Stubs).serveEvent,
	"DELETE /requests/{id}":               (*Stubs).serveForgetOne,
	"POST /near-misses/request":           (*Stubs).serveNearRequest,
	"POST /near-misses/request-pattern":   (*Stubs).serveNearPattern,
	"GET /settings":                       (*Stubs).serveSettings,
	"PUT /settings":                       (*Stubs).serveSet,
	"POST /settings":                      (*Stubs).serveSet,
	"PATCH /settings/extended":            (*Stubs).serveSetExtended,
	"GET /version":                        (*Stubs).serveVersion,
	"GET /health":                         (*Stubs).serveHealth,
}

// newAPI returns what serves the paths of the API for some stubs.
func newAPI(s *Stubs) *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, do := range tasks {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, do) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, http.StatusNotFound, problems(&failure{http.StatusNotFound, 404, "", "there is no such path in this API"}))
	})
	return mux
}

// ServeAPI serves a request to the API; path is what follows the prefix in it.
func (s *Stubs) ServeAPI(w http.ResponseWriter, r *http.Request, path string) {
	below := new(http.Request)
	*below = *r
	below.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	w.Header().Set("Cache-Control", "no-store")
	s.api.ServeHTTP(w, below)
}

func (s *Stubs) serve(w http.ResponseWriter, r *http.Request, do task) {
	c := &inquiry{Request: r, query: r.URL.Query()}
	var err error
	if c.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, mostPosted)); err != nil {
		status := http.StatusBadRequest
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		sendJSON(w, status, problems(&failure{status, 10, "", err.Error()}))
		return
	}
	c.body, _ = wiremock.First(c.body)
	status := http.StatusOK
	result, err := do(s, c)
	if failed, ok := errors.AsType[*failure](err); ok {
		status, result = failed.status, problems(failed)
	} else if err != nil {
		status, result = http.StatusUnprocessableEntity, problems(&failure{0, 10, "Error parsing JSON", err.Error()})
	}
	if made, ok := result.(created); ok {
		status, result = http.StatusCreated, made.body
	}
	if list, ok := result.(listing); ok {
		list.send(w)
		return
	}
	if text, ok := result.(string); ok {
		page.Send(w, status, "text/plain; charset=utf-8", []byte(text))
		return
	}
	sendJSON(w, status, result)
}

// listing is a result with a list that may be long. It is sent while it is made,
// so that its elements are not all in memory.
type listing struct {
	name     string
	elements iter.Seq[any]
	rest     map[string]any // what comes behind it
}

// send writes the listing until the client leaves.
func (l listing) send(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\n  %q: [", l.name)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("    ", "  ")
	separator := "\n    "
	for one := range l.elements {
		if _, err := out.WriteString(separator); err != nil || enc.Encode(one) != nil {
			return
		}
		separator = "    ,"
	}
	_, _ = out.WriteString("  ]") // that the client has left is found by Flush, and no error
	for _, name := range slices.Sorted(maps.Keys(l.rest)) {
		fmt.Fprintf(out, ",\n  %q: ", name)
		value, _ := json.Marshal(l.rest[name]) // of numbers and names
		_, _ = out.Write(value)
	}
	_, _ = out.WriteString("\n}")
	_ = out.Flush()
}

// created is the result of what has been made.
type created struct{ body any }

// nothing is the result of what is only done.
var nothing = struct{}{}

// failure is an error with the status that it is sent with. Others are of what was
// posted.
type failure struct {
	status, code  int
	title, detail string
}

func (e *failure) Error() string { return e.detail }

func notFound(detail string) error {
	return &failure{http.StatusNotFound, 404, detail, detail}
}

// problems returns the JSON of an error.
func problems(f *failure) any {
	type one struct {
		Code   int    `json:"code"`
		Title  string `json:"title,omitempty"`
		Detail string `json:"detail,omitempty"`
	}
	return map[string]any{"errors": []one{{f.code, f.title, f.detail}}}
}

func sendJSON(w http.ResponseWriter, status int, value any) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		status = http.StatusInternalServerError
		out.Reset()
	}
	page.Send(w, status, "application/json", bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// into decodes the body.
func (c *inquiry) into(target any) error {
	if err := json.Unmarshal(c.body, target); err != nil {
		return errors.New("expected JSON: " + err.Error())
	}
	return nil
}

// paged returns the part of a list that limit and offset ask for.
func paged[T any](c *inquiry, list []T) ([]T, error) {
	offset, err := c.number("offset", 0)
	if err != nil {
		return nil, err
	}
	limit, err := c.number("limit", len(list))
	if err != nil {
		return nil, err
	}
	offset = min(offset, len(list))
	return list[offset:min(len(list), offset+min(limit, len(list)))], nil
}

func (c *inquiry) number(name string, otherwise int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, &failure{http.StatusBadRequest, 10, name + " must be 0 or greater", "'" + text + "' is not a whole number"}
	}
	return n, nil
}

// since returns the time from which on events are asked for.
func (c *inquiry) since() (time.Time, error) {
	text := c.query.Get("since")
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, &failure{http.StatusBadRequest, 10, text + " is not a valid ISO8601 date", "expected a time like 2026-11-30T14:35:00Z"}
	}
	return at, nil
}

// criteria reads conditions on requests, as a mapping that nobody asks for its
// response.
func (s *Stubs) criteria(pattern []byte) (*wiremock.Mapping, error) {
	if len(bytes.TrimSpace(pattern)) == 0 {
		return nil, errors.New("expected conditions on requests")
	}
	loader := s.options.Loader
	loader.Skip = nil
	list, err := loader.Parse(slices.Concat([]byte(`{"request":`), pattern, []byte("}")), "criteria", "")
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// onMetadata reads a condition on the metadata of mappings.
func (s *Stubs) onMetadata(pattern []byte) (func(*wiremock.Mapping) (bool, error), error) {
	criteria, err := s.criteria(slices.Concat([]byte(`{"bodyPatterns":[`), pattern, []byte("]}")))
	if err != nil {
		return nil, err
	}
	return func(m *wiremock.Mapping) (bool, error) {
		metadata := m.Metadata()
		if metadata == nil {
			return false, nil
		}
		return criteria.Meets(&wiremock.Request{
			Target: "/", ReadBody: func() ([]byte, error) { return metadata, nil },
		})
	}, nil
}
