// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package timeshift

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/edit"
)

// recorded is 2027-01-15T08:00:00Z, and now an hour and a half later.
var (
	recorded = time.Unix(1_800_000_000, 0).UTC()
	now      = recorded.Add(90 * time.Minute)
)

func shift(s *Shifter, r *recording.Request, keep ...string) *recording.Request {
	var d edit.Draft
	d.Begin(r)
	s.Shift(&d, recorded, now, keep)
	return d.Request()
}

func TestTimesNearTheRecordsOwnMove(t *testing.T) {
	for text, want := range map[string]string{
		"2027-01-15T08:00:00Z":                   "2027-01-15T09:30:00Z",
		"at 2027-01-15T10:00:01.250+02:00.":      "at 2027-01-15T11:30:01.250+02:00.",
		"2027-01-15 07:59:59.999999Z":            "2027-01-15 09:29:59.999999Z",
		"Fri, 15 Jan 2027 08:00:00 GMT":          "Fri, 15 Jan 2027 09:30:00 GMT",
		"1800000000":                             "1800005400",
		"1800000000.125":                         "1800005400.125",
		"1800000000123":                          "1800005400123",
		"t=1800000000,v1=ab":                     "t=1800005400,v1=ab",
		"1700000000":                             "", // another year's
		"2026-11-30T14:35:00Z":                   "",
		"18000000001":                            "",
		"x1800000000":                            "",
		"1800000000-1":                           "",
		"GA1.2.123456.1800000000":                "",
		"2027-01-15":                             "",
		"2027-99-15T08:00:00Z":                   "",
		"Fri, 15 Jan":                            "",
		"2027-01-15T08:00:00." + zeros(40) + "Z": "",
	} {
		if want == "" {
			want = text
		}
		got := shift(new(Shifter), &recording.Request{URI: []byte("/"), Headers: []byte("X-At: " + text + "\r\n")})
		if string(got.Headers) != "X-At: "+want+"\r\n" {
			t.Errorf("%s: got %s", text, got.Headers)
		}
	}
}

func zeros(n int) string { return strings.Repeat("0", n) }

func TestTimesMoveInQueriesFormsAndJSON(t *testing.T) {
	const (
		form = "Content-Type: application/x-www-form-urlencoded\r\n"
		json = "Content-Type: application/problem+json; charset=utf-8\r\n"
	)
	for _, tc := range []struct{ target, fields, body, wantTarget, wantBody string }{
		{"/1800000000?at=1800000000&p=%2B&x", "", "", "/1800000000?at=1800005400&p=%2B&x", ""},
		{"/?at=2027-01-15T08%3A00%3A00Z", "", "", "/?at=2027-01-15T09%3A30%3A00Z", ""},
		{"/", form, "at=2027-01-15T08%3A00%3A00Z&a=%2B+b", "/", "at=2027-01-15T09%3A30%3A00Z&a=%2B+b"},
		{"/", json, `{"at":1800000000 ,"on":"2027-01-15T08:00:00Z"}`, "/", `{"at":1800005400 ,"on":"2027-01-15T09:30:00Z"}`},
		{"/", "Content-Type: image/png\r\n", "1800000000", "/", "1800000000"},
	} {
		got := shift(new(Shifter), &recording.Request{URI: []byte(tc.target), Headers: []byte(tc.fields), Body: []byte(tc.body)})
		if string(got.URI) != tc.wantTarget || string(got.Body) != tc.wantBody {
			t.Errorf("%s %s: got %s %s", tc.target, tc.body, got.URI, got.Body)
		}
	}
}

// keys returns a key for each algorithm, as in files, and what verifies its
// tokens.
func keys(t *testing.T) map[jose.SignatureAlgorithm]struct {
	file   []byte
	verify any
} {
	t.Helper()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ecDER, err := x509.MarshalPKCS8PrivateKey(ecKey)
	if err != nil {
		t.Fatal(err)
	}
	secret := []byte(strings.Repeat("secret", 6))
	return map[jose.SignatureAlgorithm]struct {
		file   []byte
		verify any
	}{
		jose.HS256: {append(slices.Clip(secret), '\n'), secret},
		jose.RS256: {pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)}), &rsaKey.PublicKey},
		jose.ES256: {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: ecDER}), &ecKey.PublicKey},
	}
}

