// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/edit"
)

const began = int64(1_800_000_000_000_000_000)

// conversationsOf returns conversations with links written as `consumer endpoint
// and place <- producer endpoint and place`, of sessions named by a field.
func conversationsOf(t *testing.T, o Options, links ...string) *Conversations {
	t.Helper()
	slot := func(text string) conversation.Slot {
		endpoint, place, _ := strings.Cut(text, ": ")
		at, err := conversation.ParsePlace(place)
		if err != nil {
			t.Fatal(err)
		}
		return conversation.Slot{Endpoint: endpoint, Place: at}
	}
	for _, link := range links {
		consumer, producer, _ := strings.Cut(link, " <- ")
		o.Links = append(o.Links, conversation.Link{Consumer: slot(consumer), Producer: slot(producer)})
	}
	key, err := conversation.ParseSessionKey("header User")
	if err != nil {
		t.Fatal(err)
	}
	o.Targets = max(o.Targets, 1)
	o.Sessions = func() Sessions { return conversation.NewSessions([]conversation.SessionKey{key}, nil) }
	return New(o)
}

// exchange is a request of a user, so many milliseconds after the first, and what
// it was answered within one.
func exchange(at int, user, method, target, fields, body, answerFields, answer string) *recording.Request {
	r := &recording.Request{
		Method: []byte(method), URI: []byte(target), TimeNS: began + int64(at)*1e6, Body: []byte(body),
		Headers: []byte("Host: a\r\nUser: " + user + "\r\n" + fields),
	}
	if answer+answerFields != "" {
		r.Response = &recording.Response{Status: 200, Headers: []byte(answerFields), Body: []byte(answer), DurationNS: 1e6}
	}
	return r
}

func answer(s *Step, target, status int, fields, body string) {
	s.Answered(target, new(conversation.Reader), &recording.Response{Status: status, Headers: []byte(fields), Body: []byte(body)}, time.Now())
}

func changed(s *Step, r *recording.Request, target int) *recording.Request {
	var d edit.Draft
	d.Begin(r)
	s.Change(&d, target)
	return d.Request()
}

func TestARequestWaitsForItsOwnAnswerAtEachTarget(t *testing.T) {
	c := conversationsOf(t, Options{Targets: 2}, "GET /carts/*: path 2 <- POST /carts: json $.cart")
	one := c.Next(exchange(0, "me", "POST", "/carts", "", "", "", `{"cart":1001}`), 0)
	two := c.Next(exchange(5, "me", "POST", "/carts", "", "", "", `{"cart":1002}`), 0)
	other := c.Next(exchange(6, "you", "POST", "/carts", "", "", "", `{"cart":1001}`), 0)
	get := exchange(9, "me", "GET", "/carts/1001", "", "", "", "")
	step := c.Next(get, 0)
	called := 0
	if verdict, _ := step.Check(0, func() { called++ }); verdict != Wait {
		t.Fatalf("it is %v", verdict)
	}
	answer(two, 0, 200, "", `{"cart":7002}`)
	answer(other, 0, 200, "", `{"cart":7003}`)
	answer(one, 1, 200, "", `{"cart":8001}`)
	if called != 0 {
		t.Error("it was called for another's answer")
	}
	answer(one, 0, 200, "", `{"cart":7001}`)
	if verdict, _ := step.Check(0, nil); called != 1 || verdict != Send {
		t.Errorf("it was called %d times and is %v", called, verdict)
	}
	for target, want := range []string{"/carts/7001", "/carts/8001"} {
		if got := changed(step, get, target); string(got.URI) != want {
			t.Errorf("target %d gets %s, want %s", target, got.URI, want)
		}
	}
	if n := c.Counts(0)[0]; n.Followed != 1 || n.Elsewhere != 0 {
		t.Errorf("counted %+v", n)
	}
}

