// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package wiremock tests the example as it stands in its folder.
package wiremock

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

const order = `{"items": [{"sku": "teapot", "quantity": 2}, {"sku": "kettle", "quantity": 1}], "customer": {"id": 7, "name": "Ada"}}`

// TestExample holds what the mappings answer. WireMock 3.13 with the same
// folders gives the same.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	if formatted := caddyfile.Format(text); string(formatted) != string(text) {
		t.Errorf("the Caddyfile is not formatted; it should be\n%s", formatted)
	}
	config, sites := string(text), make(map[string]string)
	for port, name := range map[string]string{":8080": "shop", ":8081": "static", ":8082": "dynamic"} {
		addr := caddytest.Addr(t)
		config = strings.Replace(config, "\n"+port+" {", "\nhttp://"+addr+" {", 1)
		sites[name] = "http://" + addr
	}
	caddytest.Run(t, config)
	for _, tc := range []struct {
		site, method, target, body string
		header                     []string
		status                     int
		want                       string // pattern of the whole body
	}{
		{site: "shop", method: "GET", target: "/products", status: 200, want: `(?s)\{\s+"products": \[.*\]\s+\}\s+`},
		{site: "shop", method: "GET", target: "/products?q=tea%20pot", status: 200, want: `\{"query":"tea pot","at":"\d{4}-\d\d-\d\d","found":\[\]\}`},
		{site: "shop", method: "GET", target: "/products/7", status: 200, want: `\{"id": 7, "name": "product 7"\}`},
		{site: "shop", method: "GET", target: "/products/x", status: 404},
		{site: "shop", method: "POST", target: "/orders", body: "{}", status: 401},
		{
			site: "shop", method: "POST", target: "/orders", body: `{"items":[{"quantity":1},{"quantity":0}],"currency":"EUR","customer":"Ada"}`,
			header: []string{"Authorization", "Basic YWRhOnNlY3JldA==", "Content-Type", "application/json"},
			status: 201, want: `\{"state":"accepted","customer":"Ada","lines":"2"\}`,
		},
		{
			site: "shop", method: "POST", target: "/orders", body: `{"items":[{"quantity":0}],"currency":"EUR","customer":"Ada"}`,
			header: []string{"Authorization", "Basic YWRhOnNlY3JldA==", "Content-Type", "application/json"}, status: 401,
		},
		{site: "shop", method: "GET", target: "/cart", status: 200, want: `\{"items":\[\]\}`},
		{site: "shop", method: "PUT", target: "/cart/teapot", status: 204},
		{site: "shop", method: "GET", target: "/cart", status: 200, want: `\{"items":\["teapot"\]\}`},
		{site: "shop", method: "GET", target: "/__admin/scenarios", status: 200, want: `(?s).*"state": "teapot in it".*`},
		{site: "shop", method: "POST", target: "/__admin/scenarios/reset", status: 200, want: `\{\}`},
		{site: "shop", method: "GET", target: "/cart", status: 200, want: `\{"items":\[\]\}`},
		{site: "shop", method: "POST", target: "/__admin/mappings", body: `{"request": {"url": "/tea"}, "response": {"body": "oolong"}}`, status: 201, want: `(?s).*"body": "oolong".*`},
		{site: "shop", method: "GET", target: "/tea", status: 200, want: `oolong`},
		{site: "shop", method: "POST", target: "/__admin/requests/count", body: `{"url": "/tea"}`, status: 200, want: `(?s).*"count": 1,.*`},
		{site: "static", method: "GET", target: "/products/1", status: 200, want: `\{"id": 1, "name": "kettle", "price": 24.5, "stock": 17\}`},
		{site: "static", method: "GET", target: "/products/2", status: 200, want: `\{"id": 2, "name": "teapot", "price": 32.0, "stock": 4\}`},
		{site: "static", method: "GET", target: "/idle/20", status: 200, want: `not asked for 20`},
		{site: "static", method: "GET", target: "/products/3", status: 404},
		{
			site: "dynamic", method: "GET", target: "/greeting?name=Ada", header: []string{"User-Agent", "test"},
			status: 200, want: `\{"hello": "Ada", "path": "/greeting", "agent": "test"\}`,
		},
		{site: "dynamic", method: "POST", target: "/orders?currency=EUR", body: order, status: 201, want: `\{"order":1001,"state":"accepted"\}`},
		{site: "dynamic", method: "POST", target: "/orders?currency=USD", body: order, status: 404},
		{site: "dynamic", method: "POST", target: "/orders?currency=EUR", body: strings.Replace(order, "Ada", "Eve", 1), status: 404},
		{site: "dynamic", method: "GET", target: "/idle/5?page=3", status: 200, want: `not asked for 5`},
	} {
		status, body := ask(t, tc.method, sites[tc.site]+tc.target, tc.body, tc.header)
		if status != tc.status {
			t.Errorf("%s %s: got %d, want %d", tc.method, tc.target, status, tc.status)
		}
		if tc.status != http.StatusNotFound && !regexp.MustCompile(`\A`+tc.want+`\z`).MatchString(body) {
			t.Errorf("%s %s: got %s", tc.method, tc.target, body)
		}
	}
}

func ask(t *testing.T, method, url, body string, header []string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}
