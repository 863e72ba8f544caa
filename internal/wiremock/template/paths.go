// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"strconv"
	"strings"
)

// path compiles a name like request.query.id, parameters.word, this or ../x.
func (p *parser) path(word string) (evaluator, error) {
	if rest, ok := strings.CutPrefix(word, "../"); ok {
		return p.outerPath(rest)
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
	case root == "request":
		return requestPath(rest)
	case root == "parameters":
		return constant(lookup(p.parameters, rest)), nil
	case p.loops > 0:
		return member(thisValue, keys), nil
	}
	return nil, fmt.Errorf("'%s' is neither a helper nor a value that is known here", word)
}

func (p *parser) outerPath(rest string) (evaluator, error) {
	if p.loops == 0 {
		return nil, fmt.Errorf("there is nothing outside for '../%s'", rest)
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
	}
	return nil, fmt.Errorf("'@%s' is not supported", name)
}

// wordIf gives what WireMock has for such a variable: its own name or nothing.
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
		for s != nil && s.local != name {
			s = s.outer
		}
		if s == nil {
			return nil
		}
		return lookup(s.this, keys)
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
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}
