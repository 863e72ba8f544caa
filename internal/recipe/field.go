// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"errors"
	"strconv"
	"strings"
)

// FieldError is what is wrong with one field of a recipe.
type FieldError struct {
	// The path of the field, like `recipes[1].stages[0].latency`.
	Field string
	Err   error
}

// Error names the field and what is wrong with it.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap gives what is wrong without the field.
func (e *FieldError) Unwrap() error { return e.Err }

// in puts an error inside of a field; the path grows from the inside out.
func in(field string, err error) error {
	if err == nil || field == "" {
		return err
	}
	if inner, ok := errors.AsType[*FieldError](err); ok {
		return &FieldError{Field: join(field, inner.Field), Err: inner.Err}
	}
	return &FieldError{Field: field, Err: err}
}

// join puts two parts of a path together.
func join(outer, inner string) string {
	if outer == "" || inner == "" || strings.HasPrefix(inner, "[") {
		return outer + inner
	}
	return outer + "." + inner
}

// index is the part of a path that leads into a list.
func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
