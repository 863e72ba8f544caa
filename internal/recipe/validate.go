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
	"unicode"
)

// Validate checks a recipe as a whole, and brings it into its
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
		{"", r.checkSize},
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
	if strings.ContainsFunc(r.Route, breaksLine) {
		return fmt.Errorf("%q has a line break or another control character", r.Route)
	}
	return nil
}

// breaksLine reports whether a character has no place in a line of text.
func breaksLine(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }

// HasSource reports whether the recipe has something to serve. Without it the content
// is empty.
func (r *Recipe) HasSource() bool { return len(r.sources()) > 0 }

// sources returns the names of the fields that say what to serve.
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

// checkOrigin names no URL in its errors: that may have credentials.
func checkOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("is not valid: expected a URL like http://example.com/page")
	}
	return nil
}

// Redacted returns the recipes without the credentials that URLs of origins
// have, for being shown.
func (l List) Redacted() List {
	shown := slices.Clone(l)
	for i := range shown {
		if u, err := url.Parse(shown[i].Origin); err == nil && u.User != nil {
			u.User = nil
			shown[i].Origin, shown[i].written = u.String(), nil
		}
	}
	return shown
}

// OriginName returns the origin for logs: its URL without credentials, query
// and fragment.
func (r *Recipe) OriginName() string {
	u, err := url.Parse(r.Origin)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func (r *Recipe) checkSize() error {
	if r.Size() > LargestSize {
		return in(r.LargestField(), ErrTooLarge)
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
		for j, outcome := range stage.Outcomes {
			if outcome.Body == nil {
				continue
			}
			size, _ := sizeOf(*outcome.Body) // was checked with the outcome
			if total += size; total > LargestSize {
				return in(index(i), in(stage.place(j), in("body", ErrTooLarge)))
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

// checkRamps wants an outcome that each ramp can lead to.
func (r *Recipe) checkRamps() error {
	for i, stage := range r.Stages {
		for j, outcome := range stage.Outcomes {
			if !outcome.Ramp {
				continue
			}
			field := index(i)
			err := errors.New("no stage comes after")
			if i < len(r.Stages)-1 || r.Loop != nil {
				if next := &r.Stages[(i+1)%len(r.Stages)]; j < len(next.Outcomes) {
					continue
				}
				err = fmt.Errorf("the next stage has no outcome at place %d", j+1)
			}
			return in(field, in(stage.place(j), in("ramp", err)))
		}
	}
	return nil
}
