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
	"slices"
	"strings"
	"time"

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
		return nil, inOrigin(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, inOrigin(fmt.Errorf("%s answered %s", r.Origin, resp.Status))
	}
	block, err := readOrigin(resp.Body)
	encoding := resp.Header.Get("Content-Encoding")
	if asIs := r.Headers.Gzip() && strings.EqualFold(encoding, "gzip"); err == nil && !asIs {
		block, err = decoded(block, encoding)
	}
	if err != nil {
		return nil, inOrigin(fmt.Errorf("reading %s: %v", r.Origin, err))
	}
	mediaType := resp.Header.Get("Content-Type")
	if mediaType == "" {
		mediaType = response.TypeOf(string(block[:min(len(block), 512)]))
	}
	return blockContent(block, mediaType, r), nil
}

// originRequest makes the request with the header fields of the recipe.
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
	if req.UserAgent() == "" {
		req.Header.Set("User-Agent", "Rehearsal")
	}
	return req, nil
}

// ownToMessage tells which fields of an answer make no sense in a request.
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

func inOrigin(err error) error { return &recipe.FieldError{Field: "origin", Err: err} }
