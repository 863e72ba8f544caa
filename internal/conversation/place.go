// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package conversation finds what requests of a recording have from earlier
// responses of the same session: tokens, ids and cookies. It counts over many
// sessions, without rules about names.
package conversation

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

// Kind is what kind of place in a message a value stands at.
type Kind byte

// The kinds of places. Header, Cookie and JSON are of requests and responses,
// those before of requests only, those behind of responses only.
const (
	NoPlace       Kind = iota
	Path               // a segment of the path
	Query              // a parameter of the target
	Form               // a member of a form in the body
	Bearer             // the token of Authorization
	Header             // a header field
	Cookie             // a cookie, also one that is set
	JSON               // a member of a JSON body
	HTMLInput          // the value of an input of a name
	HTMLMeta           // the content of a meta element of a name
	HTMLForm           // what the actions of forms have: segments that are one of many, and parameters
	HTMLLink           // the same of links
	RedirectPath       // a segment of the path in Location
	RedirectQuery      // a parameter in Location
)

// kinds are the words of the kinds and what follows them.
var kinds = [...]struct {
	word    string
	operand operand
}{
	Path:          {"path", aNumber},
	Query:         {"query", aName},
	Form:          {"form", aName},
	Bearer:        {"bearer", nothing},
	Header:        {"header", aName},
	Cookie:        {"cookie", aName},
	JSON:          {"json", aJSONPath},
	HTMLInput:     {"html input", aName},
	HTMLMeta:      {"html meta", aName},
	HTMLForm:      {"html form", nothing},
	HTMLLink:      {"html link", nothing},
	RedirectPath:  {"redirect path", aNumber},
	RedirectQuery: {"redirect query", aName},
}

type operand byte

const (
	nothing operand = iota
	aNumber
	aName
	aJSONPath
)

// Bounds of places.
const (
	maxName     = 256 // bytes of a name or JSON path
	maxSegments = 64  // of a path
)

// Place is where a value stands in a message. As text it is a kind and what
// follows it: `path 2`, `query page`, `header X-Token`, `cookie sid`, `bearer`,
// `json $.items[*].id`, `form csrf`, `html input csrf`, `html meta csrf-token`,
// `html form`, `html link`, `redirect path 2` or `redirect query code`. Places
// can be compared with ==.
type Place struct {
	Kind    Kind
	Name    string // of parameter, field, cookie, member or element; the path in JSON
	Segment int    // of a path, from 1
}

// ParsePlace returns the place that text writes.
func ParsePlace(text string) (Place, error) {
	for kind, k := range kinds {
		rest, ok := strings.CutPrefix(text, k.word)
		if !ok || k.word == "" || k.operand == nothing && rest != "" {
			continue
		}
		if k.operand == nothing {
			return Place{Kind: Kind(kind)}, nil
		}
		rest, ok = strings.CutPrefix(rest, " ")
		if !ok || rest == "" {
			continue
		}
		p := Place{Kind: Kind(kind), Name: rest}
		switch k.operand {
		case aNumber:
			n, err := strconv.Atoi(rest)
			if err != nil || n < 1 || n > maxSegments {
				return Place{}, fmt.Errorf("'%s' is not a segment of a path: expected a number from 1 to %d", rest, maxSegments)
			}
			p.Name, p.Segment = "", n
		case aJSONPath:
			path, err := jsonpath.Parse(rest)
			if err != nil {
				return Place{}, err
			}
			p.Name = path.String()
		case aName, nothing:
		}
		if p.Kind == Header {
			p.Name = canonical(p.Name)
		}
		if p.Segment == 0 && !isName(p.Name) {
			return Place{}, fmt.Errorf("'%s' is not a place: its name must be printable and have at most %d bytes", text, maxName)
		}
		return p, nil
	}
	return Place{}, fmt.Errorf("'%s' is not a place in a message: expected path <n>, query <name>, form <name>, bearer, header <name>, "+
		"cookie <name>, json <path>, html input <name>, html meta <name>, html form, html link, redirect path <n> or redirect query <name>", text)
}

// isName reports whether a name may be that of a place.
func isName[T string | []byte](name T) bool {
	if len(name) == 0 || len(name) > maxName {
		return false
	}
	plain := true
	for i := range len(name) {
		plain = plain && name[i] >= ' ' && name[i] < 0x7f
	}
	return plain || utf8.ValidString(string(name)) && strings.IndexFunc(string(name), isUnprintable) < 0
}

func isUnprintable(r rune) bool { return !unicode.IsPrint(r) }

// canonical returns the one form of a field's name in which places have it:
// X-User-Id.
func canonical(name string) string {
	b := []byte(name)
	start := true
	for i, c := range b {
		switch {
		case start && c >= 'a' && c <= 'z':
			b[i] = c - 'a' + 'A'
		case !start && c >= 'A' && c <= 'Z':
			b[i] = c - 'A' + 'a'
		}
		start = c == '-'
	}
	return string(b)
}

// String returns the text that ParsePlace reads.
func (p Place) String() string {
	word := kinds[p.Kind].word
	switch kinds[p.Kind].operand {
	case aNumber:
		return word + " " + strconv.Itoa(p.Segment)
	case aName, aJSONPath:
		return word + " " + p.Name
	case nothing:
	}
	return word
}

// MarshalText writes the place as text.
func (p Place) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the place from text.
func (p *Place) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePlace(string(text))
	return err
}

// InRequest reports whether requests have such places.
func (p Place) InRequest() bool { return p.Kind >= Path && p.Kind <= JSON }

// InResponse reports whether responses have such places.
func (p Place) InResponse() bool { return p.Kind >= Header && p.Kind <= RedirectQuery }
