// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// How long to wait before an origin that failed is asked again: twice as long
// every time.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// atOnce bounds how many origins are fetched at the same time: of the recipes
// that are posted together, and of a scenario in the background.
const atOnce = 8

// fetchAll fetches the origins of all routes, or says why one cannot be had.
func fetchAll(ctx context.Context, list recipe.List, routes []*route) error {
	fetches, ctx := errgroup.WithContext(ctx)
	fetches.SetLimit(atOnce)
	var held atomic.Int64
	for i, r := range routes {
		if r.recipe.Origin == "" {
			continue
		}
		fetches.Go(func() error {
			content, err := fetch(ctx, &r.recipe)
			if err == nil && held.Add(content.Size) > mostHeld {
				err = r.noRoom()
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
			s.log().Error("fetching an origin broke off", zap.String("origin", r.recipe.Origin), zap.Any("error", err))
		}
	}()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		content, err := s.fetchInTurn(ctx, r)
		if err == nil {
			err = s.supply(ctx, r, content)
		}
		if err == nil {
			s.log().Info("fetched origin", zap.String("origin", r.recipe.Origin), zap.Int64("size", content.Size))
			return
		}
		if s.supply(ctx, r, missingContent(err)) != nil {
			return
		}
		s.log().Warn("cannot fetch origin", zap.Error(err), zap.Duration("next_attempt", pause))
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

// supply brings a route what was fetched, unless the context says that nobody
// waits for it any more.
func (s *Scenario) supply(ctx context.Context, r *route, c *content) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c.Size > s.table.Load().room(nil) {
		return r.noRoom()
	}
	r.supply(c)
	return nil
}
