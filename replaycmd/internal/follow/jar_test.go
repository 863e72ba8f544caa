// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

func TestCookiesGoAsABrowserSendsThem(t *testing.T) {
	shop := origin{host: "www.shop.example", path: "/a/b", secure: true}
	now := time.Unix(2e9, 0)
	for _, tc := range []struct {
		set  string // with the answer to /a/b of www.shop.example
		to   origin
		want string
	}{
		{"c=1", shop, "1"},
		{"c=1", origin{host: "www.shop.example", path: "/a"}, "1"},
		{"c=1", origin{host: "www.shop.example", path: "/ab"}, ""}, // it is for the folder
		{"c=1; Path=/", origin{host: "www.shop.example", path: "/ab"}, "1"},
		{"c=1; Path=/a/b", origin{host: "www.shop.example", path: "/a/b/c"}, "1"},
		{"c=1; Path=/a/b", origin{host: "www.shop.example", path: "/a/bc"}, ""},
		{"c=1; Path=/a/", origin{host: "www.shop.example", path: "/a/x"}, "1"},
		{"c=1; Path=a", origin{host: "www.shop.example", path: "/a/x"}, "1"}, // no path
		{"c=1; Path=/", origin{host: "pay.shop.example", path: "/"}, ""},
		{"c=1; Path=/; Domain=shop.example", origin{host: "pay.shop.example", path: "/"}, "1"},
		{"c=1; Path=/; domain=.Shop.Example", origin{host: "pay.shop.example", path: "/"}, "1"},
		{"c=1; Path=/; Domain=shop.example", origin{host: "othershop.example", path: "/"}, ""},
		{"c=1; Domain=pay.shop.example", origin{host: "pay.shop.example", path: "/a"}, ""},
		{"c=1; Domain=other.example", shop, ""},
		{"c=1; Domain=example", shop, ""}, // anybody may have a domain below
		{"c=1; Domain=co.uk", origin{host: "shop.co.uk", path: "/a"}, ""},
		{"c=1; Secure", shop, "1"},
		{"c=1; Secure", origin{host: "www.shop.example", path: "/a"}, ""},
		{"c=1; Max-Age=10", shop, "1"},
		{"c=1; Max-Age=0", shop, ""},
		{"c=1; Max-Age=-99999999999999999999", shop, ""},
		{"c=1; Max-Age=99999999999999999999", shop, "1"},
		{"c=1; Max-Age=soon; Expires=Thu, 01 Jan 1970 00:00:00 GMT", shop, ""},
		{"c=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT", shop, "1"},
		{"c=1; Expires=Wed, 18-May-2033 03:33:21 GMT", shop, "1"},
		{"c=1; Expires=Wed, 18-May-2033 03:33:20 GMT", shop, ""},
		{"c=" + strings.Repeat("x", maxCookie), shop, ""},
		{"c=1; Domain=127.0.0.1", shop, ""},
	} {
		j := new(jar)
		j.take([]byte("Set-Cookie: "+tc.set+"\r\n"), shop, now, nil)
		sent, known := j.of("c", tc.to, now)
		got := ""
		if len(sent) > 0 {
			got = sent[0].value
		}
		if got != tc.want || !known {
			t.Errorf("%s to %s%s: got %q, want %q", tc.set, tc.to.host, tc.to.path, got, tc.want)
		}
	}
}

func TestCookiesOfHostsAloneOrSentElsewhere(t *testing.T) {
	now := time.Now()
	for _, tc := range []struct {
		o    origin
		set  string
		want bool
	}{
		{origin{host: "localhost", path: "/"}, "c=1; Domain=localhost", true},
		{origin{host: "10.0.0.1", path: "/"}, "c=1; Domain=10.0.0.1", true},
		{origin{host: "shop.example.com", sent: "candidate.test.com", path: "/"}, "c=1; Domain=test.com", true},
		{origin{host: "shop.example.com", sent: "candidate.test.com", path: "/"}, "c=1; Domain=example.com", true},
		{origin{host: "shop.example.com", sent: "localhost", path: "/"}, "c=1; Domain=test.com", false},
	} {
		j := new(jar)
		refused := j.take([]byte("Set-Cookie: "+tc.set+"\r\n"), tc.o, now, nil)
		if sent, _ := j.of("c", tc.o, now); (len(sent) == 1) != tc.want || (len(refused) == 1) == tc.want {
			t.Errorf("%s of %s and %s: %d are sent, %d refused", tc.set, tc.o.host, tc.o.sent, len(sent), len(refused))
		}
	}
}