func TestTokensAreSignedAnew(t *testing.T) {
	for algorithm, key := range keys(t) {
		k, err := ParseKey(key.file)
		if err != nil {
			t.Fatal(err)
		}
		header := fmt.Sprintf(`{"typ":"JWT", "kid":"k-1", "alg":"%s", "version":12345678901234567890}`, algorithm)
		encoded := base64.RawURLEncoding.EncodeToString([]byte(header))
		token, err := k.sign(string(algorithm), encoded, []byte(`{"sub":"me","iat":1800000000.1250,"exp":1802592000,"nbf":1.8e9}`))
		if err != nil {
			t.Fatal(err)
		}
		got := shift(&Shifter{Key: k}, &recording.Request{
			URI: []byte("/?t=" + token), Headers: []byte("Authorization: Bearer " + token + "\r\nCookie: a=1; t=" + token + "; b=2\r\n"),
		})
		_, fresh, _ := strings.Cut(string(got.URI), "=")
		signed, err := jose.ParseSigned(fresh, []jose.SignatureAlgorithm{algorithm})
		if err != nil {
			t.Fatalf("%s: %v in %s", algorithm, err, got.URI)
		}
		claims, err := signed.Verify(key.verify)
		if err != nil || string(claims) != `{"sub":"me","iat":1800005400.1250,"exp":1802597400,"nbf":1800005400}` || !strings.HasPrefix(fresh, encoded+".") {
			t.Errorf("%s: claims are %s of %s, error %v", algorithm, claims, fresh, err)
		}
		if strings.Contains(string(got.Headers), token) || !strings.HasSuffix(string(got.Headers), "; b=2\r\n") {
			t.Errorf("%s: fields are %s", algorithm, got.Headers)
		}
		// what stays
		if got := shift(&Shifter{Key: k}, &recording.Request{URI: []byte("/?t=" + token)}, "Bearer "+token); string(got.URI) != "/?t="+token {
			t.Errorf("%s: a token to keep became %s", algorithm, got.URI)
		}
		critical, err := k.sign(string(algorithm), base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"alg":"%s","crit":["b64"],"b64":false}`, algorithm)), []byte(`{"iat":1800000000}`))
		if err != nil {
			t.Fatal(err)
		}
		s := &Shifter{Key: k}
		if got := shift(s, &recording.Request{URI: []byte("/?t=" + critical)}); string(got.URI) != "/?t="+critical || s.first == nil || !strings.Contains(s.first.Error(), "critical") {
			t.Errorf("%s: a token with a critical extension became %s, error %v", algorithm, got.URI, s.first)
		}
		for _, s := range []*Shifter{{}, {Key: &Key{"PS256", nil}}} {
			if got := shift(s, &recording.Request{URI: []byte("/?t=" + token)}); string(got.URI) != "/?t="+token {
				t.Errorf("%s: a token that can't be signed became %s", algorithm, got.URI)
			}
			if n, err := s.Unsigned(); n != 1 || err == nil || s.Key != nil && !strings.Contains(err.Error(), string(algorithm)) {
				t.Errorf("%s: %d are counted, the first since %v", algorithm, n, err)
			}
		}
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&other.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := json.Marshal(jose.JSONWebKey{Key: []byte(strings.Repeat("x", 64)), Algorithm: "HS512"})
	if err != nil {
		t.Fatal(err)
	}
	for want, data := range map[string][]byte{
		"P-384":                      pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
		"PUBLIC KEY":                 pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		"HS512":                      jwk,
		"is not a JSON Web Key":      []byte(`{"kty":"odd"}`),
		"too short for HS256":        []byte("short\n"),
		"failed to parse EC private": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte("x")}),
	} {
		if _, err := ParseKey(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v", want, err)
		}
	}
}

// TestKeysOfOpenSSL reads a key as openssl writes it, behind its parameters.
func TestKeysOfOpenSSL(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	parameters := pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte("\x06\x08*\x86H\xce=\x03\x01\x07")})
	if k, err := ParseKey(append(parameters, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})...)); err != nil || k.algorithm != jose.ES256 {
		t.Errorf("got %+v, %v", k, err)
	}
	if _, err := ParseKey(parameters); err == nil || !strings.Contains(err.Error(), "EC PARAMETERS is no private key") {
		t.Errorf("parameters alone: got error %v", err)
	}
}

func FuzzShift(f *testing.F) {
	f.Add("/?a=1800000000&b=eyJhbGciOiJIUzI1NiJ9.eyJpYXQiOjE4MDAwMDAwMDB9.x", "Date: Fri, 15 Jan 2027 08:00:00 GMT\r\n", `{"at":"2027-01-15T08:00:00.5+02:00"}`)
	f.Fuzz(func(t *testing.T, target, fields, body string) {
		key := &Key{jose.HS256, []byte(strings.Repeat("secret", 6))}
		shift(&Shifter{Key: key}, &recording.Request{URI: []byte(target), Headers: []byte("Content-Type: text/plain\r\n" + fields), Body: []byte(body)})
	})
}
