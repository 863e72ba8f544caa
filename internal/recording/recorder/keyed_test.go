// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

func TestKeyedFormStays(t *testing.T) {
	k, other := newKeyed("one key of a test"), newKeyed("another key of it")
	for value, form := range map[string]string{
		"4711":                                 `^[1-9]\d{3}$`,
		"0815":                                 `^0\d{3}$`,
		"-12.50":                               `^-[1-9]\d\.\d{2}$`,
		"7":                                    `^[1-9]$`,
		"x":                                    `^[a-z]$`,
		"alice":                                `^[a-z]{5}$`,
		"Alice7":                               `^[0-9A-Za-z]{6}$`,
		"anna.smith@example.com":               `^[a-z]{4}\.[a-z]{5}@[a-z]{7}\.[a-z]{3}$`,
		"4111111111111111":                     `^[1-9]\d{15}$`,
		"3f2504e0-4f89-11d3-9a0c-0305e82c3301": `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`,
		"DEADBEEF0123":                         `^[0-9A-F]{12}$`,
		"eyJhbGciOiJIUzI1NiJ9.e30.Et9HFtf9R3g": `^[0-9A-Za-z]{20}\.[0-9A-Za-z]{3}\.[0-9A-Za-z]{11}$`,
		"John Smith":                           `^[0-9a-f]{32}$`,
		"Zoë":                                  `^[0-9a-f]{32}$`,
		"!?":                                   `^[0-9a-f]{32}$`,
		"--":                                   `^[0-9a-f]{32}$`,
		"":                                     `^$`,
	} {
		hashed := k.value(value)
		if !regexp.MustCompile(form).MatchString(hashed) {
			t.Errorf("%q became %q, want %s", value, hashed, form)
		}
		if again := newKeyed("one key of a test").value(value); again != hashed {
			t.Errorf("%q became %q, then %q", value, hashed, again)
		}
		if value != "" && len(value) > 1 && (hashed == value || other.value(value) == hashed) {
			t.Errorf("%q became %q, whatever the key", value, hashed)
		}
	}
}

// TestShortValuesNeverCollide hashes all values of some lengths: each has to
// become another of them.
func TestShortValuesNeverCollide(t *testing.T) {
	k := newKeyed("one key of a test")
	all := alphabets[len(alphabets)-1]
	for length, alphabet := range map[int]string{1: all + separators, 2: all, 3: "019afgzAFGZ-", 4: "0123456789"} {
		seen := make(map[string]string)
		stayed := 0
		var each func(prefix string)
		each = func(prefix string) {
			if len(prefix) < length {
				for _, c := range alphabet {
					each(prefix + string(c))
				}
				return
			}
			hashed := k.value(prefix)
			if before, ok := seen[hashed]; ok {
				t.Fatalf("%q and %q become %q", before, prefix, hashed)
			}
			seen[hashed] = prefix
			if hashed == prefix {
				stayed++
			}
		}
		each("")
		if stayed > len(seen)/10 {
			t.Errorf("%d of %d values of %d characters stay as they are", stayed, len(seen), length)
		}
	}
}

func TestHashedFields(t *testing.T) {
	hash := func(value string) string { return "<" + value + ">" }
	for _, tc := range []struct{ name, value, want string }{
		{"X-User", "alice", "<alice>"},
		{"X-Forwarded-For", "10.0.0.1, 10.0.0.2", "<10.0.0.1>, <10.0.0.2>"},
		{"Authorization", "Bearer abc.def", "Bearer <abc.def>"},
		{"Authorization", "Basic YTpi", "Basic PGE+OjxiPg=="},
		{"Authorization", "Basic ???", "Basic <???>"},
		{"authorization", "Digest username=\"bob\", nonce=\"n=\",nc=1", "Digest username=\"<bob>\", nonce=\"<n=>\",nc=<1>"},
		{"Authorization", "secret", "<secret>"},
		{"Proxy-Authorization", "Custom abc==", "Custom <abc==>"},
		{"X-Auth", "bearer abc", "bearer <abc>"},
		{"X-Auth", "two words", "<two words>"},
		{"Cookie", "a=1; b=\"2\";c; d=x%3Ay", "a=<1>; b=\"<2>\";<c>; d=%3Cx:y%3E"},
		{"Set-Cookie", "sid=abc; Path=/; HttpOnly", "sid=<abc>; Path=/; HttpOnly"},
		{"Set-Cookie", "sid=abc", "sid=<abc>"},
		{"Host", "shop.example:8080", "<shop.example>:8080"},
		{"Host", "shop.example", "<shop.example>"},
	} {
		if got := hashedField(tc.name, tc.value, hash); got != tc.want {
			t.Errorf("%s: %s became %s, want %s", tc.name, tc.value, got, tc.want)
		}
	}
	for value, want := range map[string]string{"a": "<a>", "a%2Bb": "%3Ca%2Bb%3E", "a+b": "%3Ca+b%3E", "%zz": "<%zz>"} {
		if got := hashedParameter(value, hash); got != want {
			t.Errorf("parameter %s became %s, want %s", value, got, want)
		}
	}
}

