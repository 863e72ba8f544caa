// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// digested returns fields that have the digests of a body, as clients send them.
func digested(body string) string {
	of256, of512, of5 := sha256.Sum256([]byte(body)), sha512.Sum512([]byte(body)), md5.Sum([]byte(body))
	base := base64.StdEncoding.EncodeToString
	return "Content-MD5: " + base(of5[:]) + "\r\n" +
		"Digest: SHA-256=" + base(of256[:]) + ",MD5=" + base(of5[:]) + "\r\n" +
		"Content-Digest: sha-256=:" + base(of256[:]) + ":, sha-512=:" + base(of512[:]) + ":\r\n" +
		"Repr-Digest: sha-512=:" + base(of512[:]) + ":\r\n" +
		"X-Amz-Content-Sha256: " + hex.EncodeToString(of256[:]) + "\r\n" +
		"X-Checksum: " + strings.ToUpper(hex.EncodeToString(of5[:])) + "\r\n"
}

func changeJSON(t *testing.T, r *recording.Request) (*recording.Request, []string) {
	t.Helper()
	path, err := jsonpath.Parse("$.cart")
	if err != nil {
		t.Fatal(err)
	}
	var d Draft
	d.Begin(r)
	d.JSON(path, to("1001", "70001"))
	return d.Request(), d.Stale()
}

func TestDigestsAreRenewed(t *testing.T) {
	const signed = "X-Hub-Signature-256: sha256=00\r\nAuthorization: AWS4-HMAC-SHA256 Credential=a\r\n"
	r := request("/", "Host: a\r\n"+digested(`{"cart":1001}`)+signed+"Want-Digest: sha-256\r\n", `{"cart":1001}`)
	got, stale := changeJSON(t, r)
	if want := "Host: a\r\n" + digested(`{"cart":70001}`) + signed + "Want-Digest: sha-256\r\n"; string(got.Headers) != want {
		t.Errorf("got\n%s, want\n%s", got.Headers, want)
	}
	if want := []string{"X-Hub-Signature-256", "Authorization"}; !slices.Equal(stale, want) {
		t.Errorf("stale are %q, want %q", stale, want)
	}
	// a digest of something else stays, and is said
	r = request("/", digested("something else"), `{"cart":1001}`)
	if got, stale = changeJSON(t, r); string(got.Headers) != string(r.Headers) || len(stale) != 6 {
		t.Errorf("stale are %q of\n%s", stale, got.Headers)
	}
	// all of it stays with the body
	r = request("/", digested("something else")+signed, `{"cart":1002}`)
	if got, stale = changeJSON(t, r); string(got.Headers) != string(r.Headers) || len(stale) != 0 {
		t.Errorf("stale are %q of\n%s", stale, got.Headers)
	}
}

// Digests are of what is sent: the packed body.
func TestDigestsOfPackedBodies(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(`{"cart":1001}`))
	w.Close()
	got, _ := changeJSON(t, request("/", "Content-Encoding: gzip\r\n"+digested(packed.String()), packed.String()))
	if want := "Content-Encoding: gzip\r\n" + digested(string(got.Body)); string(got.Headers) != want || bytes.Equal(got.Body, packed.Bytes()) {
		t.Errorf("got\n%s, want\n%s", got.Headers, want)
	}
}
