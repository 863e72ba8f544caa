// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// tape makes records, a second apart.
type tape struct {
	records []*recording.Request
	random  *rand.Rand
}

func newTape() *tape { return &tape{random: rand.New(rand.NewPCG(1, 2))} }

// exchange adds a record. Lines of headers end with \n; a body is JSON.
func (c *tape) exchange(method, uri, headers, body, responseHeaders, responseBody string) {
	lines := func(text string) []byte { return []byte(strings.ReplaceAll(text, "\n", "\r\n")) }
	c.records = append(c.records, &recording.Request{
		ID: fmt.Appendf(nil, "id-%d", len(c.records)), Method: []byte(method), URI: []byte(uri), Headers: lines(headers), Body: []byte(body),
		TimeNS: int64(len(c.records)+1) * int64(time.Second), Remote: []byte("10.0.0.1:99"),
		Response: &recording.Response{Status: 200, Headers: lines(responseHeaders), Body: []byte(responseBody), DurationNS: int64(time.Millisecond)},
	})
}

func (c *tape) uuid() string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", c.random.Uint32(), c.random.Uint64()>>16)
}

func (c *tape) find(keys ...SessionKey) *Result {
	f := NewFinder(keys)
	f.Listing, f.Ending = true, true
	for _, q := range c.records {
		f.Add(q)
	}
	return f.Result()
}

// found returns links as consumer ← producer.
func found(links []Link) []string {
	all := []string{}
	for _, l := range links {
		all = append(all, l.Consumer.String()+" ← "+l.Producer.String())
	}
	return all
}

func user(i int) string { return fmt.Sprintf("X-User: u%d\n", i) }

var byUser = SessionKey{headerKey, "X-User"}