// TestSameValueEverywhere records one value in all places and expects one hash.
func TestSameValueEverywhere(t *testing.T) {
	o := testOptions(t.TempDir())
	o.RedactHash = []string{"Authorization", "Cookie", "Set-Cookie", "X-User"}
	o.RedactQueryHash, o.RedactJSONHash = []string{"sid"}, []string{"$.sid", "$.all"}
	r := New(o, newWitness())
	const secret = "s3cr3t.4711/x"
	d := r.Begin()
	d.URI = []byte("/a?b=1&sid=s3cr3t.4711%2Fx")
	d.AddField("Authorization", "Bearer "+secret)
	d.AddField("Cookie", "sid="+secret+"; other=s3cr3t.4711%2Fx")
	d.AddField("X-User", secret)
	d.AddField("Referer", "http://a/?sid="+secret)
	d.AddField("Content-Type", "application/json")
	d.WriteBody(t.Context(), []byte(`{"sid":"s3cr3t.4711\/x","all":[{"n":4711,"z":null,"s":"`+secret+`"}],"c":1}`))
	d.Respond(200)
	d.AddResponseField("Set-Cookie", "sid="+secret+"; Secure")
	d.AddResponseField("Content-Type", "application/x-www-form-urlencoded")
	d.WriteResponse(t.Context(), []byte("x=1&sid="+secret))
	d.redact(t.Context())
	key, err := os.ReadFile(filepath.Join(o.Dir, keyFile))
	if err != nil {
		t.Fatal(err)
	}
	k := newKeyed(strings.TrimSpace(string(key)))
	hashed := k.value(secret)
	escaped := strings.ReplaceAll(hashed, "/", "%2F")
	for _, tc := range []struct{ got, want string }{
		{string(d.URI), "/a?b=1&sid=" + escaped},
		{string(d.Headers), "Authorization: Bearer " + hashed + "\r\nCookie: sid=" + hashed + "; other=" + escaped + "\r\nX-User: " + hashed + "\r\nReferer: http://a/?sid=" + hashed + "\r\nContent-Type: application/json\r\n"},
		{string(d.Body), `{"sid":"` + hashed + `","all":[{"n":` + k.value("4711") + `,"z":null,"s":"` + hashed + `"}],"c":1}`},
		{string(d.response.Headers), "Set-Cookie: sid=" + hashed + "; Secure\r\nContent-Type: application/x-www-form-urlencoded\r\n"},
		{string(d.response.Body), "x=1&sid=" + hashed},
	} {
		if tc.got != tc.want {
			t.Errorf("got %s, want %s", tc.got, tc.want)
		}
	}
	d.Release()
	r.Close()
}

func TestKeyOfADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	keys := make([]string, 8)
	var made sync.WaitGroup
	for i := range keys {
		made.Go(func() { keys[i], _ = dirKey(dir) })
	}
	made.Wait()
	for _, key := range keys {
		if len(key) < leastKey || key != keys[0] {
			t.Fatalf("got keys %q", keys)
		}
	}
	info, err := os.Stat(filepath.Join(dir, keyFile))
	if err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("got %v, error %v", info, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("got %v beside the key", entries)
	}
}

func TestWithoutAKeyNothingIsRevealed(t *testing.T) {
	o := testOptions(t.TempDir())
	o.RedactHash = []string{"X-User"}
	if err := os.WriteFile(filepath.Join(o.Dir, keyFile), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWitness()
	r := New(o, w)
	d := r.Begin()
	d.AddField("X-User", "alice")
	if want := "X-User: REDACTED\r\n"; string(d.Headers) != want {
		t.Errorf("got %q", d.Headers)
	}
	d.Release()
	r.Close()
	if got := w.reported(); w.failures(ReadKey) == 0 || len(got) != 1 || !strings.Contains(got[0].Err.Error(), "a key has at least 16 characters") {
		t.Errorf("got reports %v", got)
	}
}
