// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// longestSearch is how long a call of the API may look at requests or mappings:
// what one of them may cost is bounded, and there may be many.
const longestSearch = 5 * time.Second

// search bounds a call that looks at many requests or mappings.
type search struct {
	ctx   context.Context
	until time.Time
}

func (c *inquiry) search() search { return search{c.Context(), time.Now().Add(longestSearch)} }

// among returns the elements of a list that meet conditions. The error is that the
// client has left, or that finding them would cost too much.
func among[T any](s search, list []T, meets func(T) (bool, error)) ([]T, error) {
	var found []T
	for i, one := range list {
		if err := s.goesOn(i, len(list)); err != nil {
			return nil, err
		}
		met, err := meets(one)
		if errors.Is(err, wiremock.ErrTooMuch) {
			return nil, tooMuch("for number %d of %d they need more work than its size allows", i+1, len(list))
		}
		if err != nil {
			return nil, err
		}
		if met {
			found = append(found, one)
		}
	}
	return found, nil
}

func (s search) goesOn(looked, of int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(s.until) {
		return tooMuch("%d of %d were looked at within %v", looked, of, longestSearch)
	}
	return nil
}

func tooMuch(format string, args ...any) error {
	return &failure{http.StatusUnprocessableEntity, 10, "The conditions cost too much", fmt.Sprintf(format, args...)}
}
