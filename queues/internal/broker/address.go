// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// Address is where a broker is, and who asks.
type Address struct {
	Scheme         string
	User, Password string
	Host           string // with a port
	Name           string // of the host alone
}

// SchemeOf returns the scheme of a URL.
func SchemeOf(text string) string {
	scheme, _, _ := strings.Cut(text, "://")
	return scheme
}

// CheckURL refuses what is no URL of a broker, whatever its placeholders stand for.
// Ports are the default ones of the schemes that it may have.
func CheckURL(text string, ports Ports) error {
	scheme, rest, ok := strings.Cut(text, "://")
	if _, known := ports[scheme]; !ok || !known {
		return fmt.Errorf("expected a URL that begins with %s://", strings.Join(slices.Sorted(maps.Keys(ports)), ":// or "))
	}
	_, path, _ := strings.Cut(rest[strings.LastIndex(rest, "@")+1:], "/")
	if path != "" {
		return errors.New("the URL of a broker has no path: expected virtual_host for it")
	}
	return nil
}

// ParseAddress reads the URL of a broker. Placeholders in user, password and host
// are replaced; what they stand for is taken as it is, and the rest is unescaped. No
// error has the password.
func ParseAddress(text string, ports Ports) (a Address, err error) {
	if err := CheckURL(text, ports); err != nil {
		return a, err
	}
	scheme, rest, _ := strings.Cut(text, "://")
	port := ports[scheme]
	a.Scheme = scheme
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		user, password, _ := strings.Cut(rest[:i], ":")
		if a.User, err = replaced(user); err != nil {
			return a, fmt.Errorf("user: %v", err)
		}
		if a.Password, err = replaced(password); err != nil {
			return a, fmt.Errorf("password: %v", err)
		}
		rest = rest[i+1:]
	}
	if a.Host, err = replaced(strings.TrimSuffix(rest, "/")); err != nil {
		return a, fmt.Errorf("host: %v", err)
	}
	checked, err := url.Parse(scheme + "://" + a.Host)
	if err != nil || checked.Hostname() == "" {
		return a, fmt.Errorf("'%s' is not a host: expected one like mq.example:%s", a.Host, port)
	}
	a.Name = checked.Hostname()
	if checked.Port() != "" {
		port = checked.Port()
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return a, fmt.Errorf("port: '%s' is not from 1 to 65535", port)
		}
	}
	a.Host = net.JoinHostPort(a.Name, port)
	return a, nil
}

var placeholder = regexp.MustCompile(`\{[^{}]+\}`)

// replaced returns a part of a URL with its placeholders replaced, and what is
// around them unescaped.
func replaced(text string) (string, error) {
	var out strings.Builder
	for {
		literal, value, rest := text, "", ""
		at := placeholder.FindStringIndex(text)
		if at != nil {
			var err error
			if value, err = caddy.NewReplacer().ReplaceOrErr(text[at[0]:at[1]], true, true); err != nil {
				return "", err
			}
			literal, rest = text[:at[0]], text[at[1]:]
		}
		plain, err := url.PathUnescape(literal)
		if err != nil {
			return "", errors.New("it is not well escaped")
		}
		out.WriteString(plain)
		out.WriteString(value)
		if at == nil {
			return out.String(), nil
		}
		text = rest
	}
}

// Place returns the address without credentials.
func (a Address) Place() string { return a.Scheme + "://" + a.Host }

// Key returns the address with its credentials and further parts as a text that no
// other has.
func (a Address) Key(parts ...any) string {
	key, _ := json.Marshal(append([]any{a}, parts...)) // plain values
	return string(key)
}
