// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"fmt"
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
