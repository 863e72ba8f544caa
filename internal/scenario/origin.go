// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// fetchTimeout bounds the fetching of an origin, all of it.
const fetchTimeout = 10 * time.Second

// origins is the client that fetches; contents are kept as they come.
var origins = &http.Client{
	Timeout: fetchTimeout,
	Transport: &http.Transport{
		Proxy:              http.ProxyFromEnvironment,
		DisableCompression: true,
		DisableKeepAlives:  true,
		ForceAttemptHTTP2:  true,
	},
}

// fetch gets the content of a recipe's origin.
func fetch(ctx context.Context, r *recipe.Recipe) (*content, error) {
	req, err := originRequest(ctx, r)
	if err != nil {
		return nil, inOrigin(err)
	}
	resp, err := origins.Do(req)
	if err != nil {
		return nil, inOrigin(&unreachable{withoutURL(err)})
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, inOrigin(fmt.Errorf("it answered %s", resp.Status))
	}
	block, err := readOrigin(resp.Body)
	encoding := resp.Header.Get("Content-Encoding")
	if asIs := r.Headers.Gzip() && strings.EqualFold(encoding, "gzip"); err == nil && !asIs {
		block, err = decoded(block, encoding)
	}
	if err != nil {
		return nil, inOrigin(&unreachable{fmt.Errorf("reading it: %w", withoutURL(err))})
	}
	mediaType := resp.Header.Get("Content-Type")
	if mediaType == "" {
		mediaType = response.TypeOf(string(block[:min(len(block), 512)]))
	}
	return blockContent(block, mediaType, r), nil
}

// originRequest makes the request with the header fields of the recipe. It is
// one that the admin endpoint of Caddy never answers, so that who posts a recipe
// cannot read the configuration.
func originRequest(ctx context.Context, r *recipe.Recipe) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Origin, nil)
	if err != nil {
		return nil, err
	}
	for _, header := range r.Headers {
		if !ownToMessage(header.Name) {
			req.Header[http.CanonicalHeaderKey(header.Name)] = slices.Clone(header.Values)
		}
	}
	encoding := "identity"
	if r.Headers.Gzip() {
		encoding = "gzip"
	}
	req.Header.Set("Accept-Encoding", encoding)
	req.Header.Set("Sec-Fetch-Mode", "no-cors") // which Caddy's admin endpoint refuses, by whatever name it is asked
	if req.UserAgent() == "" {
		req.Header.Set("User-Agent", "Rehearsal")
	}
	return req, nil
}

// ownToMessage reports which fields of a response make no sense in a request.
func ownToMessage(name string) bool {
	field := response.NewField(name)
	return field.Hop || field.Name == "Host" || strings.HasPrefix(field.Name, "Content-")
}

func readOrigin(body io.Reader) ([]byte, error) {
	block, err := io.ReadAll(io.LimitReader(body, recipe.LargestBody+1))
	if err == nil && len(block) > recipe.LargestBody {
		err = fmt.Errorf("more than %d bytes", recipe.LargestBody)
	}
	return block, err
}

// decoded undoes an encoding that was not asked for.
func decoded(block []byte, encoding string) ([]byte, error) {
	switch strings.ToLower(encoding) {
	case "", "identity":
		return block, nil
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(block))
		if err != nil {
			return nil, err
		}
		return readOrigin(r)
	}
	return nil, errors.New("it is encoded as " + encoding)
}

// unreachable is the error of an origin whose content cannot be had. What it
// says has addresses, which are not for clients.
type unreachable struct{ error }

func (e *unreachable) Unwrap() error { return e.error }

// withoutURL takes the URL out of an error of the HTTP client.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if strings.Contains(err.Error(), "//") {
		return errors.New("the request failed")
	}
	return err
}

// forClients returns why there is no content in words that any client may see.
func forClients(err error) string {
	if _, ok := errors.AsType[*unreachable](err); ok {
		return "it cannot be fetched"
	}
	if field, ok := errors.AsType[*recipe.FieldError](err); ok {
		err = field.Err
	}
	return err.Error()
}

func inOrigin(err error) error { return &recipe.FieldError{Field: "origin", Err: err} }

// How long to wait before an origin that failed is asked again: twice as long
// every time.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// atOnce bounds how many origins are fetched at the same time: of the recipes
// that are posted together, and of a scenario in the background.
const atOnce = 8

// fetchAll fetches the origins of all routes, or returns why one cannot be had.
func fetchAll(ctx context.Context, list recipe.List, routes []*route) error {
	fetches, ctx := errgroup.WithContext(ctx)
	fetches.SetLimit(atOnce)
	var fetched atomic.Int64
	for i, r := range routes {
		if r.recipe.Origin == "" {
			continue
		}
		fetches.Go(func() error {
			content, err := fetch(ctx, &r.recipe)
			if err == nil && fetched.Add(content.Size) > capacity {
				err = r.errTooLarge()
			}
			if err != nil {
				return list.At(i, err)
			}
			r.supply(content)
			return nil
		})
	}
	return fetches.Wait()
}

// fetchInBackground fetches the origins of routes until it has them all, they
// are replaced or the scenario ends.
func (s *Scenario) fetchInBackground(routes []*route) {
	for _, r := range routes {
		if r.content.Load().missing != nil {
			var ctx context.Context
			ctx, r.stop = context.WithCancel(s.ctx)
			go s.fetchUntilThere(ctx, r)
		}
	}
}

func (s *Scenario) fetchUntilThere(ctx context.Context, r *route) {
	defer func() {
		if err := recover(); err != nil {
			s.log().Error("fetching an origin broke off", zap.String("origin", r.recipe.OriginName()), zap.Any("error", err))
		}
	}()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		content, err := s.fetchInTurn(ctx, r)
		if err == nil {
			err = s.supply(ctx, r, content)
		}
		if err == nil {
			s.log().Info("fetched origin", zap.String("origin", r.recipe.OriginName()), zap.Int64("size", content.Size))
			return
		}
		if s.supply(ctx, r, missingContent(err)) != nil {
			return
		}
		s.log().Warn("cannot fetch origin", zap.String("origin", r.recipe.OriginName()), zap.Error(err), zap.Duration("next_attempt", pause))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// fetchInTurn fetches an origin when not too many others are being fetched.
func (s *Scenario) fetchInTurn(ctx context.Context, r *route) (*content, error) {
	select {
	case s.fetching <- struct{}{}:
		defer func() { <-s.fetching }()
		return fetch(ctx, &r.recipe)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// supply brings a route what was fetched, unless its context has ended.
func (s *Scenario) supply(ctx context.Context, r *route, c *content) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c.Size > s.table.Load().free(nil) {
		return r.errTooLarge()
	}
	r.supply(c)
	return nil
}
