// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package gs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
)

func TestBadURLsAreRefused(t *testing.T) {
	for url, want := range map[string]string{
		"gs://bucket/prefix":            "",
		"gs://bucket?anonymous=true":    "",
		"gs://bucket?anonymous=perhaps": "anonymous is 'perhaps': expected true or false",
		"gs://bucket?private_key=x":     "private_key would be a credential in a URL",
		"gs://bucket?project=x":         "'project' is no option of this store: expected one of anonymous",
	} {
		if _, err := objects.Parse(url); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got error %v, want %q", url, err, want)
		}
	}
}

// TestAnEmulatorIsAskedWithoutCredentials lists and reads what a server says in
// the JSON of the protocol.
func TestAnEmulatorIsAskedWithoutCredentials(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("credentials are sent")
		}
		if strings.HasSuffix(r.URL.Path, "/o") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"kind":"storage#objects","items":[{"kind":"storage#object","name":"shop/a.fbf","bucket":"b","size":"4"}]}`)
			return
		}
		_, _ = io.WriteString(w, "text")
	}))
	defer server.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
	address, err := objects.Parse("gs://b/shop")
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := address.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	found, err := bucket.List(t.Context(), "shop/")
	if err != nil || len(found) != 1 || found[0].Name != "gs://b/shop/a.fbf" || found[0].Size != 4 {
		t.Fatalf("found %+v, error %v", found, err)
	}
	reader := bucket.Reader(t.Context(), found[0].Key, found[0].Size)
	defer reader.Close()
	if text, err := io.ReadAll(reader); err != nil || string(text) != "text" {
		t.Errorf("read %q, error %v", text, err)
	}
}
