// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"crypto/rand"
	"encoding/base64"
	mathrand "math/rand/v2"
	"testing"
)

func TestIdentifiers(t *testing.T) {
	for _, name := range []string{
		"1", "2024", "00017",
		"abcdef0123456789", "507f1f77bcf86cd799439011", "0b0e3b0e-5f9c-4e0c-8f2a-1f2e3d4c5b6a", "0B0E3B0E-5F9C-4E0C-8F2A-1F2E3D4C5B6A",
		"01ARZ3NDEKTSV4RRFFQ69G5FAV", "01hv5xw3c8gq2m7k9t4n6p1rz0", // ULID
		"0ujtsYcgvSTl8PAuAdqWYSMnLOv", "2NB8kWkYzQsv3dTgJ6pR1xHmUcE", // KSUID
		"cus_NffrFeUfNV2Hib", "pi_3MtwBwLkdIwHu7ix28a3tqPa", "ord_8fK2xQ", "ord_8f14e45fceea", "sub_1MowQVLkdIwHu7ixeRlqHVzs",
		"sk_test_4eC39HqLyjWDarjtT1zdp7dc", "price_FfrkFeUfNVxHib", "user_01h455vb4pex5vsknk084sn02q", "ord_20240117", "usr_123456",
		"cl9ebqhxk00003b600tymydho", "tz4a98xxat96iws9zmbrgj3a", // cuid
		"V1StGXR8_Z5jdHi6B-myT", "dQw4w9WgXcQ", "Cw4OXlmcTgyPKhLx8uPbag", "Cw4OXlmcTgyPKhLx8uPbag==",
		"7K2M9PQ4XW1Z",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
	} {
		if !IsIdentifier(name) || !IsIdentifier([]byte(name)) {
			t.Errorf("%s is not taken", name)
		}
	}
}

func TestWhatIsNoIdentifier(t *testing.T) {
	for _, name := range []string{
		"", "-", "_", "items", "cafe", "deadbeef", "item-1", "catalogue", "antidisestablishmentarianism",
		"v2", "v1.2.3", "1.2.3", "v1beta1", "v2alpha12", "2024-01-17", "v20240117", "1.0.0-rc1", "r20240117beta2",
		"en-US", "de_DE", "zh-Hant-TW", "sr_Latn_RS", "zh_Hant_HK_2014", "utf_8", "iso_8859", "iso-8859-15", "windows-1252",
		"index.html", "logo_1920x1080.png", "main.3f2a1b9c8d7e6f5a.js", "jquery-3.7.1.min.js", "favicon.ico", "sitemap.xml",
		"how-to-cook-rice", "10-best-phones-of-2024", "iphone-15-pro-max-256gb", "iPhone15ProMax", "MacBookPro16", "galaxy-s24-ultra-5g",
		"samsung-galaxy-s23-128gb-black", "covid-19-vaccines-2021", "COVID19VACCINE2021", "k8s-prod-eu1-2024-v12", "Top-10-Songs-2024",
		"getUserProfileByIdV2Extended", "getUserProfile", "XMLHttpRequestDTOFactory", "ListObjectsV2", "DescribeInstances", "UserServiceV1Grpc",
		"user_profile", "user_profile_settings", "order_items_2024", "page_2", "step_3", "api_v2", "api_v1alpha12", "banner_1920x1080", "user_MyPage2",
		"well-known", ".well-known", "openid-configuration", "_next", "wp-admin", "oauth2", "s3", "h264", "mp3", "base64", "x509",
		"a@b.example", "caf%C3%A9", "name=value", "1,2,3", "12.5", "+1555",
	} {
		if IsIdentifier(name) || IsIdentifier([]byte(name)) {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestDrawnIdentifiers has identifiers as they are drawn, of which a few may look
// like words.
func TestDrawnIdentifiers(t *testing.T) {
	random := mathrand.NewChaCha8([32]byte{1})
	text := func(alphabet string, length int) string {
		b := make([]byte, length)
		for i := range b {
			b[i] = alphabet[random.Uint64()%uint64(len(alphabet))]
		}
		return string(b)
	}
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	for name, tc := range map[string]struct {
		draw  func() string
		least int // of 1,000
	}{
		"base64url of 16 bytes": {func() string {
			var b [16]byte
			_, _ = rand.Read(b[:])
			return base64.RawURLEncoding.EncodeToString(b[:])
		}, 900},
		"prefix and 14 of base62": {func() string { return "cus_" + text(lower+upper+digits, 14) }, 950},
		"prefix and 24 of base62": {func() string { return "pi_" + text(lower+upper+digits, 24) }, 980},
		"27 of base62":            {func() string { return text(lower+upper+digits, 27) }, 950},
		"24 of base36":            {func() string { return text(lower+digits, 24) }, 900},
	} {
		taken := 0
		for range 1000 {
			if IsIdentifier(tc.draw()) {
				taken++
			}
		}
		if taken < tc.least {
			t.Errorf("%s: %d of 1,000 are taken", name, taken)
		}
	}
}

func BenchmarkIsIdentifier(b *testing.B) {
	names := [][]byte{[]byte("items"), []byte("v2"), []byte("1234"), []byte("user_profile_settings"), []byte("cus_NffrFeUfNV2Hib")}
	b.ReportAllocs()
	for b.Loop() {
		for _, name := range names {
			IsIdentifier(name)
		}
	}
}
