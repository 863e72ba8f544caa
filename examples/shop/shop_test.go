// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestUsersAreServed(t *testing.T) {
	server := httptest.NewServer(newShop("secret"))
	defer server.Close()
	all := visitAll(server.URL, 20, 1, 0)
	if all.err != nil || all.failed > 0 || all.requests < 20*10 {
		t.Errorf("%d requests, %d failed: %v", all.requests, all.failed, all.err)
	}
}

// TestOtherSecrets asks one instance with what another has handed out.
func TestOtherSecrets(t *testing.T) {
	one, other := signer("one"), signer("other")
	session := one.sign("session", "alice.1")
	for _, test := range []struct {
		method, target, field, value string
		want                         int
	}{
		{"GET", "/catalog", "Cookie", "session=" + session, http.StatusUnauthorized},
		{"GET", "/catalog", "Cookie", "session=" + other.sign("session", "alice.1"), http.StatusOK},
		{"GET", "/api/points", "Authorization", "Bearer " + one.jwt(session), http.StatusUnauthorized},
		{"GET", "/api/points", "Authorization", "Bearer " + other.jwt(session), http.StatusOK},
		{"GET", "/carts/1000", "Cookie", "session=" + other.sign("session", "alice.1"), http.StatusNotFound},
		{"POST", "/orders", "Cookie", "session=" + other.sign("session", "alice.1"), http.StatusForbidden},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(test.method, test.target, nil)
		r.Header.Set(test.field, test.value)
		r.Header.Set("X-Api-Key", apiKey)
		newShop("other").ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%s %s with %s: %d, want %d", test.method, test.target, test.value, w.Code, test.want)
		}
	}
}
