// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

func request(target, fields, body string) *recording.Request {
	return &recording.Request{Method: []byte("POST"), URI: []byte(target), Headers: []byte(fields), Body: []byte(body)}
}

// to returns a change of one value into another.
func to(from, value string) Change {
	return func(v string) (string, bool) { return value, v == from }
}

func TestPlaces(t *testing.T) {
	const (
		form  = "Content-Type: application/x-www-form-urlencoded\r\n"
		json  = "Content-Type: application/json\r\n"
		parts = "Content-Type: multipart/form-data; boundary=b\r\n"
	)
	for name, tc := range map[string]struct {
		target, fields, body string
		edit                 func(*Draft)
		want                 [3]string
	}{
		"segment":           {"/carts/1234/items?cart=1234", "", "", func(d *Draft) { d.Segment(2, to("1234", "a/b")) }, [3]string{"/carts/a%2Fb/items?cart=1234"}},
		"last segment":      {"/carts/1234", "", "", func(d *Draft) { d.Segment(2, to("1234", "77")) }, [3]string{"/carts/77"}},
		"escaped segment":   {"/a%20b/x", "", "", func(d *Draft) { d.Segment(1, to("a b", "c d")) }, [3]string{"/c%20d/x"}},
		"another's segment": {"/carts/1235", "", "", func(d *Draft) { d.Segment(2, to("1234", "77")) }, [3]string{"/carts/1235"}},
		"no such segment":   {"/carts", "", "", func(d *Draft) { d.Segment(9, to("1234", "77")) }, [3]string{"/carts"}},
		"proxy's form":      {"http://a/carts/1234", "", "", func(d *Draft) { d.Segment(2, to("1234", "77")) }, [3]string{"http://a/carts/77"}},
		"parameter":         {"/s?p=%2B%2B&cart=1234&xcart=1234&cart", "", "", func(d *Draft) { d.Parameter("cart", to("1234", "+")) }, [3]string{"/s?p=%2B%2B&cart=%2B&xcart=1234&cart"}},
		"form":              {"/", form, "a=%2B+b&csrf=x", func(d *Draft) { d.Form("csrf", to("x", "y&z")) }, [3]string{"/", form, "a=%2B+b&csrf=y%26z"}},
		"no form":           {"/", json, "csrf=x", func(d *Draft) { d.Form("csrf", to("x", "y")) }, [3]string{"/", json, "csrf=x"}},
		"multipart": {
			"/", parts, "--b\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nx\r\n--b--\r\n", func(d *Draft) { d.Form("csrf", to("x", "longer")) },
			[3]string{"/", parts, "--b\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nlonger\r\n--b--\r\n"},
		},
		"bearer": {"/", "X: Bearer a\r\nAuthorization: Bearer a\r\n", "", func(d *Draft) { d.Bearer(to("a", "b")) }, [3]string{"/", "X: Bearer a\r\nAuthorization: Bearer b\r\n"}},
		"field":  {"/", "x-csrf: a\r\nY: a\r\n", "", func(d *Draft) { d.Field("X-Csrf", to("a", "b")) }, [3]string{"/", "x-csrf: b\r\nY: a\r\n"}},
		"cookies": {"/", "Cookie: id=1; id=2; =x; bad; sid=a\r\n", "", func(d *Draft) {
			d.Cookies(func(name, value string) (string, bool) {
				if name == "sid" {
					return "b", true
				}
				return value, value != "2"
			})
		}, [3]string{"/", "Cookie: id=1; =x; bad; sid=b\r\n"}},
		"the only cookie": {"/", "A: b\r\nCookie: sid=a\r\n", "", func(d *Draft) { d.Cookies(func(string, string) (string, bool) { return "", false }) }, [3]string{"/", "A: b\r\n"}},
		"json": {
			"/", json, `{"a": {"id": 12, "id2":12}, "list": [{"id":"x"} , {"id":"y"}] }`, func(d *Draft) {
				d.JSON(jsonpath.Path{{Name: "a"}, {Name: "id"}}, to("12", "13"))
				d.JSON(jsonpath.Path{{Name: "list"}, {Any: true}, {Name: "id"}}, to("y", `<"z">`))
			},
			[3]string{"/", json, `{"a": {"id": 13, "id2":12}, "list": [{"id":"x"} , {"id":"<\"z\">"}] }`},
		},
		"a number that becomes a text": {"/", json, `{"id":12}`, func(d *Draft) { d.JSON(jsonpath.Path{{Name: "id"}}, to("12", "c-1")) }, [3]string{"/", json, `{"id":"c-1"}`}},
		"broken json":                  {"/", json, `{"id":12`, func(d *Draft) { d.JSON(jsonpath.Path{{Name: "id"}}, to("12", "13")) }, [3]string{"/", json, `{"id":12`}},
		"deep json":                    {"/", json, strings.Repeat("[", 100_000), func(d *Draft) { d.JSON(jsonpath.Path{{Name: "id"}}, to("12", "13")) }, [3]string{"/", json, strings.Repeat("[", 100_000)}},
	} {
		r := request(tc.target, tc.fields, tc.body)
		var d Draft
		d.Begin(r)
		tc.edit(&d)
		got := d.Request()
		if string(got.URI) != tc.want[0] || string(got.Headers) != tc.want[1] || string(got.Body) != tc.want[2] {
			t.Errorf("%s: got %s\n%s\n%s", name, got.URI, got.Headers, got.Body)
		}
		if changed := tc.want != [3]string{tc.target, tc.fields, tc.body}; d.Changed() != changed {
			t.Errorf("%s: changed is %v", name, d.Changed())
		}
		if string(r.URI) != tc.target || string(r.Headers) != tc.fields || string(r.Body) != tc.body {
			t.Errorf("%s: the request itself was changed", name)
		}
	}
}

