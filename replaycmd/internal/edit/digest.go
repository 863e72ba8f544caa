// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"crypto/md5"  //nolint:gosec // as Content-MD5 has it
	"crypto/sha1" //nolint:gosec // as Digest has it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// renewDigests makes the digests of a body anew that fields have of the recorded
// one, and notes the fields that cannot be: signatures, and digests of something
// else.
func (d *Draft) renewDigests(recorded, body []byte) {
	var renewed []Replacement
	d.Fields(func(name, value []byte) ([]byte, bool) {
		switch field := strings.ToLower(string(name)); {
		case IsDigest(field):
			if renewed == nil {
				renewed = digests(recorded, body)
			}
			changed := false
			for _, r := range renewed {
				if bytes.Contains(value, []byte(r.Secret.Value)) {
					value, changed = bytes.ReplaceAll(value, []byte(r.Secret.Value), []byte(r.By)), true
				}
			}
			if !changed {
				d.stale = append(d.stale, string(name))
			}
		case isSignature(field, value):
			d.stale = append(d.stale, string(name))
		}
		return value, true
	})
}

// Stale returns the fields that sign the body that was recorded, or have a digest
// that is not made anew, once Request has returned another one. It is valid until
// Begin.
func (d *Draft) Stale() []string { return d.stale }

// IsDigest reports whether a field has a digest of the body, by its name.
func IsDigest(field string) bool {
	field = strings.ToLower(field)
	if strings.HasPrefix(field, "want-") {
		return false
	}
	for _, word := range []string{"digest", "-md5", "-sha256", "-sha-256", "checksum"} {
		if strings.Contains(field, word) {
			return true
		}
	}
	return false
}

func isSignature(field string, value []byte) bool {
	if field == "authorization" {
		scheme, _ := cut(value, ' ')
		name := strings.ToLower(string(scheme))
		return name == "signature" || strings.Contains(name, "hmac")
	}
	return strings.Contains(field, "signature") || strings.Contains(field, "hmac")
}

// digests returns the digests of one body, as fields have them, with those of
// another in their place.
func digests(recorded, body []byte) (all []Replacement) {
	for _, sum := range []func([]byte) []byte{
		func(b []byte) []byte { s := sha256.Sum256(b); return s[:] },
		func(b []byte) []byte { s := sha512.Sum512(b); return s[:] },
		func(b []byte) []byte { s := md5.Sum(b); return s[:] },  //nolint:gosec // as above
		func(b []byte) []byte { s := sha1.Sum(b); return s[:] }, //nolint:gosec // as above
	} {
		was, is := sum(recorded), sum(body)
		for _, text := range []func([]byte) string{
			base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString,
			hex.EncodeToString, func(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) },
		} {
			all = append(all, Replacement{Secret: &Secret{Value: text(was)}, By: text(is)})
		}
	}
	return all
}
