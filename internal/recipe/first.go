// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/textproto"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// First is how many requests an outcome is for, in all or of each key. As text
// it is `2` or `2 by header X-User`; in JSON without a key it is a number.
type First struct {
	// N is how many, at least 1.
	N uint32
	// By is the key; nil: in all.
	By *Key
}

// ParseFirst reads it from text.
func ParseFirst(text string) (First, error) {
	number, by, keyed := strings.Cut(text, " by ")
	n, err := strconv.ParseUint(number, 10, 32)
	switch {
	case err != nil:
		return First{}, fmt.Errorf("'%s' is not a number of requests up to %d: expected it like 2 or 2 by header X-User", number, uint32(math.MaxUint32))
	case n == 0:
		return First{}, errors.New("must be greater than 0")
	case !keyed:
		return First{N: uint32(n)}, nil
	}
	key, err := parseKey(by)
	return First{uint32(n), &key}, err
}

// String returns the text that ParseFirst reads.
func (f First) String() string {
	text := strconv.FormatUint(uint64(f.N), 10)
	if f.By == nil {
		return text
	}
	return text + " by " + f.By.String()
}

// MarshalJSON writes a number, or text if there is a key.
func (f First) MarshalJSON() ([]byte, error) {
	if f.By == nil {
		return []byte(f.String()), nil
	}
	return json.Marshal(f.String())
}

// UnmarshalJSON reads a number or text.
func (f *First) UnmarshalJSON(data []byte) (err error) {
	text := string(data)
	switch kind(data) {
	case "a number":
	case "text":
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	default:
		return fmt.Errorf("expected a number or text like \"2 by header X-User\", got %s", kind(data))
	}
	*f, err = ParseFirst(text)
	return err
}

// Key is what requests are told apart by.
type Key struct {
	// Kind is one of those below.
	Kind KeyKind
	// Name is that of the field or cookie.
	Name string
}

// KeyKind is the part of a request that its key is.
type KeyKind string

// The kinds of keys.
const (
	ByClientIP KeyKind = "client_ip" // the address that Caddy takes for the client's
	ByURI      KeyKind = "uri"       // the target as it was sent
	ByHeader   KeyKind = "header"    // the first line of a field
	ByCookie   KeyKind = "cookie"    // the value of a cookie
)

func parseKey(text string) (Key, error) {
	kind, name, named := strings.Cut(text, " ")
	key := Key{KeyKind(kind), name}
	switch key.Kind {
	case ByClientIP, ByURI:
		if !named {
			return key, nil
		}
	case ByHeader, ByCookie:
		if httpguts.ValidHeaderFieldName(name) {
			if key.Kind == ByHeader {
				key.Name = textproto.CanonicalMIMEHeaderKey(name)
			}
			return key, nil
		}
	}
	return Key{}, fmt.Errorf("'%s' is not a key: expected client_ip, uri, header <field> or cookie <name>", text)
}

// String returns the key as it is written after `by`.
func (k Key) String() string { return strings.TrimSpace(string(k.Kind) + " " + k.Name) }
