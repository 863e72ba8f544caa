// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Validate checks what a recipe says as a whole, and brings it into its
// normal form: a route is named and the stages are sorted. The error names the
// field at fault.
func (r *Recipe) Validate() error {
	if r.Route == "" {
		r.Route = DefaultRoute
	}
	for _, check := range []struct {
		field string
		check func() error
	}{
		{"route", r.checkRoute},
		{"", r.checkSource},
		{"headers", r.Headers.validate},
		{"stages", r.checkStages},
		{"loop", r.checkLoop},
		{"stages", r.checkRamps},
		{"seed", func() error { return CheckSeed(r.Seed) }},
	} {
		if err := check.check(); err != nil {
			return in(check.field, err)
		}
	}
	return nil
}

func (r *Recipe) checkRoute() error {
	if !strings.HasPrefix(r.Route, "/") {
		return fmt.Errorf("'%s' does not begin with a slash", r.Route)
	}
	if strings.Contains(strings.TrimSuffix(r.Route, "*"), "*") {
		return fmt.Errorf("'%s' has a star that is not at its end", r.Route)
	}
	return nil
}

// HasSource tells whether the recipe says what to serve. Without it the content
// is empty.
func (r *Recipe) HasSource() bool { return len(r.sources()) > 0 }

// sources gives the names of the fields that say what to serve.
func (r *Recipe) sources() (given []string) {
	for _, source := range []struct {
		name string
		has  bool
	}{
		{"origin", r.Origin != ""},
		{"body", r.Body != nil},
		{"body_file", r.BodyFile != ""},
		{"random_content", r.RandomContent != nil},
	} {
		if source.has {
			given = append(given, source.name)
		}
	}
	return given
}

// checkSource refuses a second source.
func (r *Recipe) checkSource() error {
	if given := r.sources(); len(given) > 1 {
		return in(given[1], fmt.Errorf("a recipe has one source of its body, and this one has %s too", given[0]))
	}
	if r.Origin != "" {
		return in("origin", checkOrigin(r.Origin))
	}
	if r.Body != nil {
		return in("body", checkBody(*r.Body))
	}
	return nil
}

func checkOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil {
		return err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("'%s' is not the URL of an HTTP server", origin)
	}
	return nil
}

func (r *Recipe) checkStages() error {
	if len(r.Stages) == 0 {
		return errors.New("a recipe has at least one stage")
	}
	taken := make(map[Offset]bool, len(r.Stages))
	var total int64 // of all bodies
	if r.Body != nil {
		total, _ = sizeOf(*r.Body) // was checked with the source
	}
	for i, stage := range r.Stages {
		if err := stage.Validate(); err != nil {
			return in(index(i), err)
		}
		if stage.Body != nil {
			size, _ := sizeOf(*stage.Body) // was checked with the stage
			if total += size; total > LargestContents {
				return in(index(i)+".body", ErrContents)
			}
		}
		if taken[stage.At] {
			return in(index(i)+".at", fmt.Errorf("another stage begins at %s", stage.At))
		}
		taken[stage.At] = true
	}
	slices.SortFunc(r.Stages, func(a, b Stage) int { return cmp.Compare(a.At, b.At) })
	return nil
}