// hold fails the test unless just these links, but for those of the key itself,
// are found in so many sessions.
func hold(t *testing.T, r *Result, want ...string) {
	t.Helper()
	if got := found(r.Links); !slices.Equal(got, want) {
		t.Errorf("found are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestIDsOfTheServerAreLinked(t *testing.T) {
	c := newTape()
	for i := range 40 {
		cart := 1000 + c.random.IntN(1000)
		c.exchange("POST", "/carts", user(i), "", "", fmt.Sprintf(`{"cart": %d, "status": "ok"}`, cart))
		c.exchange("POST", fmt.Sprintf("/carts/%d/items", cart), user(i), fmt.Sprintf(`{"qty": %d, "status": "ok"}`, 1+i%3), "", fmt.Sprintf(`{"cart": %d, "rows": %d}`, cart, 1+i%2))
		c.exchange("GET", fmt.Sprintf("/carts?id=%d", cart), user(i), "", "", "")
	}
	r := c.find(byUser)
	hold(t, r, "GET /carts query id ← POST /carts json $.cart", "POST /carts/*/items path 2 ← POST /carts json $.cart")
	if l := r.Links[0]; l.Sessions != 40 || l.Support != 1 || l.Chance > 0.02 || l.Example.Producer != "id-0" || l.Example.Consumer != "id-2" || r.Sessions != 40 {
		t.Errorf("the first is %+v of %d sessions", l, r.Sessions)
	}
}

// TestWhatMustNotBeTaken has values in answers that come again in requests and
// are no links.
func TestWhatMustNotBeTaken(t *testing.T) {
	key := "0123456789abcdef0123456789abcdef" // constant
	for name, exchange := range map[string]func(c *tape, i int){
		"constant key": func(c *tape, i int) {
			c.exchange("GET", "/config", user(i), "", "", `{"key": "`+key+`"}`)
			c.exchange("GET", "/a", user(i)+"X-Api-Key: "+key+"\n", "", "", "")
		},
		"version": func(c *tape, i int) {
			c.exchange("GET", "/config", user(i), "", "X-Version: 1.4.2\n", "")
			c.exchange("GET", "/a?v=1.4.2", user(i), "", "", "")
		},
		"page number": func(c *tape, i int) {
			for page := range 1 + c.random.IntN(4) {
				c.exchange("GET", fmt.Sprintf("/list?page=%d", page+1), user(i), "", "", fmt.Sprintf(`{"page": %d, "next": %d}`, page+1, page+2))
			}
		},
		"words": func(c *tape, i int) {
			c.exchange("GET", "/config", user(i), "", "", `{"currency": "USD", "status": "ok"}`)
			c.exchange("POST", "/a", user(i), `{"currency": "USD", "status": "ok"}`, "", "")
		},
		"small integers": func(c *tape, i int) {
			c.exchange("GET", "/config", user(i), "", "", fmt.Sprintf(`{"stock": %d, "points": %d}`, c.random.IntN(5), c.random.IntN(3)))
			c.exchange("POST", fmt.Sprintf("/a/%d", c.random.IntN(5)), user(i), fmt.Sprintf(`{"quantity": %d}`, c.random.IntN(3)), "", "")
		},
		"echo": func(c *tape, i int) {
			id := c.uuid()
			c.exchange("GET", "/a", user(i)+"X-Client: "+id+"\n", "", "X-Client: "+id+"\n", `{"client": "`+id+`"}`)
			c.exchange("GET", "/b?client="+id, user(i), "", "", "")
		},
		"echo of a concurrent request": func(c *tape, i int) {
			id := c.uuid()
			c.exchange("GET", "/a", user(i), "", "", `{"client": "`+id+`"}`)
			c.records[len(c.records)-1].Response.DurationNS = int64(time.Minute)
			c.exchange("GET", "/b?client="+id, user(i), "", "", "")
		},
		"catalog": func(c *tape, i int) {
			c.exchange("GET", "/catalog", user(i), "", "", `{"items": [{"id": 11111}, {"id": 22222}, {"id": 33333}, {"id": 44444}]}`)
			c.exchange("GET", fmt.Sprintf("/items/%d", 11111*(1+c.random.IntN(4))), user(i), "", "", "")
		},
		"other sessions": func(c *tape, i int) {
			id := c.uuid()
			c.exchange("GET", "/a", user(i), "", "", `{"id": "`+id+`"}`)
			c.exchange("GET", "/b?id="+id, user(i+1000), "", "", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTape()
			for i := range 50 {
				exchange(c, i)
			}
			hold(t, c.find(byUser))
		})
	}
}

func TestTheBestProducersAreTaken(t *testing.T) {
	c := newTape()
	for i := range 60 {
		token, id := c.uuid(), fmt.Sprint(10000+c.random.IntN(80000))
		c.exchange("GET", "/start", user(i), "", "", `{"token": "`+token+`"}`)
		if i%3 == 0 { // another way to the same
			c.exchange("POST", "/restore", user(i), "", "", `{"id": `+id+`, "list": [`+id+`, 1]}`)
		} else {
			c.exchange("POST", "/new", user(i), "", "", `{"id": `+id+`, "list": [`+id+`, 1]}`)
		}
		c.exchange("GET", "/form", user(i), "", "", `{"token": "`+token+`"}`)
		c.exchange("POST", "/send?id="+id, user(i)+"X-Token: "+token+"\n", "", "", "")
	}
	hold(t, c.find(byUser),
		"POST /send query id ← POST /new json $.id", "POST /send query id ← POST /restore json $.id", "POST /send header X-Token ← GET /form json $.token")
}

func TestFewSessions(t *testing.T) {
	for _, sessions := range []int{1, 3, 9, 10} {
		c := newTape()
		for i := range sessions {
			id, number := c.uuid(), 1000+c.random.IntN(9000)
			c.exchange("POST", "/orders", user(i), "", "Location: /orders/"+id+"\n", fmt.Sprintf(`{"number": %d, "currency": "USD"}`, number))
			c.exchange("GET", "/orders/"+id, user(i), "", "", "")
			c.exchange("GET", fmt.Sprintf("/status?number=%d&currency=USD", number), user(i), "", "", "")
		}
		r := c.find(byUser)
		strong, weak := "GET /orders/* path 2 ← POST /orders redirect path 2", "GET /status query number ← POST /orders json $.number"
		if sessions < MinSessions {
			hold(t, r, strong)
			if got := found(r.Few); len(got) != 1 || got[0] != weak {
				t.Errorf("%d sessions: too few are for %q, want %s", sessions, got, weak)
			}
		} else {
			hold(t, r, strong, weak)
			if len(r.Few) > 0 {
				t.Errorf("too few are for %q", found(r.Few))
			}
		}
	}
}

func TestWhatComesFromElsewhere(t *testing.T) {
	c := newTape()
	for i := range 20 {
		c.exchange("GET", "/a?seen="+c.uuid()+"&v=1", user(i), "", "", `{"id": 1}`)
	}
	r := c.find(byUser)
	var got []string
	for _, e := range r.Elsewhere {
		got = append(got, e.Consumer.String())
	}
	if want := []string{"GET /a query seen", "GET /a header X-User"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestKeysAreChosen(t *testing.T) {
	c := newTape()
	for i := range 30 {
		sid, token := c.uuid(), "t"+strings.ReplaceAll(c.uuid(), "-", "A9b")
		shared := fmt.Sprintf("Cookie: lang=%s; nonce=%s; sid=%s\n", []string{"en", "de"}[i%2], c.uuid(), sid)
		c.exchange("POST", "/login", "Cookie: lang=en\n", "", "Set-Cookie: sid="+sid+"; Path=/\n", "")
		c.exchange("POST", "/token", shared, "", "", `{"token": "`+token+`"}`)
		shared = strings.Replace(shared, "nonce=", "nonce=x", 1)
		c.exchange("GET", "/a", shared+"X-Same: 1\n", "", "", `{"next": "`+sid[:8]+`"}`)
		c.exchange("GET", "/api", "Authorization: Bearer "+token+"\n", "", "", "")
		c.exchange("GET", "/api/b?next="+sid[:8], "Authorization: Bearer "+token+"\n", "", "", "")
	}
	r := c.find()
	if got := fmt.Sprint(r.Session); got != "[cookie sid bearer]" || r.Sessions != 30 || r.Outside != 0 {
		t.Errorf("the keys are %s: %d sessions, %d records outside", got, r.Sessions, r.Outside)
	}
	hold(t, r, "GET /a cookie sid ← POST /login cookie sid", "GET /api bearer ← POST /token json $.token", "GET /api/b query next ← GET /a json $.next",
		"GET /api/b bearer ← POST /token json $.token", "POST /token cookie sid ← POST /login cookie sid")
}

func TestSessionsOfRecords(t *testing.T) {
	c := newTape()
	token := strings.ReplaceAll(c.uuid(), "-", "")
	c.exchange("GET", "/", "", "", "", "")
	c.exchange("POST", "/login", "", "", "Set-Cookie: sid=A\n", "")
	c.exchange("GET", "/a", "Cookie: sid=A\n", "", "Set-Cookie: sid=B\n", "") // another key for the same
	c.exchange("GET", "/a", "Cookie: sid=B\n", "", "", "")
	c.exchange("GET", "/a", "Cookie: sid=C\n", "", "", "")
	c.exchange("POST", "/token", "", "", "", `{"token": "`+token+`"}`)
	c.exchange("GET", "/api", "Authorization: Bearer "+token+"\n", "", "", "")
	keys := []SessionKey{{cookieKey, "sid"}, {bearerKey, ""}}
	var ids []string
	s := NewSessions(keys, nil)
	for _, q := range c.records {
		session, ok := s.Of(q)
		if !ok {
			session = ""
		}
		ids = append(ids, session)
	}
	if ids[0] != "" || ids[1] == "" || ids[2] != ids[1] || ids[3] != ids[1] || ids[4] == ids[1] || ids[4] == "" || ids[5] == "" || ids[6] != ids[5] {
		t.Errorf("the sessions are %q", ids)
	}
	r := c.find(keys...)
	again := NewSessions(r.Session, r.File.Sessions)
	for i, q := range c.records {
		q.Response = nil // by the file alone
		if session, ok := again.Of(q); ok != (ids[i] != "") || ok && session != ids[i] {
			t.Errorf("record %d is of %q by the file, want %q", i, session, ids[i])
		}
	}
	for _, ip := range []string{"10.0.0.1:5", "10.0.0.1:6"} {
		c.records[0].Remote = []byte(ip)
		byIP := NewSessions([]SessionKey{{kind: clientIP}}, nil)
		if session, _ := byIP.Of(c.records[0]); session != "" && session != firstOf(t, byIP, c.records[1]) {
			t.Errorf("%s is not the session of its address", ip)
		}
	}
}

func firstOf(t *testing.T, s *Sessions, q *recording.Request) string {
	t.Helper()
	session, ok := s.Of(q)
	if !ok {
		t.Error("there is no session")
	}
	return session
}

// TestFindingIsBounded has more sessions at once than values are kept of, all of
// which go on: some are looked into as wholes, so that what they have in common is
// found.
func TestFindingIsBounded(t *testing.T) {
	f := NewFinder([]SessionKey{byUser})
	f.live.most = 20_000
	c := newTape()
	const users = 2000
	ids := make([]string, users)
	for round := range 4 {
		for i := range users {
			if round == 0 {
				ids[i] = fmt.Sprint(10_000 + c.random.IntN(90_000))
				c.exchange("POST", "/carts", user(i), "", "", fmt.Sprintf(`{"cart": %s}`, ids[i]))
				continue
			}
			c.exchange("GET", fmt.Sprintf("/carts/%s/%d", ids[i], round), user(i), "", "", fmt.Sprintf(`{"list": [%d, %d]}`, c.random.Uint32(), c.random.Uint32()))
		}
	}
	most := 0
	for _, q := range c.records {
		f.Add(q)
		most = max(most, f.live.entries)
	}
	entries := 0
	for _, s := range f.live.sessions {
		entries += s.entries()
	}
	r := f.Result()
	if entries != f.live.entries || most > f.live.most+100 {
		t.Errorf("%d values are kept, counted are %d, at most there were %d", entries, f.live.entries, most)
	}
	if r.Sessions != users || r.Left.Sessions < users/2 {
		t.Errorf("%d sessions, %d are not looked into", r.Sessions, r.Left.Sessions)
	}
	hold(t, r, "GET /carts/*/* path 2 ← POST /carts json $.cart")
}

// TestSessionsThatHaveEndedAreNotMissed has many sessions, one after the other.
func TestSessionsThatHaveEndedAreNotMissed(t *testing.T) {
	f := NewFinder([]SessionKey{byUser})
	f.live.most = 2000
	c := newTape()
	for i := range 500 {
		id := c.uuid()
		c.exchange("POST", "/carts", user(i), "", "", fmt.Sprintf(`{"cart": "%s"}`, id))
		c.exchange("GET", "/carts/"+id, user(i), "", "", "")
	}
	for _, q := range c.records {
		f.Add(q)
	}
	r := f.Result()
	if r.Left != (Left{}) || r.Sessions != 500 || len(f.live.sessions) == 500 {
		t.Errorf("left out is %+v of %d sessions; %d are kept", r.Left, r.Sessions, len(f.live.sessions))
	}
	if hold(t, r, "GET /carts/* path 2 ← POST /carts json $.cart"); len(r.Links) == 1 && r.Links[0].Sessions != 500 {
		t.Errorf("it is of %d sessions", r.Links[0].Sessions)
	}
}

func TestEndsOfSessions(t *testing.T) {
	c := newTape()
	for _, u := range []int{1, 2, 1, 3, 1, 2} {
		c.exchange("GET", "/", user(u), "", "", "")
	}
	c.exchange("GET", "/", "", "", "", "")
	r := c.find(byUser)
	var last []int64
	for n := range int64(10) {
		if r.Ends.Last(n) {
			last = append(last, n)
		}
	}
	if want := []int64{4, 5, 6}; !slices.Equal(last, want) {
		t.Errorf("the last ones are %v, want %v", last, want)
	}
	var none *Ends
	if none.Last(1) {
		t.Error("it is known without having been looked at")
	}
	// of more sessions than are remembered each has ended once
	e := newEnds()
	const sessions = 3*maxOpen + 7
	for i := range int64(sessions) {
		e.meet(SessionID(i+1), i+1)
	}
	e.meet(sessions, sessions+1)
	e.finish()
	for n := int64(1); n <= sessions+1; n++ {
		if e.Last(n) != (n != sessions) {
			t.Fatalf("record %d: %v", n, e.Last(n))
		}
	}
}

// TestEndpointsAreBounded has paths with ids that are not recognized.
func TestEndpointsAreBounded(t *testing.T) {
	c := newTape()
	for i := range maxEndpoints + 10 {
		c.exchange("GET", fmt.Sprintf("/a/x%d", i), user(1), "", "", "")
	}
	if left := c.find(byUser).Left.Endpoints; left != 10 {
		t.Errorf("%d endpoints are left out, want 10", left)
	}
}
