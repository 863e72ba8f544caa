// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"os"
	"strings"
)

func compileHostname(*call) (evaluator, error) {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return constant(name), nil
}

// permitted reports whether templates may read a variable of the environment:
// those whose names begin with wiremock, in any case, as WireMock has it unless it
// is told otherwise.
func permitted(key string) bool {
	const prefix = "wiremock"
	return len(key) >= len(prefix) && strings.EqualFold(key[:len(prefix)], prefix)
}

// compileSystemValue compiles a variable of the environment. Properties, which are
// Java's, have none but their defaults.
func compileSystemValue(c *call) (evaluator, error) {
	key, kind, otherwise := c.option("key", ""), c.option("type", "ENVIRONMENT"), c.option("default", nil)
	return func(s *scope) any {
		name := toText(key(s), s.budget)
		switch {
		case name == "":
			return problem("The key cannot be empty")
		case !permitted(name):
			return problem("Access to %s is denied", name)
		}
		if toText(kind(s), s.budget) == "ENVIRONMENT" {
			if value, ok := os.LookupEnv(name); ok {
				return value
			}
		}
		return otherwise(s)
	}, nil
}
