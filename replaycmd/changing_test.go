// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// With --time shift a server sees the times of a fresh request, the same at all
// targets, and tokens that it can verify.
func TestTimesMoveToWhenRequestsAreSent(t *testing.T) {
	secret := []byte(strings.Repeat("a secret ", 4))
	sign := func(claims string) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: secret}, nil)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signer.Sign([]byte(claims))
		if err != nil {
			t.Fatal(err)
		}
		token, err := signed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	at := origin / 1e9
	rec := writeRequests(t, "rec.fbf", []*recording.Request{{
		ID: []byte("a"), Method: []byte("POST"), URI: fmt.Appendf(nil, "/?at=%d", at), TimeNS: origin,
		Headers: []byte("Host: shop.test\r\nAuthorization: Bearer " + sign(fmt.Sprintf(`{"iat":%d,"exp":%d}`, at, at+60)) + "\r\nContent-Type: application/json\r\n"),
		Body:    fmt.Appendf(nil, `{"at":%d}`, at*1000),
	}})
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, secret, 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []string
	handler := func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		at, _ := strconv.ParseInt(r.URL.Query().Get("at"), 10, 64)
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		signed, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.HS256})
		if err != nil {
			t.Error(err)
			return
		}
		claims, err := signed.Verify(secret)
		if want := fmt.Sprintf(`{"iat":%d,"exp":%d}`, at, at+60); err != nil || string(claims) != want {
			t.Errorf("claims are %s, want %s, error %v", claims, want, err)
		}
		if age := time.Since(time.Unix(at, 0)); age < -time.Second || age > time.Minute || len(body) != len(`{"at":1800000000000}`) {
			t.Errorf("the time is %v, the body %s", time.Unix(at, 0), body)
		}
		seen = append(seen, string(body))
	}
	a, b := serve(t, handler), serve(t, handler)
	if o := replay(t, "--time", "shift", "--jwt-key", key, "--to", a.url, "--to", b.url, rec); o.status != 0 || o.stderr != "" {
		t.Errorf("%+v", o)
	}
	if len(seen) != 2 || seen[0] != seen[1] {
		t.Errorf("targets got %v", seen)
	}
	if o := replay(t, "--time", "shift", "--to", serve(t, nil).url, rec); o.status != 0 || !strings.Contains(o.stderr, "1 JSON Web Tokens went as they were recorded, the first since there is no --jwt-key") {
		t.Errorf("without a key: %+v", o)
	}
}

func TestFlagsAboutTimes(t *testing.T) {
	rec := write(t, "rec.fbf", 1, 0)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--time moon " + rec:                        "'moon' is not valid: expected recorded or shift",
		"--jwt-key " + key + " " + rec:              "--jwt-key signs what --time shift moves",
		"--time shift --jwt-key /no/file " + rec:    "parsing --jwt-key: /no/file: open",
		"--time shift --jwt-key " + key + " " + rec: "too short for HS256",
		"--time shift -n 1 http://localhost:1/":     "of which a URL has none",
	} {
		if o := replay(t, append(strings.Fields(args), "--to", "localhost:1")...); o.status != exitNotStarted || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", args, o)
		}
	}
}