// Cookies of one name for several paths keep their places.
func TestCookiesOfOneName(t *testing.T) {
	c := conversationsOf(t, Options{})
	set := "Set-Cookie: sid=%1; Path=/\r\nSet-Cookie: sid=%2; Path=/admin\r\nSet-Cookie: sid=%3; Path=/other\r\n"
	values := func(prefix string) string {
		return strings.NewReplacer("%1", prefix+"1", "%2", prefix+"2", "%3", prefix+"3").Replace(set)
	}
	login := c.Next(exchange(0, "me", "POST", "/login", "", "", values("old"), "."), 0)
	r := exchange(5, "me", "GET", "/admin/users", "Cookie: sid=old2; sid=old1\r\n", "", "", "")
	step := c.Next(r, 0)
	answer(login, 0, 200, values("new"), "")
	if got := string(changed(step, r, 0).Headers); !strings.HasSuffix(got, "Cookie: sid=new2; sid=new1\r\n") {
		t.Errorf("got %s", got)
	}
}

// A cookie for a path with an id goes with the id of the target.
func TestCookiesForPathsThatChange(t *testing.T) {
	c := conversationsOf(t, Options{}, "GET /carts/*: path 2 <- POST /carts: json $.cart")
	cart := c.Next(exchange(0, "me", "POST", "/carts", "", "", "", `{"cart":1001}`), 0)
	first := exchange(5, "me", "GET", "/carts/1001", "", "", "Set-Cookie: seen=a; Path=/carts/1001\r\n", ".")
	seen := c.Next(first, 0)
	again := exchange(9, "me", "GET", "/carts/1001", "Cookie: seen=a\r\n", "", "", "")
	step := c.Next(again, 0)
	answer(cart, 0, 200, "", `{"cart":7001}`)
	changed(seen, first, 0)
	answer(seen, 0, 200, "Set-Cookie: seen=b; Path=/carts/7001\r\n", "")
	if got := changed(step, again, 0); string(got.URI) != "/carts/7001" || !strings.HasSuffix(string(got.Headers), "Cookie: seen=b\r\n") {
		t.Errorf("got %s\n%s", got.URI, got.Headers)
	}
}

// What was followed of redirects counts: cookies and values of all answers.
func TestRedirectsThatAreFollowed(t *testing.T) {
	c := conversationsOf(t, Options{}, "GET /orders/*: path 2 <- POST /orders: redirect path 2")
	order := c.Next(exchange(0, "me", "POST", "/orders", "Cookie: own=1\r\n", "", "Location: /orders/1001\r\nSet-Cookie: sid=old; Path=/\r\n", ""), 0)
	r := exchange(5, "me", "GET", "/orders/1001", "Cookie: own=1; sid=old\r\n", "", "", "")
	step := c.Next(r, 0)
	hop := &recording.Response{Status: 303, Headers: []byte("Location: /orders/7001\r\nSet-Cookie: sid=new; Path=/\r\nSet-Cookie: deep=1; Path=/orders/7001\r\n")}
	from, _ := url.Parse("http://a/orders")
	to, _ := url.Parse("http://a/orders/7001")
	if got := order.Redirected(0, new(conversation.Reader), hop, from, to, "own=1; sid=stale"); got != "own=1; deep=1; sid=new" {
		t.Errorf("the cookies are %s", got)
	}
	elsewhere, _ := url.Parse("https://b/")
	if got := order.Redirected(0, new(conversation.Reader), hop, from, elsewhere, ""); got != "" {
		t.Errorf("another host gets %s", got)
	}
	answer(order, 0, 200, "Set-Cookie: more=1\r\n", "the order")
	if verdict, _ := step.Check(0, nil); verdict != Send {
		t.Fatalf("it is %v", verdict)
	}
	if got := changed(step, r, 0); string(got.URI) != "/orders/7001" || !strings.HasSuffix(string(got.Headers), "Cookie: own=1; sid=new\r\n") {
		t.Errorf("got %s\n%s", got.URI, got.Headers)
	}
}

