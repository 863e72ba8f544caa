// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import "encoding/json"

// Book is recipes and the address to serve them on.
type Book struct {
	// Where to listen, like `:8080`; empty if nothing is said.
	Listen  string
	Recipes List
}

// ParseBook reads a book, or recipes alone, and checks them. The error names
// the field at fault.
func ParseBook(data []byte) (Book, error) {
	if err := checkSyntax(data); err != nil {
		return Book{}, err
	}
	if !isBook(data) {
		list, err := Parse(data)
		return Book{Recipes: list}, err
	}
	var book Book
	err := decodeObject(data, decoders{
		"listen": decodeInto(&book.Listen, "text"),
		"recipes": func(value []byte) error {
			if err := book.Recipes.decode(value); err != nil {
				return err
			}
			return book.Recipes.validate(value)
		},
	})
	return book, err
}

// isBook tells a book from a recipe by the fields that only a book has.
func isBook(data []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return false
	}
	_, listens := fields["listen"]
	_, lists := fields["recipes"]
	return listens || lists
}
