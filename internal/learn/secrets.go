// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// secretNames are in names of fields and members whose values are never written
// down.
var secretNames = []string{"token", "secret", "passw", "apikey", "api-key", "api_key", "session", "authorization", "credential", "csrf", "xsrf", "signature"}

func isSecretName(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(secretNames, func(word string) bool { return strings.Contains(lower, word) })
}

// isSecretValue reports whether something in a value looks like a token.
func isSecretValue(value string) bool {
	run := 0
	for i := range len(value) {
		switch c := value[i]; {
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', strings.IndexByte("_-+/", c) >= 0:
			if run++; run >= shortestToken {
				return true
			}
		default:
			run = 0
		}
	}
	return strings.Contains(value, "eyJ") && secretValue.MatchString(value)
}

const shortestToken = 32 // letters and digits in a row

// secretValue are values that look like a token wherever they stand: a JWT, or
// 32 and more letters and digits in a row.
var secretValue = regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]*|[A-Za-z0-9_\-+/]{32,}={0,2}`)

// secretMember is a member of JSON with a name of those above and a text.
var secretMember = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"\s*:\s*"((?:[^"\\]|\\.)*)"`)

// secretParameter is a parameter of a URL or form, where a name of those above may
// be too.
var secretParameter = regexp.MustCompile(`(?:^|[?&#;]|\\u0026)([\w.%\[\]-]+)=([^&#;\\\s"'<>]{4,})`)

const redacted = "REDACTED" // what a recorder leaves in place of a value

// maskField returns a value of a header field without what is secret in it.
func maskField(name, value []byte) []byte {
	switch {
	case string(value) == redacted:
		return value
	case strings.EqualFold(string(name), "Set-Cookie"):
		pair, attributes, more := bytes.Cut(value, []byte{';'})
		cookie, secret, _ := bytes.Cut(pair, []byte{'='})
		out := append(bytes.Clone(cookie), '=')
		out = append(out, mask(secret)...)
		if more {
			out = append(out, withoutExpiry(attributes)...)
		}
		return out
	case isSecretName(string(name)):
		return mask(value)
	}
	return maskParameters(value, func(string) {})
}

// maskParameters returns a text in which the values of secret parameters are as
// many x, and tells their names.
func maskParameters(text []byte, tell func(name string)) []byte {
	if bytes.IndexByte(text, '=') < 0 {
		return text
	}
	return secretParameter.ReplaceAllFunc(text, func(parameter []byte) []byte {
		parts := secretParameter.FindSubmatchIndex(parameter)
		name, value := parameter[parts[2]:parts[3]], parameter[parts[4]:parts[5]]
		if !isSecretName(string(name)) || string(value) == redacted {
			return parameter
		}
		tell(string(name))
		out := bytes.Clone(parameter)
		copy(out[parts[4]:parts[5]], mask(value))
		return out
	})
}

// withoutExpiry returns the attributes of a cookie, each with its semicolon, but
// for the moment at which it ends.
func withoutExpiry(attributes []byte) (out []byte) {
	for attribute := range bytes.SplitSeq(attributes, []byte{';'}) {
		if !bytes.HasPrefix(bytes.ToLower(bytes.TrimSpace(attribute)), []byte("expires=")) {
			out = append(append(out, ';'), attribute...)
		}
	}
	return out
}

func mask(secret []byte) []byte {
	if string(secret) == redacted {
		return secret
	}
	return bytes.Repeat([]byte{'x'}, len(secret))
}

// maskBody returns a body in which what looks secret is as many x, and the names
// of what was replaced.
func maskBody(body []byte) (masked []byte, names []string) {
	note := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	masked = secretMember.ReplaceAllFunc(body, func(member []byte) []byte {
		parts := secretMember.FindSubmatchIndex(member)
		name, value := member[parts[2]:parts[3]], member[parts[4]:parts[5]]
		if !isSecretName(string(name)) || len(value) < 4 || string(value) == redacted {
			return member
		}
		note(string(name))
		out := bytes.Clone(member)
		copy(out[parts[4]:parts[5]], mask(value))
		return out
	})
	masked = maskParameters(masked, note)
	masked = secretValue.ReplaceAllFunc(masked, func(value []byte) []byte {
		if !looksRandom(value) {
			return value
		}
		note("what looks like a token")
		return mask(value)
	})
	return masked, names
}

// looksRandom reports whether letters and digits are mixed as no word has them.
func looksRandom(value []byte) bool {
	digits, letters := 0, 0
	for _, c := range value {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters++
		}
	}
	return digits >= 4 && letters >= 4
}
