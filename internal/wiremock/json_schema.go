// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// matchesJSONSchema asks whether a text is valid by a JSON Schema. What is no JSON
// counts as a text.
type matchesJSONSchema struct {
	text   string
	source any
	draft  *jsonschema.Draft
	ready  sync.Pool // of *schemaRun, each of which serves one request at a time
}

func (p *matchesJSONSchema) String() string { return "matchesJsonSchema " + p.text }

// schemaRun is a compiled schema with what its validation is drawn from.
type schemaRun struct {
	schema *jsonschema.Schema
	budget *eval.Budget
}

// schemaExhausted is what a validation panics with where the budget ends: the
// library has no other way to be stopped.
type schemaExhausted struct{}

func (p *matchesJSONSchema) matches(v value) bool {
	if !v.present {
		return false
	}
	instance, isJSON := v.json()
	if !isJSON {
		instance = v.text
	}
	instance, ok := forSchema(instance, v.budget)
	if !ok {
		return false
	}
	if p.valid(instance, v.budget) {
		return true
	}
	switch instance.(type) { // WireMock has what is neither for a text as well
	case string, []any, map[string]any:
		return false
	}
	return p.valid(v.text, v.budget)
}

func (p *matchesJSONSchema) valid(instance any, b *eval.Budget) (valid bool) {
	run, ok := p.ready.Get().(*schemaRun)
	if !ok {
		var err error
		if run, err = p.compile(); err != nil {
			return false
		}
	}
	defer func() {
		if fault := recover(); fault != nil {
			if _, ok := fault.(schemaExhausted); !ok {
				panic(fault)
			}
			valid = false
		}
	}()
	run.budget = b
	valid = run.schema.Validate(instance) == nil
	p.ready.Put(run)
	return valid
}

// forSchema returns a value in the form that the library takes.
func forSchema(value any, b *eval.Budget) (any, bool) {
	if !b.Spend(1) {
		return nil, false
	}
	switch v := value.(type) {
	case *eval.Object:
		object := make(map[string]any, v.Len())
		for _, m := range v.Members {
			member, ok := forSchema(m.Value, b)
			if !ok {
				return nil, false
			}
			object[m.Name] = member
		}
		return object, true
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var ok bool
			if list[i], ok = forSchema(v[i], b); !ok {
				return nil, false
			}
		}
		return list, true
	}
	return value, true
}

// The drafts by WireMock's names.
var schemaVersions = map[string]*jsonschema.Draft{
	"V4": jsonschema.Draft4, "V6": jsonschema.Draft6, "V7": jsonschema.Draft7,
	"V201909": jsonschema.Draft2019, "V202012": jsonschema.Draft2020,
}

// schemaURL is what a schema of a mapping has for an address.
const schemaURL = "mapping:///schema"

func (p *matchesJSONSchema) compile() (*schemaRun, error) {
	run := new(schemaRun)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(p.draft)
	compiler.UseLoader(nothingElse{})
	compiler.UseRegexpEngine(func(source string) (jsonschema.Regexp, error) {
		re, err := eval.CompileRegexp(source)
		return schemaRegexp{source, re, run}, err
	})
	// A keyword of our own that every schema has counts what is validated.
	compiler.RegisterVocabulary(&jsonschema.Vocabulary{
		URL:     "mapping:///steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return run, nil },
	})
	compiler.AssertVocabs()
	if err := compiler.AddResource(schemaURL, p.source); err != nil {
		return nil, err
	}
	var err error
	run.schema, err = compiler.Compile(schemaURL)
	return run, err
}

// perSchema is what it costs to look at a value by one schema.
const perSchema = 8

// Validate counts a step of the validation.
func (r *schemaRun) Validate(_ *jsonschema.ValidatorContext, v any) {
	cost := perSchema
	switch v := v.(type) {
	case []any:
		cost += 4 * len(v)
	case map[string]any:
		cost += 4 * len(v)
	case string:
		cost += len(v) / 8
	}
	if r.budget != nil && !r.budget.Spend(cost) {
		panic(schemaExhausted{})
	}
}

// schemaRegexp is a pattern of a schema.
type schemaRegexp struct {
	source string
	re     *eval.Regexp
	run    *schemaRun
}

func (r schemaRegexp) String() string { return r.source }

// MatchString reports whether a text has a match.
func (r schemaRegexp) MatchString(text string) bool {
	if r.run.budget == nil {
		b := eval.NewBudget(len(text))
		return r.re.Match(text, &b)
	}
	return r.re.Match(text, r.run.budget)
}

// nothingElse loads no schema: neither from the network nor from files.
type nothingElse struct{}

// Load refuses an address.
func (nothingElse) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: schemas are not loaded from elsewhere", url)
}

func parseMatchesJSONSchema(f *fields, data json.RawMessage) (pattern, error) {
	p := &matchesJSONSchema{draft: jsonschema.Draft2020}
	version := ""
	given, err := f.into("schemaVersion", &version)
	if err != nil {
		return nil, err
	}
	if given {
		if p.draft = schemaVersions[version]; p.draft == nil {
			return nil, f.errorf("schemaVersion", "expected V4, V6, V7, V201909 or V202012, got '%s'", version)
		}
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = json.RawMessage(text)
	}
	if len(data) > eval.LargestJSON {
		return nil, errors.New("the schema is too large")
	}
	if p.source, err = jsonschema.UnmarshalJSON(bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	p.text = string(compact(data))
	allowNull(p.source)
	run, err := p.compile()
	if err != nil {
		return nil, schemaFault(err)
	}
	p.ready.Put(run)
	return p, nil
}

// allowNull adds null to the types of a schema where they are nullable, as OpenAPI
// has it.
func allowNull(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, element := range s {
			allowNull(element)
		}
	case map[string]any:
		for _, member := range s {
			allowNull(member)
		}
		if s["nullable"] != true {
			return
		}
		switch kind := s["type"].(type) {
		case string:
			s["type"] = []any{kind, "null"}
		case []any:
			s["type"] = append(kind, "null")
		}
	}
}

// schemaFault leaves the address that a schema has for us out of an error.
func schemaFault(err error) error {
	if fault, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Errorf("the schema refers to %s: schemas are not loaded from elsewhere", fault.URL)
	}
	text := err.Error()
	return errors.New("it is no JSON Schema: " + string(bytes.ReplaceAll([]byte(text), []byte(schemaURL), nil)))
}
