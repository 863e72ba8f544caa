// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

func valuesOf(read func(func(Place, []byte))) []string {
	var all []string
	read(func(p Place, value []byte) { all = append(all, fmt.Sprintf("%s = %s", p, value)) })
	return all
}

func requestValues(uri, headers, body string) []string {
	q := &recording.Request{URI: []byte(uri), Headers: []byte(strings.ReplaceAll(headers, "\n", "\r\n")), Body: []byte(body)}
	return valuesOf(func(visit func(Place, []byte)) { new(Reader).Request(q, visit) })
}

func responseValues(headers, body string) []string {
	a := &recording.Response{Headers: []byte(strings.ReplaceAll(headers, "\n", "\r\n")), Body: []byte(body)}
	return valuesOf(func(visit func(Place, []byte)) { new(Reader).Response(a, visit) })
}

func TestValuesOfRequests(t *testing.T) {
	for _, test := range []struct {
		uri, headers, body string
		want               []string
	}{
		{uri: "/carts/47%2F11/items?a=1+2&a=%zz&b&=x&c=", want: []string{"path 1 = carts", "path 2 = 47/11", "path 3 = items", "query a = 1 2", "query a = %zz"}},
		{uri: "http://shop.test/a?x=1#f", want: []string{"path 1 = a", "query x = 1"}},
		{uri: "//shop.test", want: nil},
		{uri: "/", headers: "Cookie: sid=a=b; x=\"q\"; =v; bad\nx-token: T \nAuthorization: bearer abc\n", want: []string{
			"cookie sid = a=b", "cookie x = q", `header Cookie = sid=a=b; x="q"; =v; bad`, "header X-Token = T", "bearer = abc",
		}},
		{uri: "/", headers: "Authorization: Basic abc\n", want: []string{"header Authorization = Basic abc"}},
		{uri: "/", headers: "Content-Type: application/x-www-form-urlencoded\n", body: "csrf=a%2Bb&q=r", want: []string{
			"header Content-Type = application/x-www-form-urlencoded", "form csrf = a+b", "form q = r",
		}},
		{uri: "/", headers: "Content-Type: multipart/form-data; boundary=\"Xy\"\n", body: "--Xy\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\na+b\r\n" +
			"--Xy\r\ncontent-disposition: form-data; name=\"f\"; filename=\"a;name=csrf\"\r\nContent-Type: text/plain\r\n\r\nx\r\n" +
			"--Xy\r\nContent-Disposition: form-data; name=to\r\nX: y\r\n\r\nme\r\n--Xy--\r\n", want: []string{
			`header Content-Type = multipart/form-data; boundary="Xy"`, "form csrf = a+b", "form to = me",
		}},
		{uri: "/", headers: "Content-Type: multipart/form-data; boundary=Xy\n", body: "--Xy\r\nContent-Disposition: form-data; name=a\r\n\r\ncut", want: []string{
			"header Content-Type = multipart/form-data; boundary=Xy",
		}},
		{uri: "/", body: ` {"a": {"b c": ["x\/y", {"1234": -1.5e3}]}, "t": true, "n": null, "z": 0}`, want: []string{
			"json $.a['b c'][*] = x/y", "json $.a['b c'][*][*] = -1.5e3", "json $.z = 0",
		}},
		{uri: "/", body: `["a", "b`, want: []string{"json $[*] = a"}},
		{uri: "/", body: `[1, 23`, want: []string{"json $[*] = 1"}},
		{uri: "/", body: "plain text", want: nil},
	} {
		if got := requestValues(test.uri, test.headers, test.body); !slices.Equal(got, test.want) {
			t.Errorf("%s %s %s has\n%q, want\n%q", test.uri, test.headers, test.body, got, test.want)
		}
	}
}