// A redirect to TLS goes with cookies that are for it alone, and one away from it
// without them.
func TestSecureCookiesBehindARedirect(t *testing.T) {
	const hop = "Set-Cookie: sid=new; Secure; Path=/\r\n"
	for _, tc := range []struct{ scheme, from, to, want string }{
		{"http", "http://a/login", "https://a/home", "sid=new"},
		{"http", "http://a/login", "https://b/home", ""},
		{"http", "http://a/login", "http://a/home", ""},
		{"https", "http://a/login", "http://a/home", "sid=new"}, // behind what ends TLS
		{"https", "https://a/login", "http://a/home", ""},
	} {
		c := conversationsOf(t, Options{})
		r := exchange(0, "me", "POST", "/login", "", "", "", ".")
		r.Scheme = []byte(tc.scheme)
		from, _ := url.Parse(tc.from)
		to, _ := url.Parse(tc.to)
		if got := c.Next(r, 0).Redirected(0, new(conversation.Reader), &recording.Response{Status: 303, Headers: []byte(hop)}, from, to, ""); got != tc.want {
			t.Errorf("from %s to %s: the cookies are %q, want %q", tc.from, tc.to, got, tc.want)
		}
	}
}

// What is refused is counted, with the reason of the first.
func TestCookiesThatAreRefused(t *testing.T) {
	for set, want := range map[string]string{
		"c=1; Domain=other.example":           "cookie c of a is for other.example",
		"c=" + strings.Repeat("x", maxCookie): "cookie c of a has 8193 bytes, of which 8192 are taken",
	} {
		c := conversationsOf(t, Options{})
		answer(c.Next(exchange(0, "me", "POST", "/login", "", "", "", "."), 0), 0, 200, "Set-Cookie: "+set+"\r\n", "")
		if n, why := c.Refused(0); n != 1 || why != want {
			t.Errorf("%.40s: %d are refused: %s", set, n, why)
		}
	}
}

// A client that sends what is not for plain HTTP has spoken HTTPS.
func TestSecureCookiesBehindAProxy(t *testing.T) {
	c := conversationsOf(t, Options{})
	plain := func(r *recording.Request) *recording.Request { r.Scheme = []byte("http"); return r }
	login := c.Next(plain(exchange(0, "me", "POST", "/login", "", "", "Set-Cookie: sid=old; Secure; Path=/\r\n", ".")), 0)
	answer(login, 0, 200, "Set-Cookie: sid=new; Secure; Path=/\r\n", "")
	for range 2 {
		r := plain(exchange(5, "me", "GET", "/", "Cookie: sid=old\r\n", "", "", ""))
		if got := string(changed(c.Next(r, 0), r, 0).Headers); !strings.HasSuffix(got, "Cookie: sid=new\r\n") {
			t.Errorf("got %s", got)
		}
	}
}

func TestOrigins(t *testing.T) {
	for _, tc := range []struct {
		r    recording.Request
		want origin
	}{
		{recording.Request{Host: []byte("Shop.Example:8443"), URI: []byte("/a/b?c=/d"), Scheme: []byte("https")}, origin{"shop.example", "", "/a/b", true}},
		{recording.Request{Headers: []byte("Host: [::1]:80\r\n"), URI: []byte("http://x/y"), Scheme: []byte("http")}, origin{"[::1]", "", "/y", false}},
		{recording.Request{URI: []byte("*")}, origin{"", "", "/", true}},
		{recording.Request{Headers: []byte("X-Forwarded-Proto: https\r\n"), URI: []byte("http://x"), Scheme: []byte("http")}, origin{"", "", "/", true}},
		{recording.Request{Headers: []byte("forwarded: for=1.2.3.4;proto=HTTPS\r\n"), URI: []byte("/"), Scheme: []byte("http")}, origin{"", "", "/", true}},
	} {
		if got := originOf(&tc.r); got != tc.want {
			t.Errorf("%s %s: got %+v, want %+v", tc.r.Host, tc.r.URI, got, tc.want)
		}
	}
}
