// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package timeshift

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/edit"
)

// longest is how many bytes a token has at most.
const longest = 16 << 10

var (
	errNoKey    = errors.New("there is no --jwt-key to sign it with")
	errNoTime   = errors.New("it is no time")
	errCritical = errors.New("its header has critical extensions")
)

// tokens moves what the JSON Web Tokens in a text claim.
func (m *move) tokens(text []byte) []byte {
	var out []byte
	done := 0
	for at := 0; ; {
		n := bytes.Index(text[at:], []byte("eyJ"))
		if n < 0 {
			break
		}
		from := at + n
		end := tokenEnd(text, from)
		at = end
		if from > 0 && isWord(text[from-1]) && text[from-1] != '%' || end-from > longest || m.kept(text[from:end]) {
			continue
		}
		token, err := m.token(text[from:end])
		if err != nil {
			m.note(err)
		}
		if token != "" {
			out = append(append(out, text[done:from]...), token...)
			done = end
		}
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// tokenEnd returns where the characters end that a token may have.
func tokenEnd(text []byte, from int) int {
	for from < len(text) && isWord(text[from]) && text[from] != '%' {
		from++
	}
	return from
}

func (m *move) note(err error) {
	m.unsigned.Add(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first == nil {
		m.first = err
	}
}

// token returns a token that claims other times; nothing of what is no token, or
// one that claims none.
func (m *move) token(text []byte) (string, error) {
	parts := bytes.Split(text, []byte("."))
	if len(parts) != 3 {
		return "", nil
	}
	var header map[string]any
	if said, err := base64.RawURLEncoding.DecodeString(string(parts[0])); err != nil || json.Unmarshal(said, &header) != nil {
		return "", nil //nolint:nilerr // it is no token
	}
	algorithm, ok := header["alg"].(string)
	claims, err := base64.RawURLEncoding.DecodeString(string(parts[1]))
	if err != nil || !ok {
		return "", nil //nolint:nilerr // it is no token
	}
	moved, ok := m.claims(claims)
	if !ok {
		return "", nil
	}
	if m.Key == nil {
		return "", errNoKey
	}
	err = errCritical
	token := ""
	if header["crit"] == nil {
		token, err = m.Key.sign(algorithm, string(parts[0]), moved)
	}
	if err != nil {
		return "", fmt.Errorf("a token of %s: %w", algorithm, err)
	}
	return token, nil
}

// claims moves iat, nbf and exp, and reports whether there was any of them.
func (m *move) claims(claims []byte) (moved []byte, ok bool) {
	var d edit.Draft
	d.SetBody(claims)
	for _, name := range []string{"iat", "nbf", "exp"} {
		d.JSON(jsonpath.Path{{Name: name}}, func(value string) (string, bool) {
			later, err := m.later(value)
			ok = ok || err == nil
			return later, err == nil
		})
	}
	return d.Body(), ok
}

// later returns a number of seconds since 1970 moved by whole ones, with the
// decimals that it has.
func (m *move) later(value string) (string, error) {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n > 0 && n <= 1e11) {
		return "", errNoTime
	}
	by := int64(m.by.Round(time.Second) / time.Second)
	whole, decimals, found := strings.Cut(value, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.ContainsAny(decimals, "eE") { // it is written in a way of its own
		return strconv.FormatFloat(n+float64(by), 'f', -1, 64), nil //nolint:nilerr // it is a number
	}
	later := strconv.FormatInt(seconds+by, 10)
	if found {
		later += "." + decimals
	}
	return later, nil
}