func TestValuesOfResponses(t *testing.T) {
	page := `<!doctype html><meta name=csrf-token content="m&amp;n"><meta property="p" content=q>
		<form action="/orders/4711/pay?t=x"><input type=hidden name="csrf" value='a"b'><input name=empty><button name=go value=1>x</button></form>
		<a href="https://shop.test/orders/12345678-1234-1234-1234-123456789abc?page=2#top">o</a><a href=/help/faq>h</a>`
	for _, test := range []struct {
		headers, body string
		want          []string
	}{
		{"Set-Cookie: sid=v.w; Path=/; HttpOnly\nSet-Cookie: gone=; Max-Age=0\nX-Id: 7\n", "", []string{"cookie sid = v.w", "header X-Id = 7"}},
		{"Location: https://h/orders/12?code=ab%20c\n", "", []string{
			"redirect path 1 = orders", "redirect path 2 = 12", "redirect query code = ab c", "header Location = https://h/orders/12?code=ab%20c",
		}},
		{"Content-Type: text/html; charset=utf-8\n", page, []string{
			"header Content-Type = text/html; charset=utf-8", "html meta csrf-token = m&n", "html meta p = q", "html form = 4711", "html form = x",
			`html input csrf = a"b`, "html input go = 1", "html link = 12345678-1234-1234-1234-123456789abc", "html link = 2",
		}},
		{"Content-Type: application/hal+json\n", `"top"`, []string{"header Content-Type = application/hal+json", "json $ = top"}},
	} {
		if got := responseValues(test.headers, test.body); !slices.Equal(got, test.want) {
			t.Errorf("%s has\n%q, want\n%q", test.headers, got, test.want)
		}
	}
}

func TestPackedBodiesAreRead(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(`{"id": "` + long(maxValue) + `", "more": ["` + strings.Repeat(`a", "`, maxValues) + `"]}`))
	w.Close()
	a := &recording.Response{Headers: []byte("Content-Encoding: gzip\r\n"), Body: packed.Bytes()}
	var r Reader
	if got := r.ResponseValues(a, Place{Kind: JSON, Name: "$.id"}); len(got) != 1 || len(got[0]) != maxValue {
		t.Errorf("got %q", got)
	}
	if n := len(valuesOf(func(visit func(Place, []byte)) { r.Response(a, visit) })); n != maxValues {
		t.Errorf("%d values are read, want %d", n, maxValues)
	}
}

func TestHighEntropy(t *testing.T) {
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.dGhlIHNpZ25hdHVyZQ"
	for value, want := range map[string]bool{
		"12345678-1234-1234-1234-123456789abc":   true,
		"9f86d081884c7d65":                       true,
		"9f86d081884c7d6":                        false,
		jwt:                                      true,
		"user7.9f86d081884c7d659a2feaa0c55ad015": true,
		"FQ2BKTVX4RZ7KD3LMN6PQRSTAB":             true,
		"SGVsbG8gV29ybGQhIEhpIQ":                 true,
		"4711":                                   false,
		"1234567890123456":                       false,
		"v1.22.333-beta.4":                       false,
		"order-2024-11-30-0001":                  false,
		"application-settings-page-with-a-long-name": false,
		"USD":                                  false,
		"2026-11-30T14:35:00Z":                 false,
		"Mozilla/5.0 (X11; Linux x86_64)":      false,
		"CamelCaseIdentifierNameWithoutDigits": false,
	} {
		if got := IsHighEntropy([]byte(value)); got != want {
			t.Errorf("%s: got %v, want %v", value, got, want)
		}
	}
}

func FuzzValues(f *testing.F) {
	f.Add([]byte("/a/1?b=c"), []byte("Content-Type: text/html\r\n"), []byte("<input name=a value=b><a href='/1'>"))
	f.Add([]byte("/"), []byte("Cookie: a=b\r\n"), []byte(`{"a":[{"1":2}]}`))
	f.Fuzz(func(t *testing.T, uri, headers, body []byte) {
		var r Reader
		check := func(p Place, value []byte) {
			if again, err := ParsePlace(p.String()); err != nil || again != p || len(value) == 0 || len(value) > maxValue {
				t.Errorf("%+v has %q; its text is read as %+v, error %v", p, value, again, err)
			}
		}
		r.Request(&recording.Request{URI: uri, Headers: headers, Body: body}, check)
		r.Response(&recording.Response{Headers: headers, Body: body}, check)
	})
}
