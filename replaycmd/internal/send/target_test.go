// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]Target{
		"http://127.0.0.1:9002":  {"127.0.0.1:9002", "http://127.0.0.1:9002", false, "tcp", "127.0.0.1:9002", "127.0.0.1:9002", ""},
		"127.0.0.1:9002":         {"127.0.0.1:9002", "http://127.0.0.1:9002", false, "tcp", "127.0.0.1:9002", "127.0.0.1:9002", ""},
		"localhost":              {"localhost", "http://localhost", false, "tcp", "localhost:80", "localhost", ""},
		"https://shop.test/":     {"shop.test", "https://shop.test", true, "tcp", "shop.test:443", "shop.test", ""},
		"http://[::1]:9002":      {"[::1]:9002", "http://[::1]:9002", false, "tcp", "[::1]:9002", "[::1]:9002", ""},
		"[::1]:9002":             {"[::1]:9002", "http://[::1]:9002", false, "tcp", "[::1]:9002", "[::1]:9002", ""},
		"new=https://10.0.0.7":   {"new", "https://10.0.0.7", true, "tcp", "10.0.0.7:443", "10.0.0.7", ""},
		"old one=10.0.0.7:81":    {"old one", "http://10.0.0.7:81", false, "tcp", "10.0.0.7:81", "10.0.0.7:81", ""},
		"unix//run/app.sock":     {"unix//run/app.sock", "unix//run/app.sock", false, "unix", "/run/app.sock", "localhost", ""},
		"app=unix//run/a=b.sock": {"app", "unix//run/a=b.sock", false, "unix", "/run/a=b.sock", "localhost", ""},
		"https://h/v2/a%2Fb/":    {"h", "https://h/v2/a%2Fb", true, "tcp", "h:443", "h", "/v2/a%2Fb"},
		"unix/relative/app.sock": {"unix/relative/app.sock", "unix/relative/app.sock", false, "unix", "relative/app.sock", "localhost", ""},
	} {
		got, err := ParseTarget(text)
		if err != nil || got != want {
			t.Errorf("%q:\n got %+v, error %v\nwant %+v", text, got, err, want)
		}
	}
}

func TestParseTargetSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "no host",
		"::1":                    "needs brackets, like [::1]:80",
		"http://::1":             "needs brackets",
		"::1:9002":               "needs brackets",
		"ftp://x":                "scheme 'ftp' is not http or https",
		"localhost:80/path?":     "queries come from the recording",
		"http://localhost/a?b=c": "queries come from the recording",
		"http://user@localhost":  "no credentials",
		"http://hö.test":         "not a host's name",
		"=localhost":             "no name before the =",
		"localhost:0":            "port '0'",
		"localhost:65536":        "port '65536'",
		"localhost:":             "port is missing",
		"localhost:http":         "invalid port",
		"http://":                "no host",
		"a b":                    "invalid character",
		"unix/":                  "has no path to a socket",
		"name=":                  "no host",
	} {
		_, err := ParseTarget(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, text := range []string{"a=http://x:1", "[::1]:80", "::1", "unix//x", "http://[::1%25eth0]:80", "=x", "x=unix/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, err := ParseTarget(text)
		if err == nil && (target.Name == "" || target.Address == "" || target.Host == "" || strings.ContainsAny(target.Host, "\r\n ")) {
			t.Errorf("%q was read as %+v", text, target)
		}
	})
}
