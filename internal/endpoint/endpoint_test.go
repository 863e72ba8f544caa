// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"strings"
	"testing"
)

func TestAppendName(t *testing.T) {
	for _, tc := range []struct{ method, target, body, want string }{
		{"GET", "/items/42?x=1", "", "GET /items/*"},
		{"GET", "/", "", "GET /"},
		{"GET", "*", "", "GET *"},
		{"GET", "/v2/users/0b0e3b0e-5f9c-4e0c-8f2a-1f2e3d4c5b6a/orders/", "", "GET /v2/users/*/orders/"},
		{"GET", "/feed/cafe/abcdef0123456789#x", "", "GET /feed/cafe/*"},
		{"GET", "/v1/customers/cus_NffrFeUfNV2Hib/orders/01ARZ3NDEKTSV4RRFFQ69G5FAV", "", "GET /v1/customers/*/orders/*"},
		{"POST", "/graphql", `{"query":"query GetCart($id: ID!) { cart }"}`, "POST /graphql GetCart"},
		{"POST", "/graphql", `{"query":"{ cart }","operationName":"Cart"}`, "POST /graphql Cart"},
		{"POST", "/graphql", `{"query":"{ cart }"}`, "POST /graphql"},
		{"POST", "/search", `{"query":"red shoes","operationName":"x"}`, "POST /search"},
		{"POST", "/graphql", `{"query":"{ cart }","operationName":"a b\r\n"}`, "POST /graphql"},
		{"POST", "/graphql", `{"query":`, "POST /graphql"},
		{"GET", "/graphql?query=query+Me%7Bme%7D", "", "GET /graphql Me"},
		{"GET", "/a/" + strings.Repeat("x", 101) + "/b", "", "GET /a/*/b"},
		{"GET", strings.Repeat("/a", 31) + "/b", "", "GET " + strings.Repeat("/a", 31) + "/*"},
		{strings.Repeat("M", 1000), "/", "", strings.Repeat("M", 100) + " /"},
	} {
		if got := string(AppendName(nil, []byte(tc.method), []byte(tc.target), []byte(tc.body))); got != tc.want {
			t.Errorf("%s %s %s: got %q, want %q", tc.method, tc.target, tc.body, got, tc.want)
		}
	}
}
