// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// mostElements is how many recipes, or stages of one, may be written together.
const mostElements = 10000

var errTooMany = fmt.Errorf("more than %d of them", mostElements)

// List is any number of recipes. In JSON it is a list, or a single recipe.
type List []Recipe

// Parse reads recipes and checks them. The error names the field at fault.
func Parse(data []byte) (List, error) {
	data = units.TrimBOM(data)
	if err := checkSyntax(data); err != nil {
		return nil, err
	}
	var list List
	err := list.decode(data)
	if err == nil {
		err = list.validate(data)
	}
	if kind(data) == "a list" {
		err = in("recipes", err)
	}
	return list, err
}

// UnmarshalJSON reads a list of recipes or a single one.
func (l *List) UnmarshalJSON(data []byte) error {
	if isNull(data) {
		return nil
	}
	return in("recipes", l.decode(data))
}

// decode reads recipes; paths in errors begin inside of the list.
func (l *List) decode(data []byte) error {
	switch kind(data) {
	case "an object":
		var single Recipe
		err := single.UnmarshalJSON(data)
		*l = List{single}
		return err
	case "a list":
		var list List
		err := decodeList(data, func(i int, value []byte) error {
			if i == mostElements {
				return errTooMany
			}
			var recipe Recipe
			err := recipe.UnmarshalJSON(value)
			list = append(list, recipe)
			return err
		})
		if err == nil && len(list) == 0 {
			err = errors.New("expected at least one recipe")
		}
		*l = list
		return err
	}
	return errors.New("expected a recipe or a list of recipes, got " + kind(data))
}

// validate checks recipes that were read from data.
func (l List) validate(data []byte) error {
	for i := range l {
		err := l[i].Validate()
		if kind(data) == "a list" {
			err = in(index(i), err)
		}
		if err != nil {
			return err
		}
	}
	i, err := l.CheckSize()
	if kind(data) == "a list" {
		err = in(index(i), err)
	}
	return err
}

// UnmarshalJSON reads a recipe and refuses fields that it does not know.
func (r *Recipe) UnmarshalJSON(data []byte) error {
	r.written = bytes.Clone(data)
	return decodeObject(data, decoders{
		"route":          decodeInto(&r.Route, "text"),
		"origin":         decodeInto(&r.Origin, "text"),
		"body":           decodeInto(&r.Body, "text"),
		"body_file":      decodeInto(&r.BodyFile, "text"),
		"random_content": decodeTextNew(&r.RandomContent, ParseSizeRange),
		"headers":        r.Headers.UnmarshalJSON,
		"stages":         r.decodeStages,
		"loop":           decodeNew(&r.Loop, (*Loop).UnmarshalJSON),
		"start":          decodeTextNew(&r.Start, ParseStart),
		"seed":           decodeInto(&r.Seed, seedKind),
	})
}

// ParseStart reads the moment at which a clock is at 0.
func ParseStart(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("'%s' is not a time like 2006-01-02T15:04:05Z", text)
	}
	return t, nil
}

func (r *Recipe) decodeStages(value []byte) error {
	return decodeList(value, func(i int, value []byte) error {
		if i == mostElements {
			return errTooMany
		}
		var stage Stage
		err := stage.UnmarshalJSON(value)
		r.Stages = append(r.Stages, stage)
		return err
	})
}

// UnmarshalJSON reads a stage and refuses fields that it does not know.
func (s *Stage) UnmarshalJSON(data []byte) error {
	single := Outcome{Status: http.StatusOK}
	return s.decode(data, &single, single.decoders(), (*Outcome).UnmarshalJSON)
}

// decode reads a stage that has the fields of a single outcome, or a list of
// outcomes.
func (s *Stage) decode(data []byte, single *Outcome, known decoders, outcome func(*Outcome, []byte) error) error {
	var given []string
	for name, decode := range known {
		known[name] = func(value []byte) error {
			given = append(given, name)
			return decode(value)
		}
	}
	known["at"] = s.At.UnmarshalJSON
	known["outcomes"] = func(value []byte) error { return s.decodeOutcomes(value, outcome) }
	if err := decodeObject(data, known); err != nil {
		return err
	}
	if s.Outcomes == nil {
		s.Outcomes = []Outcome{*single}
	} else if len(given) > 0 {
		return in(given[0], errors.New("is for an outcome to say, as the stage has outcomes"))
	}
	return nil
}

func (s *Stage) decodeOutcomes(value []byte, decode func(*Outcome, []byte) error) error {
	s.Outcomes, s.listed = []Outcome{}, true
	return decodeList(value, func(i int, value []byte) error {
		if i == mostOutcomes {
			return errTooManyOutcomes
		}
		var outcome Outcome
		err := decode(&outcome, value)
		s.Outcomes = append(s.Outcomes, outcome)
		return err
	})
}

// At puts an error inside of the recipe at an index. A single recipe needs no
// index.
func (l List) At(i int, err error) error {
	if len(l) == 1 {
		return err
	}
	return in("recipes"+index(i), err)
}

// Document is recipes and the address to serve them on.
type Document struct {
	// Where to listen, like `:8080`; empty if nothing is said.
	Listen  string
	Recipes List
}

// ParseDocument reads a document, or recipes alone, and checks them. The error
// names the field at fault.
func ParseDocument(data []byte) (Document, error) {
	data = units.TrimBOM(data)
	if err := checkSyntax(data); err != nil {
		return Document{}, err
	}
	if !isDocument(data) {
		list, err := Parse(data)
		return Document{Recipes: list}, err
	}
	var document Document
	err := decodeObject(data, decoders{
		"listen": decodeInto(&document.Listen, "text"),
		"recipes": func(value []byte) error {
			if err := document.Recipes.decode(value); err != nil {
				return err
			}
			return document.Recipes.validate(value)
		},
	})
	return document, err
}

// isDocument reports whether the JSON is a document rather than a recipe: whether
// it has a field that only documents have.
func isDocument(data []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return false
	}
	_, listens := fields["listen"]
	_, lists := fields["recipes"]
	return listens || lists
}