func TestFailuresPassOn(t *testing.T) {
	links := []string{"GET /carts/*: path 2 <- POST /carts: json $.cart", "POST /pay: form csrf <- GET /carts/*: html input csrf"}
	html := "Content-Type: text/html\r\n"
	for name, tc := range map[string]struct {
		fail         func(*Step)
		failed, gone int64
	}{
		"no answer":       {func(s *Step) { s.Failed(0, time.Now()) }, 2, 0},
		"an error":        {func(s *Step) { answer(s, 0, 503, "", "") }, 2, 0},
		"another content": {func(s *Step) { answer(s, 0, 200, "", `{"id":7001}`) }, 1, 1},
	} {
		c := conversationsOf(t, Options{}, links...)
		first := c.Next(exchange(0, "me", "POST", "/carts", "", "", "", `{"cart":1001}`), 0)
		second := c.Next(exchange(5, "me", "GET", "/carts/1001", "", "", html, `<input name="csrf" value="abc">`), 0)
		third := c.Next(exchange(9, "me", "POST", "/pay", "Content-Type: application/x-www-form-urlencoded\r\n", "csrf=abc", "", ""), 0)
		called := false
		if verdict, _ := third.Check(0, func() { called = true }); verdict != Wait {
			t.Errorf("%s: the third is %v", name, verdict)
		}
		tc.fail(first)
		if verdict, _ := second.Check(0, nil); verdict != Unlinked || !called {
			t.Errorf("%s: the second is %v", name, verdict)
		}
		if verdict, _ := third.Check(0, nil); verdict != Unlinked {
			t.Errorf("%s: the third is %v", name, verdict)
		}
		var failed, gone int64
		for _, n := range c.Counts(0) {
			failed += n.Failed
			gone += n.Gone
		}
		if failed != tc.failed || gone != tc.gone {
			t.Errorf("%s: %d failed and %d are gone", name, failed, gone)
		}
	}
}

func TestCookies(t *testing.T) {
	c := conversationsOf(t, Options{})
	login := c.Next(exchange(0, "me", "POST", "/login", "", "", "Set-Cookie: sid=old; Path=/\r\nSet-Cookie: theme=light\r\nSet-Cookie: cart=1\r\nSet-Cookie: x=1\r\n", "."), 0)
	r := exchange(5, "me", "GET", "/", "Cookie: sid=old; theme=dark; own=1; cart=1; x=1\r\n", "", "", "")
	step := c.Next(r, 0)
	answer(login, 0, 200, "Set-Cookie: sid=new; HttpOnly\r\nSet-Cookie: theme=light\r\nSet-Cookie: more=1\r\nSet-Cookie: cart=; Max-Age=0\r\n"+
		"set-cookie: x=2; expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=100\r\n", "")
	if got, want := changed(step, r, 0), "Cookie: sid=new; theme=dark; own=1; x=2\r\n"; !strings.HasSuffix(string(got.Headers), want) {
		t.Errorf("got %s, want %s", got.Headers, want)
	}
}

func TestLongValuesAreFollowedWhereverTheyAre(t *testing.T) {
	c := conversationsOf(t, Options{}, "GET /me: bearer <- POST /login: json $.token")
	login := c.Next(exchange(0, "me", "POST", "/login", "", "", "", `{"token":"old-token-0123456789"}`), 0)
	r := exchange(5, "me", "POST", "/other?t=old-token-0123456789", "", `{"t":"old-token-0123456789"}`, "", "")
	step := c.Next(r, 0)
	if verdict, _ := step.Check(0, func() {}); verdict != Wait {
		t.Errorf("it is %v", verdict)
	}
	answer(login, 0, 200, "", `{"token":"a new and longer token"}`)
	if got := changed(step, r, 0); string(got.URI) != "/other?t=a+new+and+longer+token" || string(got.Body) != `{"t":"a new and longer token"}` {
		t.Errorf("got %s %s", got.URI, got.Body)
	}
}

// A long value that is written in a way of its own is set at its place.
func TestLongValuesInOtherForms(t *testing.T) {
	const link = "POST /me: %s <- POST /login: json $.token"
	for place, tc := range map[string]struct{ target, fields, body, wantTarget, wantBody string }{
		"json $.t": {"/me", "Content-Type: application/json\r\n", `{"t":"Zk8vQ00w Jose Garc\u00eda M\u00e1rquez"}`, "/me", `{"t":"a new and longer tokén"}`},
		"query t":  {"/me?t=Zk8vQ00w%20Jose+Garc%c3%ADa%20M%C3%A1rquez", "", "", "/me?t=a+new+and+longer+tok%C3%A9n", ""},
		"form t":   {"/me", "Content-Type: application/x-www-form-urlencoded\r\n", "t=Zk8vQ00w%20Jose+Garc%c3%ADa%20M%C3%A1rquez", "/me", "t=a+new+and+longer+tok%C3%A9n"},
	} {
		c := conversationsOf(t, Options{}, fmt.Sprintf(link, place))
		login := c.Next(exchange(0, "me", "POST", "/login", "", "", "", `{"token":"Zk8vQ00w Jose García Márquez"}`), 0)
		r := exchange(5, "me", "POST", tc.target, tc.fields, tc.body, "", "")
		step := c.Next(r, 0)
		if verdict, _ := step.Check(0, func() {}); verdict != Wait {
			t.Errorf("%s: it is %v", place, verdict)
		}
		answer(login, 0, 200, "", `{"token":"a new and longer tokén"}`)
		if got := changed(step, r, 0); string(got.URI) != tc.wantTarget || string(got.Body) != tc.wantBody {
			t.Errorf("%s: got %s %s", place, got.URI, got.Body)
		}
	}
}

