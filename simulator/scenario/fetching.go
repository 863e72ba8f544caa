// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/simulator/recipe"
)

// How long to wait before an origin that failed is asked again: twice as long
// every time.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// atOnce bounds how many origins are fetched at the same time.
const atOnce = 8

// fetchAll fetches the origins of all routes, or says why one cannot be had.
func fetchAll(ctx context.Context, list recipe.List, routes []*route) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	turns := make(chan struct{}, atOnce)
	var fetches sync.WaitGroup
	for i, r := range routes {
		if r.recipe.Origin == "" {
			continue
		}
		turns <- struct{}{}
		fetches.Go(func() {
			defer func() { <-turns }()
			content, err := fetch(ctx, &r.recipe)
			if err != nil {
				cancel(list.At(i, err))
				return
			}
			r.supply(content)
		})
	}
	fetches.Wait()
	return context.Cause(ctx)
}

// fetchInBackground fetches the origins of routes until it has them all, they
// are replaced or the scenario ends.
func (s *Scenario) fetchInBackground(routes []*route) {
	for _, r := range routes {
		if r.content.Load().missing != nil {
			go s.fetchUntilThere(r)
		}
	}
}

func (s *Scenario) fetchUntilThere(r *route) {
	defer func() {
		if err := recover(); err != nil {
			s.logger.Error("fetching an origin broke off", zap.String("origin", r.recipe.Origin), zap.Any("error", err))
		}
	}()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		content, err := fetch(s.ctx, &r.recipe)
		if s.ctx.Err() != nil || s.table.Load().get(r.recipe.Route) != r {
			return
		}
		if err == nil {
			r.supply(content)
			s.logger.Info("fetched origin", zap.String("origin", r.recipe.Origin), zap.Int64("size", content.Size))
			return
		}
		r.supply(missingContent(err))
		s.logger.Warn("cannot fetch origin", zap.Error(err), zap.Duration("next_attempt", pause))
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return
		}
	}
}
