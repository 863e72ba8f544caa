// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"strings"
	"testing"
)

func TestPlacesPrintAsTheyAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"path 2":               "",
		"query page":           "",
		"query odd name":       "",
		"form größe":           "",
		"bearer":               "",
		"header x-TOKEN":       "header X-Token",
		"cookie sid":           "",
		"json $.items[*].id":   "",
		"json $.items.*['id']": "json $.items[*].id",
		"html input csrf":      "",
		"html meta csrf-token": "",
		"html form":            "",
		"html link":            "",
		"redirect path 12":     "",
		"redirect query code":  "",
		"cookie a b ":          "",
	} {
		place, err := ParsePlace(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if want == "" {
			want = text
		}
		if got := place.String(); got != want {
			t.Errorf("'%s' is printed as '%s', want '%s'", text, got, want)
		}
	}
}

func TestPlacesThatThereAreNot(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "is not a place in a message",
		"path":              "is not a place in a message",
		"path ":             "is not a place in a message",
		"path 0":            "a number from 1 to 64",
		"path 65":           "a number from 1 to 64",
		"path x":            "a number from 1 to 64",
		"query":             "is not a place in a message",
		"bearer token":      "is not a place in a message",
		"html":              "is not a place in a message",
		"html input":        "is not a place in a message",
		"json id":           "is not a JSON path",
		"query a\nb":        "must be printable",
		"cookie \xff":       "must be printable",
		"form " + long(257): "at most 256 bytes",
	} {
		if place, err := ParsePlace(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("'%s' is %v, error %v, want one with %s", text, place, err, want)
		}
	}
}

func long(n int) string { return strings.Repeat("a", n) }

func TestSidesOfPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"path 1": "request", "query a": "request", "form a": "request", "bearer": "request",
		"header A": "both", "cookie a": "both", "json $": "both",
		"html input a": "response", "html meta a": "response", "html form": "response", "html link": "response",
		"redirect path 1": "response", "redirect query a": "response",
	} {
		place, err := ParsePlace(text)
		if err != nil {
			t.Fatal(err)
		}
		side := map[[2]bool]string{{true, false}: "request", {false, true}: "response", {true, true}: "both"}[[2]bool{place.InRequest(), place.InResponse()}]
		if side != want {
			t.Errorf("'%s' is of %s, want %s", text, side, want)
		}
	}
}

func TestSessionKeys(t *testing.T) {
	for text, want := range map[string]string{
		"client_ip": "client_ip", "bearer": "bearer", "header x-user": "header X-User", "cookie sid": "cookie sid", " cookie  sid ": "cookie sid",
	} {
		key, err := ParseSessionKey(text)
		if err != nil || key.String() != want {
			t.Errorf("'%s' is '%s', error %v, want '%s'", text, key, err, want)
		}
	}
	for _, text := range []string{"", "uri", "cookie", "cookie a b", "header a:b", "bearer x", "client_ip x", "cookie " + long(257)} {
		if key, err := ParseSessionKey(text); err == nil || !strings.Contains(err.Error(), "expected client_ip, bearer, header <field> or cookie <name>") {
			t.Errorf("'%s' is '%s', error %v", text, key, err)
		}
	}
}

func FuzzPlace(f *testing.F) {
	for _, seed := range []string{"path 2", "json $.a['b']", "header x-a", "html input a b", "cookie é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		place, err := ParsePlace(text)
		if err != nil {
			return
		}
		if again, err := ParsePlace(place.String()); err != nil || again != place {
			t.Errorf("%q became %q and %+v, error %v", text, place, again, err)
		}
	})
}
