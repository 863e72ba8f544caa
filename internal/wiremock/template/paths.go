// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// path compiles a name like request.query.id, parameters.word, this or ../x.
func (p *parser) path(word string) (evaluator, error) {
	if rest, ok := strings.CutPrefix(word, "../"); ok {
		return p.outerPath(rest)
	}
	if rest, ok := strings.CutPrefix(word, "@../"); ok {
		return p.outerPath("@" + rest)
	}
	if rest, ok := strings.CutPrefix(word, "@"); ok {
		return loopVariable(rest)
	}
	keys := pathKeys(strings.TrimPrefix(word, "./"))
	if len(keys) == 0 {
		return thisValue, nil
	}
	switch root, rest := keys[0], keys[1:]; {
	case p.isLocal(root):
		return localPath(root, rest), nil
	case root == "this":
		return member(thisValue, rest), nil
	case root == "request", root == "originalRequest": // the latter in webhooks
		value, err := requestPath(rest)
		if value == nil && err == nil { // which WireMock writes nothing for
			p.names.used = append(p.names.used, word)
			value = constant(nil)
		}
		return value, err
	case root == "parameters":
		return constant(lookup(p.parameters, rest)), nil
	case len(root) == 0:
		return nil, fmt.Errorf("'%s' is no name", word)
	case strings.ContainsAny(root[:1], `'"`):
		return nil, fmt.Errorf("%s is a text: it stands for itself only as an argument", word)
	}
	return p.named(keys), nil
}

func (p *parser) outerPath(rest string) (evaluator, error) {
	if p.loops == 0 {
		p.names.used = append(p.names.used, "../"+rest)
		return constant(nil), nil
	}
	inner := *p
	inner.loops--
	value, err := inner.path(rest)
	return func(s *scope) any {
		if s.outer == nil {
			return nil
		}
		return value(s.outer)
	}, err
}

func loopVariable(name string) (evaluator, error) {
	switch name {
	case "index", "key":
		return func(s *scope) any { return s.key }, nil
	case "first":
		return func(s *scope) any { return wordIf(s.first, name) }, nil
	case "last":
		return func(s *scope) any { return wordIf(s.last, name) }, nil
	case "even", "odd":
		return func(s *scope) any { return wordIf(s.index%2 == 0 == (name == "even"), name) }, nil
	}
	return nil, fmt.Errorf("'@%s' is not supported", name)
}

// wordIf returns what WireMock has for such a variable: its own name or nothing.
func wordIf(is bool, name string) any {
	if is {
		return name
	}
	return ""
}

// pathKeys cuts a path at its dots; [what is in brackets] stays together.
func pathKeys(path string) []string {
	var keys []string
	for path != "" && path != "." {
		path = strings.TrimPrefix(path, ".")
		if inner, ok := strings.CutPrefix(path, "["); ok {
			key, rest, _ := strings.Cut(inner, "]")
			keys, path = append(keys, key), rest
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		keys, path = append(keys, path[:end]), path[end:]
	}
	return keys
}

func thisValue(s *scope) any { return s.this }

func localPath(name string, keys []string) evaluator {
	return func(s *scope) any {
		for s != nil && s.local != name && s.second != name {
			s = s.outer
		}
		switch {
		case s == nil:
			return nil
		case s.local == name:
			return lookup(s.this, keys)
		}
		return lookup(s.key, keys)
	}
}

func member(of evaluator, keys []string) evaluator {
	if len(keys) == 0 {
		return of
	}
	return func(s *scope) any { return lookup(of(s), keys) }
}

// lookup follows keys into a value; what is not there is nil.
func lookup(value any, keys []string) any {
	for _, key := range keys {
		if a, ok := value.(attributes); ok {
			value = a.get(key)
			continue
		}
		value = inner(plain(value), key)
	}
	return value
}

// inner returns what a value has of a name or at a place.
func inner(value any, key string) any {
	switch v := value.(type) {
	case *eval.Object:
		member, _ := v.Get(key)
		return member
	case []string:
		i, fromLast, ok := textIndex(key)
		if fromLast {
			i = len(v) - 1 - i
		}
		if !ok || i < 0 || i >= len(v) {
			return nil
		}
		return v[i]
	case nodes:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
		if len(v) == 1 {
			return inner(v[0], key)
		}
		return nil
	case *eval.XML:
		return innerXML(v, key)
	}
	list, _ := elementsOf(value)
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}