func TestLongValuesAreReplacedInEveryForm(t *testing.T) {
	const (
		old, fresh = "tok/+== \"secret\" <1>", "NEW=/ &<\"value\">+longer than the old"
		json       = "Content-Type: application/json\r\n"
	)
	std, raw := base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	for name, form := range map[string]func(value string) (target, fields, body string){
		"query": func(v string) (string, string, string) { return "/s?a=1&t=" + url.QueryEscape(v) + "&b=2", "", "" },
		"path":  func(v string) (string, string, string) { return "/x/" + url.PathEscape(v) + "/y?z", "", "" },
		"small hex": func(v string) (string, string, string) {
			return "/s?t=" + lowerHex(url.QueryEscape(v)), "", ""
		},
		"field":      func(v string) (string, string, string) { return "/", "X-Token: a " + v + " b\r\n", "" },
		"json":       func(v string) (string, string, string) { return "/", json, `{"t":` + string(quote(v)) + `}` },
		"text":       func(v string) (string, string, string) { return "/", "", "a " + v + " b" },
		"base64":     func(v string) (string, string, string) { return "/", "X-A: " + std([]byte(v)) + "\r\n", "" },
		"base64 URL": func(v string) (string, string, string) { return "/s/" + raw([]byte("ab"+v+"c")) + "/t", "", "" },
		"Basic": func(v string) (string, string, string) {
			return "/", "Authorization: Basic " + std([]byte("me:"+v)) + "\r\n", ""
		},
		"base64 JSON": func(v string) (string, string, string) {
			return "/", "Cookie: s=" + std([]byte("x"+v+"yz")) + "; u=1\r\n", ""
		},
	} {
		var d Draft
		d.Begin(request(form(old)))
		secret := NewSecret(old)
		if !d.Has(secret) {
			t.Errorf("%s: the value was not found", name)
			continue
		}
		d.Replace([]Replacement{{Secret: secret, By: fresh}})
		got, want := d.Request(), request(form(fresh))
		if string(got.URI) != string(want.URI) || string(got.Headers) != string(want.Headers) || string(got.Body) != string(want.Body) {
			t.Errorf("%s: got %s\n%s\n%s\nwant %s\n%s\n%s", name, got.URI, got.Headers, got.Body, want.URI, want.Headers, want.Body)
		}
	}
}

// What was put in is not replaced again, and of overlapping values the longer one
// counts.
func TestReplacedOnce(t *testing.T) {
	const a, b = "aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb"
	var d Draft
	d.Begin(request("/?x="+a+"&y="+b+"&z="+a+"-"+b, "", ""))
	d.Replace([]Replacement{{Secret: NewSecret(a), By: b}, {Secret: NewSecret(b), By: a}, {Secret: NewSecret(a + "-" + b), By: "both"}})
	if got := string(d.Request().URI); got != "/?x="+b+"&y="+a+"&z=both" {
		t.Errorf("got %s", got)
	}
}

// A signed token that only has a value in it would be a broken one.
func TestSignedTokensStayWhole(t *testing.T) {
	const value = "session-0123456789abcdef"
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sid":"`+value+`"}`)) + ".c2ln"
	var d Draft
	d.Begin(request("/", "X: "+token+"\r\n", ""))
	d.Replace([]Replacement{{Secret: NewSecret(value), By: "another-value-of-it"}})
	if d.Changed() {
		t.Errorf("got %s", d.Request().Headers)
	}
}

func TestPackedBodies(t *testing.T) {
	for _, encoding := range []string{"gzip", "br", "zstd", "identity"} {
		packed, ok := pack([]byte(`{"id":"1234"}`), encoding)
		if !ok {
			t.Fatal(encoding)
		}
		var d Draft
		d.Begin(request("/", "Content-Encoding: "+encoding+"\r\n", string(packed)))
		d.JSON(jsonpath.Path{{Name: "id"}}, to("1234", "a longer one"))
		r := d.Request()
		got, err := new(coding.Unpacker).Unpack(nil, r.Body, []byte(encoding), 1<<20)
		if err != nil || string(got) != `{"id":"a longer one"}` || r.BodySize != uint64(len(r.Body)) {
			t.Errorf("%s: got %s, error %v", encoding, got, err)
		}
	}
	var d Draft
	d.Begin(request("/", "Content-Encoding: odd\r\n", `{"id":"1234"}`))
	if d.Body() != nil {
		t.Error("a body in an unknown encoding was looked into")
	}
}

func FuzzReplace(f *testing.F) {
	f.Add("/a?t=0123456789abcdef", "Cookie: a=0123456789abcdef", `{"a":"0123456789abcdef"}`, "0123456789abcdef", "new/+ value")
	f.Fuzz(func(t *testing.T, target, fields, body, old, fresh string) {
		if len(old) < MinSecret {
			return
		}
		var d Draft
		d.Begin(request(target, fields, body))
		secret := NewSecret(old)
		found := d.Has(secret)
		d.Replace([]Replacement{{Secret: secret, By: fresh}})
		d.JSON(jsonpath.Path{{Any: true}}, to(old, fresh))
		d.Segment(1, to(old, fresh))
		d.Parameter("t", to(old, fresh))
		if d.Changed() && !found && string(d.Request().URI) == target && string(d.Request().Headers) == fields {
			return // a value at its place, in yet another form
		}
	})
}
