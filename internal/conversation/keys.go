// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// SessionKey is what of a request names its session. As text it is `client_ip`,
// `bearer`, `header <field>` or `cookie <name>`. Keys can be compared with ==.
type SessionKey struct {
	kind keyKind
	name string
}

type keyKind byte

const (
	noKey keyKind = iota
	clientIP
	bearerKey
	headerKey
	cookieKey
)

var keyWords = [...]string{clientIP: "client_ip", bearerKey: "bearer", headerKey: "header", cookieKey: "cookie"}

// ParseSessionKey returns the key that text writes.
func ParseSessionKey(text string) (SessionKey, error) {
	fields := strings.Fields(text)
	switch {
	case len(fields) == 1 && fields[0] == keyWords[clientIP]:
		return SessionKey{kind: clientIP}, nil
	case len(fields) == 1 && fields[0] == keyWords[bearerKey]:
		return SessionKey{kind: bearerKey}, nil
	case len(fields) == 2 && len(fields[1]) <= maxName && httpguts.ValidHeaderFieldName(fields[1]):
		switch fields[0] {
		case keyWords[headerKey]:
			return SessionKey{kind: headerKey, name: canonical(fields[1])}, nil
		case keyWords[cookieKey]:
			return SessionKey{kind: cookieKey, name: fields[1]}, nil
		}
	}
	return SessionKey{}, fmt.Errorf("'%s' is not the key of a session: expected client_ip, bearer, header <field> or cookie <name>", text)
}

// String returns the text that ParseSessionKey reads.
func (k SessionKey) String() string {
	return strings.TrimSpace(keyWords[k.kind] + " " + k.name)
}

// MarshalText writes the key as text.
func (k SessionKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the key from text.
func (k *SessionKey) UnmarshalText(text []byte) (err error) {
	*k, err = ParseSessionKey(string(text))
	return err
}

// chooser finds out which cookies, and whether bearer tokens, name sessions, by
// counting over the first records. A cookie that many sessions share, such as a
// language, does not, nor does a cookie that is another with every request.
type chooser struct {
	seen  map[SessionKey]*keyUse
	pairs map[keyPair]map[[2]SessionID]bool // values of two keys in one request
}

// keyUse is what was seen of a key.
type keyUse struct {
	parents map[SessionID]SessionID // values, to those that they followed upon in one chain
	uses    int
	weak    bool // values that others may have by chance
}

type keyPair struct{ a, b SessionKey }

// The counts by which keys are chosen.
const (
	maxKeys      = 32  // that are looked at
	usedAgain    = 1.2 // requests for each value, below which it is one of the request's
	fansOut      = 1.5 // values of another key for each of this one, from which on it is shared
	fewValues    = 3   // which are shared where another key has many, or as many that are unique by their looks
	manyValues   = 10
	pairsCounted = 1 << 16
)

func newChooser() *chooser {
	return &chooser{seen: make(map[SessionKey]*keyUse), pairs: make(map[keyPair]map[[2]SessionID]bool)}
}

func keyOf(p Place) (SessionKey, bool) {
	switch p.Kind { //nolint:exhaustive // no other place has a key
	case Cookie:
		return SessionKey{kind: cookieKey, name: p.Name}, true
	case Bearer:
		return SessionKey{kind: bearerKey}, true
	}
	return SessionKey{}, false
}

// add counts the keys of one record.
func (c *chooser) add(ofRequest, ofResponse []item) {
	has := make(map[SessionKey]SessionID)
	var keys []SessionKey
	for _, item := range ofRequest {
		if key, ok := keyOf(item.place); ok && has[key] == 0 && c.use(key, key.name64(item.hash), item.strong) {
			has[key] = key.name64(item.hash)
			keys = append(keys, key)
		}
	}
	for _, item := range ofResponse {
		key, ok := keyOf(item.place)
		if !ok || !c.use(key, key.name64(item.hash), item.strong) {
			continue
		}
		if before := has[key]; before != 0 {
			c.seen[key].join(before, key.name64(item.hash))
		}
	}
	for _, a := range keys {
		for _, b := range keys {
			pair := keyPair{a, b}
			if a == b || len(c.pairs[pair]) >= pairsCounted {
				continue
			}
			if c.pairs[pair] == nil {
				c.pairs[pair] = make(map[[2]SessionID]bool)
			}
			c.pairs[pair][[2]SessionID{has[a], has[b]}] = true
		}
	}
}

// use counts a value of a key, and reports whether the key is looked at.
func (c *chooser) use(key SessionKey, value SessionID, strong bool) bool {
	u := c.seen[key]
	if u == nil {
		if len(c.seen) == maxKeys {
			return false
		}
		u = &keyUse{parents: make(map[SessionID]SessionID)}
		c.seen[key] = u
	}
	u.uses++
	u.weak = u.weak || !strong
	if _, ok := u.parents[value]; !ok {
		u.parents[value] = value
	}
	return true
}

func (u *keyUse) root(value SessionID) SessionID {
	for u.parents[value] != value {
		u.parents[value] = u.parents[u.parents[value]]
		value = u.parents[value]
	}
	return value
}

func (u *keyUse) join(a, b SessionID) { u.parents[u.root(b)] = u.root(a) }

// chains returns how many values there are that did not follow upon others.
func (u *keyUse) chains() int {
	n := 0
	for value, parent := range u.parents {
		if value == parent {
			n++
		}
	}
	return n
}

// keys returns the keys that name sessions, those with the most values first.
func (c *chooser) keys() []SessionKey {
	chains := make(map[SessionKey]int)
	most, strong := 0, 0
	for key, u := range c.seen {
		n := u.chains()
		if key.kind == cookieKey && n >= manyValues && float64(u.uses) < usedAgain*float64(n) {
			continue
		}
		chains[key] = n
		most = max(most, n)
		if !u.weak {
			strong = max(strong, n)
		}
	}
	keys := []SessionKey{}
	for key, n := range chains {
		if n <= fewValues && (most >= manyValues || c.seen[key].weak && strong >= n) || c.isShared(key, chains) {
			continue
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b SessionKey) int {
		return cmp.Or(cmp.Compare(chains[b], chains[a]), cmp.Compare(b.kind, a.kind), strings.Compare(a.name, b.name))
	})
	return keys
}

// isShared reports whether values of a key are each used with several of
// another key, of which every value has only one of this.
func (c *chooser) isShared(key SessionKey, chains map[SessionKey]int) bool {
	for other := range chains {
		both := make(map[[2]SessionID]bool)
		of, others := make(map[SessionID]bool), make(map[SessionID]bool)
		for pair := range c.pairs[keyPair{key, other}] {
			a, b := c.seen[key].root(pair[0]), c.seen[other].root(pair[1])
			both[[2]SessionID{a, b}], of[a], others[b] = true, true, true
		}
		n := float64(len(both))
		if n > 0 && n/float64(len(of)) >= fansOut && n/float64(len(others)) < usedAgain {
			return true
		}
	}
	return false
}