// Requests about one thing stay in their order, and others don't wait.
func TestTheOrderOfRequestsAboutOneThing(t *testing.T) {
	c := conversationsOf(t, Options{}, "POST /carts/*: path 2 <- POST /carts: json $.cart", "GET /carts/*: path 2 <- POST /carts: json $.cart")
	cart := c.Next(exchange(0, "me", "POST", "/carts", "", "", "", `{"cart":1001}`), 0)
	add := c.Next(exchange(5, "me", "POST", "/carts/1001", "", "", "", "{}"), 0)
	beside := c.Next(exchange(5, "me", "GET", "/carts/1001", "", "", "", "{}"), 0)
	after := c.Next(exchange(9, "me", "GET", "/carts/1001", "", "", "", "{}"), 0)
	other := c.Next(exchange(9, "me", "GET", "/", "", "", "", "{}"), 0)
	answer(cart, 0, 200, "", `{"cart":7001}`)
	want := map[*Step]Verdict{add: Send, beside: Send, after: Wait, other: Send}
	for step, verdict := range want {
		if got, _ := step.Check(0, func() {}); got != verdict {
			t.Errorf("recorded at %d: it is %v, want %v", step.recorded-began, got, verdict)
		}
	}
	answer(beside, 0, 200, "", "{}")
	add.Failed(0, time.Now())
	if got, _ := after.Check(0, nil); got != Send {
		t.Errorf("behind a failure it is %v", got)
	}
}

func TestPausesCountFromTheAnswer(t *testing.T) {
	c := conversationsOf(t, Options{Pauses: 2}, "GET /me: bearer <- POST /login: json $.token")
	login := c.Next(exchange(0, "me", "POST", "/login", "", "", "", `{"token":"t"}`), 0)
	step := c.Next(exchange(2001, "me", "GET", "/me", "Authorization: Bearer t\r\n", "", "", ""), 0)
	answer(login, 0, 200, "", `{"token":"u"}`)
	if _, due := step.Check(0, nil); time.Until(due) < 800*time.Millisecond || time.Until(due) > time.Second {
		t.Errorf("it is due in %v", time.Until(due))
	}
}

// What is kept of a session goes with its last record; what is on its way has what
// it needs.
func TestSessionsThatHaveEndedGo(t *testing.T) {
	n := 0
	c := conversationsOf(t, Options{Last: func() bool { n++; return n%2 == 0 }}, "GET /carts/*: path 2 <- POST /carts: json $.cart")
	for i := range 100 {
		user := fmt.Sprint(i)
		first := c.Next(exchange(10*i, user, "POST", "/carts", "", "", "", `{"cart":1001}`), 0)
		if len(c.table.byKey) != 1 || c.table.bytes == 0 {
			t.Fatalf("%d sessions of %d bytes are kept", len(c.table.byKey), c.table.bytes)
		}
		get := exchange(10*i+5, user, "GET", "/carts/1001", "", "", "", "")
		step := c.Next(get, 0)
		if len(c.table.byKey) != 0 || c.table.bytes != 0 || c.table.recent.Len() != 0 {
			t.Fatalf("%d sessions of %d bytes are kept behind the last record", len(c.table.byKey), c.table.bytes)
		}
		answer(first, 0, 200, "", `{"cart":7001}`)
		if got := changed(step, get, 0); string(got.URI) != "/carts/7001" {
			t.Fatalf("got %s", got.URI)
		}
	}
	if c.Returned() != 0 {
		t.Errorf("%d have returned", c.Returned())
	}
	for range 2 { // it had not ended, and then has
		c.Next(exchange(2000, "50", "GET", "/", "", "", "", ""), 0)
	}
	c.Next(exchange(2000, "50", "GET", "/", "", "", "", ""), 1) // another one
	if c.Returned() != 1 {
		t.Errorf("%d have returned, want 1", c.Returned())
	}
}

