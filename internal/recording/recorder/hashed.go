// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// hashedField returns the value of a header field with the values in it hashed,
// each alone.
func hashedField(name, value string, hash func(string) string) string {
	switch strings.ToLower(name) {
	case "cookie":
		var cookies []string
		for cookie := range strings.SplitSeq(value, ";") {
			cookies = append(cookies, hashedCookie(cookie, hash))
		}
		return strings.Join(cookies, ";")
	case "set-cookie":
		cookie, attributes, ok := strings.Cut(value, ";")
		if cookie = hashedCookie(cookie, hash); ok {
			cookie += ";" + attributes
		}
		return cookie
	case "host":
		if at := strings.LastIndexByte(value, ':'); at >= 0 && strings.Trim(value[at+1:], "0123456789") == "" {
			return hash(value[:at]) + value[at:] // the port
		}
		return hash(value)
	}
	scheme, credentials, ok := strings.Cut(value, " ")
	of := strings.ToLower(scheme)
	switch {
	case !ok || !strings.EqualFold(name, "Authorization") && !strings.EqualFold(name, "Proxy-Authorization") && of != "bearer" && of != "basic":
		return hashedList(value, hash)
	case of == "basic":
		if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credentials)); err == nil {
			if user, password, ok := strings.Cut(string(decoded), ":"); ok {
				return scheme + " " + base64.StdEncoding.EncodeToString([]byte(hash(user)+":"+hash(password)))
			}
		}
		return scheme + " " + hash(strings.TrimSpace(credentials))
	case of == "bearer":
		return scheme + " " + hash(strings.TrimSpace(credentials))
	}
	return scheme + " " + hashedList(credentials, func(item string) string {
		name, value, ok := strings.Cut(item, "=")
		if !ok || strings.Trim(value, "=") == "" { // padding
			return hash(item)
		}
		return name + "=" + hashedQuoted(value, hash)
	})
}

// hashedList hashes each item of a list with commas.
func hashedList(value string, hash func(string) string) string {
	items := strings.Split(value, ",")
	for i, item := range items {
		trimmed := strings.TrimSpace(item)
		before := item[:len(item)-len(strings.TrimLeft(item, " \t"))]
		items[i] = before + hash(trimmed)
	}
	return strings.Join(items, ",")
}

func hashedCookie(cookie string, hash func(string) string) string {
	name, value, ok := strings.Cut(cookie, "=")
	if !ok { // one without a name
		return hash(strings.TrimSpace(cookie))
	}
	return name + "=" + hashedQuoted(value, func(value string) string {
		unescaped, err := url.PathUnescape(value)
		if err != nil || unescaped == value {
			return hash(value)
		}
		return url.PathEscape(hash(unescaped))
	})
}

// hashedQuoted hashes a value, which may be in quotes, that stay.
func hashedQuoted(value string, hash func(string) string) string {
	if trimmed := strings.TrimSpace(value); len(trimmed) >= 2 && trimmed[0] == '"' && trimmed[len(trimmed)-1] == '"' {
		return `"` + hash(trimmed[1:len(trimmed)-1]) + `"`
	}
	return hash(strings.TrimSpace(value))
}

// hashedParameter returns the hash of the value of a parameter, escaped as the
// value was.
func hashedParameter(value string, hash func(string) string) string {
	unescaped, err := url.QueryUnescape(value)
	if err != nil || unescaped == value {
		return hash(value)
	}
	return url.QueryEscape(hash(unescaped))
}