// Sessions take so many bytes at most, and of the values of a target as many as
// the recording had.
func TestBytesAreBounded(t *testing.T) {
	c := conversationsOf(t, Options{}, "GET /carts/*: path 2 <- POST /carts: json $.carts[*]")
	c.table.mostBytes = 100_000
	var last *Step
	for i := range 100 {
		last = c.Next(exchange(i, fmt.Sprint(i), "POST", "/carts", "", "", "", fmt.Sprintf(`{"carts":["%0100d", "%0100d"]}`, i, i+1)), 0)
	}
	if kept := len(c.table.byKey); c.table.bytes > 100_000 || kept < 5 || kept > 90 {
		t.Errorf("%d sessions of %d bytes are kept", kept, c.table.bytes)
	}
	answer(last, 0, 200, "", `{"carts":[1, 2, 3, 4, 5]}`)
	if values := last.at[0].values; len(values) != 1 || len(values[0]) != 2 {
		t.Errorf("kept of the target are %q", values)
	}
}

// Cookies count among the bytes of sessions, those of the recording and those of
// targets, but for the last answer of each.
func TestBytesOfCookiesAreBounded(t *testing.T) {
	const most, sessions, size = 1_000_000, 200, 5000
	for _, from := range []string{"the recording", "the target"} {
		c := conversationsOf(t, Options{}, "GET /carts/*: path 2 <- POST /carts: json $.cart")
		c.table.mostBytes = most
		for i := range 2 * sessions { // each session has two records
			cookies := fmt.Sprintf("Set-Cookie: a=1; Path=/%0*d\r\nSet-Cookie: b=%0*d\r\n", size, i, size, i)
			recorded := ""
			if from == "the recording" {
				recorded = cookies
			}
			step := c.Next(exchange(i, fmt.Sprint(i/2), "GET", "/", "", "", recorded, ""), 0)
			if recorded == "" {
				answer(step, 0, 200, cookies, "")
			}
		}
		kept := 0
		for _, e := range c.table.byKey {
			s := e.Value.(*entry).session
			for _, j := range append(s.jars, s.recorded) {
				for _, cookie := range j.cookies {
					kept += len(cookie.name) + len(cookie.value) + len(cookie.path)
				}
			}
		}
		if kept > 3*most/2 || kept < most/2 || len(c.table.byKey) == sessions {
			t.Errorf("%s: cookies of %d bytes are kept of %d sessions", from, kept, len(c.table.byKey))
		}
	}
}

// Without recorded answers the latest request counts.
func TestRecordingsWithoutAnswers(t *testing.T) {
	c := conversationsOf(t, Options{}, "GET /carts/*: path 2 <- POST /carts: json $.cart")
	first := c.Next(exchange(0, "me", "POST", "/carts", "", "", "", ""), 0)
	r := exchange(5, "me", "GET", "/carts/1001", "", "", "", "")
	step := c.Next(r, 0)
	answer(first, 0, 201, "", `{"cart":7001}`)
	if got := changed(step, r, 0); string(got.URI) != "/carts/7001" {
		t.Errorf("got %s", got.URI)
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	c := conversationsOf(t, Options{}, "GET /carts/*: path 2 <- POST /carts: json $.cart")
	for i := range maxSessions + 10 {
		c.Next(exchange(i, fmt.Sprint(i), "POST", "/carts", "", "", "", `{"cart":1}`), 0)
	}
	if c.Returned() != 0 || len(c.table.byKey) != maxSessions {
		t.Errorf("%d have returned, %d are kept", c.Returned(), len(c.table.byKey))
	}
	for i := range 10 {
		c.Next(exchange(i, fmt.Sprint(i), "GET", "/", "", "", "", ""), 0)
	}
	if c.Returned() != 10 {
		t.Errorf("%d have returned, want 10", c.Returned())
	}
	for i := range maxKnown + 10 {
		c.Next(exchange(i, "me", "POST", "/carts", fmt.Sprintf("Cookie: c%d=1\r\n", i), "", fmt.Sprintf("Set-Cookie: c%d=1\r\n", i), fmt.Sprintf(`{"cart":"%020d"}`, i)), 0)
	}
	for _, e := range c.table.byKey {
		if s := e.Value.(*entry).session; len(s.known) > maxKnown || len(s.secrets) > maxSecrets || len(s.recorded.cookies) > maxCookies {
			t.Errorf("a session has %d values, %d long ones and %d cookies", len(s.known), len(s.secrets), len(s.recorded.cookies))
		}
	}
	// another pass has other sessions
	c.Next(exchange(0, "me", "GET", "/", "", "", "", ""), 1)
	if len(c.table.byKey) != 1 {
		t.Errorf("%d sessions are left of the first pass", len(c.table.byKey))
	}
}
