// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const begin = int64(1_800_000_000_000_000_000)

// exchange makes a recorded exchange, so long after the begin.
func exchange(after time.Duration, method, target, requestHeader string, status int, took time.Duration, header, body string) *recording.Request {
	return &recording.Request{
		Method: []byte(method), URI: []byte(target), Headers: []byte("Host: shop.test\r\n" + requestHeader), TimeNS: begin + int64(after), Remote: []byte("10.0.0.1:1234"),
		Response: &recording.Response{Status: status, DurationNS: int64(took), Headers: []byte(header), Body: []byte(body), BodySize: uint64(len(body))},
	}
}

func learned(t *testing.T, o Options, all []*recording.Request) *Model {
	t.Helper()
	return modelOf(t, o, learnerOf(t, all))
}

func modelOf(t *testing.T, o Options, learner *Learner) *Model {
	t.Helper()
	m, err := learner.Model(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func learnerOf(t *testing.T, all []*recording.Request) *Learner {
	t.Helper()
	survey := NewSurvey()
	for _, r := range all {
		survey.Add(r)
	}
	plan, err := survey.Plan()
	if err != nil {
		t.Fatal(err)
	}
	learner := NewLearner(plan)
	for _, r := range all {
		learner.Add(r)
	}
	return learner
}

var usual = Options{Stages: true, Speed: 1}

// outage is a service with known outcomes and percentiles that fails from 60 s
// to 120 s, asked 200 times a second.
func outage() (all []*recording.Request) {
	chance := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's
	fine, _ := latency.Parse("p50=40ms,p90=90ms,p99=300ms")
	slow, _ := latency.Parse("lognormal(900ms,0.3)")
	for i := range 36_000 {
		at := time.Duration(i) * 5 * time.Millisecond
		switch down := at >= 60*time.Second && at < 120*time.Second; {
		case down && chance.Float64() < 0.7:
			all = append(all, exchange(at, "GET", fmt.Sprint("/items/", i%500), "", 503, slow.Sample(chance), "Retry-After: 1\r\nContent-Type: text/plain\r\n", "overloaded"))
		case !down && chance.Float64() < 0.03:
			all = append(all, exchange(at, "GET", fmt.Sprint("/items/", i%500), "", 429, 5*time.Millisecond, "", ""))
		default:
			all = append(all, exchange(at, "GET", fmt.Sprint("/items/", i%500), "", 200, fine.Sample(chance), "Content-Type: application/json\r\n", `{"item": 1}`))
		}
	}
	return all
}

// TestOutageIsLearned holds shares within three standard deviations, percentiles
// within a tenth, and the outage's begin and end within two seconds.
func TestOutageIsLearned(t *testing.T) {
	all := outage()
	learner := learnerOf(t, all)
	m := modelOf(t, usual, learner)
	if len(m.Routes) != 1 || m.Routes[0].Path != "/items/*" || len(m.Routes[0].Stages) != 3 {
		t.Fatalf("learned\n%s", m.Caddyfile("shop", new(Files)))
	}
	r := m.Routes[0]
	for i, want := range []time.Duration{0, time.Minute, 2 * time.Minute} {
		if off := r.Stages[i].At - want; off.Abs() > 2*time.Second {
			t.Errorf("stage %d begins at %s, want %s", i, r.Stages[i].At, want)
		}
	}
	for stage, want := range []map[int]float64{{429: 3, 200: 97}, {503: 70, 200: 30}, {429: 3, 200: 97}} {
		if len(r.Stages[stage].Outcomes) != 2 {
			t.Fatalf("stage %d is %+v", stage, r.Stages[stage])
		}
		for _, o := range r.Stages[stage].Outcomes {
			p := want[o.Status] / 100
			if off := math.Abs(o.Percent/100 - p); off > 3*math.Sqrt(p*(1-p)/12_000) {
				t.Errorf("stage %d has %v%% of %d, want %v%%", stage, o.Percent, o.Status, want[o.Status])
			}
			wanted := map[int]string{200: "p50=40ms,p90=90ms,p99=300ms", 503: "lognormal(900ms,0.3)", 429: "5ms"}[o.Status]
			got, err := latency.Parse(o.Latency)
			if err != nil {
				t.Fatal(err)
			}
			known, _ := latency.Parse(wanted)
			for _, percent := range []float64{50, 90, 99} {
				bits := uint64(percent/100*(1<<53)) << 11
				if a, b := got.Draw(bits), known.Draw(bits); math.Abs(float64(a-b)) > 0.1*float64(b) {
					t.Errorf("p%v of %d in stage %d is %s, want %s: %s", percent, o.Status, stage, a, b, o.Latency)
				}
			}
		}
	}
	text := m.Caddyfile("shop", new(Files))
	if d := learner.Distance(m, r, usual); d > 0.05 {
		t.Errorf("latencies are %v away", d)
	}
	if again := learned(t, usual, all).Caddyfile("shop", new(Files)); !bytes.Equal(again, text) {
		t.Errorf("learned twice, it is\n%s\nand\n%s", text, again)
	}
	if flat := modelOf(t, Options{Speed: 1}, learner); len(flat.Routes[0].Stages) != 1 {
		t.Errorf("without stages there are %d", len(flat.Routes[0].Stages))
	}
	if fast := modelOf(t, Options{Stages: true, Speed: 10}, learner); (fast.Routes[0].Stages[1].At - 6*time.Second).Abs() > time.Second {
		t.Errorf("ten times as fast, the outage begins at %s", fast.Routes[0].Stages[1].At)
	}
}

// TestRoutesAndKeys holds that routes are as a person would write them, and that
// of what a request has only that stays which foretells the answer.
func TestRoutesAndKeys(t *testing.T) {
	var all []*recording.Request
	for i := range 2_000 {
		at := time.Duration(i) * 50 * time.Millisecond
		currency := []string{"EUR", "JPY"}[i/2%2]
		all = append(all,
			exchange(at, "GET", fmt.Sprintf("/prices?currency=%s&ts=%d", currency, i*7919), "X-Trace: "+fmt.Sprint(i)+"\r\n", 200, time.Millisecond, "", `{"in": "`+currency+`"}`),
			exchange(at, "GET", fmt.Sprintf("/users/name%d/orders", i), "", 200, time.Millisecond, "", `[]`),
			exchange(at, "GET", "/users/search", "", 200, time.Millisecond, "", `[]`),
			exchange(at, "POST", fmt.Sprintf("/orders/%d", i), "", 201, time.Millisecond, "", `{}`))
	}
	m := learned(t, usual, all)
	var got []string
	for _, r := range m.Routes {
		got = append(got, r.title())
	}
	want := "GET /prices, query currency=EUR; GET /prices, query currency=JPY; GET /users/search; POST /orders/*; GET /users/*/orders"
	if strings.Join(got, "; ") != want {
		t.Errorf("routes are %s\nwant %s", strings.Join(got, "; "), want)
	}
}

// TestBoundedLearning holds that samples, answers, sessions and stages stay within
// their limits, and that what is left out is counted.
func TestBoundedLearning(t *testing.T) {
	var all []*recording.Request
	filler := strings.Repeat("v ", maxKeyValue/2)
	for i := range 15_000 {
		var header strings.Builder
		for j := range 30 {
			fmt.Fprintf(&header, "X-%d: %s\r\n", j, filler)
		}
		all = append(all, exchange(time.Duration(i)*time.Millisecond, "GET", fmt.Sprintf("/%c", 'a'+i%20), header.String()+fmt.Sprintf("X-Id: %d\r\n", i), 200+i%699, time.Millisecond, "", fmt.Sprint(i)))
	}
	survey := NewSurvey()
	for _, r := range all {
		survey.Add(r)
	}
	sampled := 0
	for _, g := range survey.shapes {
		for i := range g.samples {
			sampled += g.samples[i].size()
		}
	}
	if sampled != survey.sampled || sampled > maxSampled || sampled < maxSampled/4 {
		t.Errorf("samples are of %d bytes, counted are %d of at most %d", sampled, survey.sampled, maxSampled)
	}
	learner := learnerOf(t, all)
	if learner.sessions < 0 || learner.answers > 20*maxStatuses || learner.crowded == 0 {
		t.Errorf("%d sessions, %d answers, %d left out", learner.sessions, learner.answers, learner.crowded)
	}
	m := modelOf(t, usual, learner)
	for _, r := range m.Routes {
		if len(r.Stages[0].Outcomes) > maxOutcomes {
			t.Errorf("%d outcomes", len(r.Stages[0].Outcomes))
		}
	}
	if notes := strings.Join(m.Notes, "\n"); !strings.Contains(notes, fmt.Sprintf("%d exchanges were left out, since there are too many kinds of answers", learner.crowded)) ||
		!strings.Contains(notes, "since a stage has no room for so many outcomes") {
		t.Errorf("notes are %s", notes)
	}
}

// TestSecrets holds that what looks secret is not in any form, and is listed.
func TestSecrets(t *testing.T) {
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV"
	var all []*recording.Request
	for i := range 30 {
		all = append(all, exchange(time.Duration(i)*time.Second, "GET", "/mine", fmt.Sprintf("X-Api-Key: s3cr3t%d\r\n", i%2), 200, time.Millisecond, "", fmt.Sprint(i%2)))
		all = append(all, exchange(time.Duration(i)*time.Second, "POST", "/login", "Authorization: Bearer "+jwt+"\r\n", 200, time.Millisecond,
			"Set-Cookie: sid=s3cr3tc00kie; Path=/\r\nX-Kept: REDACTED\r\nContent-Type: application/json\r\nLocation: /in?page=7&session_id=s3cr3tsess#token=s3cr3tfragment\r\n",
			`{"access_token": "short-secret", "other": "`+jwt+`", "name": "ann", "old": "REDACTED", "next": "/in?a=b\u0026csrf=s3cr3tform&token=REDACTED"}`))
	}
	m := learned(t, usual, all)
	for form, text := range map[string][]byte{"caddyfile": m.Caddyfile("shop", new(Files)), "recipe": m.Recipe(new(Files)), "wiremock": m.WireMock(new(Files))} {
		for _, secret := range []string{"s3cr3t", "short-secret", "sflKx", "eyJ"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s has %s:\n%s", form, secret, text)
			}
		}
		for _, kept := range []string{"sid=xxxxxxxxxxxx; Path=/", "ann", "REDACTED", "/in?page=7&session_id=xxxxxxxxxx#token=xxxxxxxxxxxxxx", "csrf=xxxxxxxxxx&token=REDACTED"} {
			if !bytes.Contains(text, []byte(kept)) {
				t.Errorf("%s lacks %s:\n%s", form, kept, text)
			}
		}
	}
	if got := strings.Join(m.Replaced, "; "); !strings.Contains(got, "access_token") || !strings.Contains(got, "Set-Cookie") || !strings.Contains(got, "session_id in Location of POST /login") || !strings.Contains(got, "csrf in the body") || !strings.Contains(got, "looks like a token") {
		t.Errorf("listed is %s", got)
	}
}

// TestOddRecordings learns from little, from much, and from what is broken.
func TestOddRecordings(t *testing.T) {
	for want, all := range map[string][]*recording.Request{
		"there are no records":                 nil,
		"none of the 1 records has a response": {{Method: []byte("GET"), URI: []byte("/")}},
	} {
		survey := NewSurvey()
		for _, r := range all {
			survey.Add(r)
		}
		if _, err := survey.Plan(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	two := learned(t, usual, []*recording.Request{
		exchange(0, "GET", "/a", "", 200, time.Millisecond, "", "\x00\xff\xfe"),
		exchange(time.Second, "GET", "/b", "", 500, time.Second, "", ""),
	})
	if text := string(two.Caddyfile("shop", new(Files))); len(two.Routes) != 2 || !strings.Contains(text, "random_content 3b # the body cannot stand here: give -o") {
		t.Errorf("of two answers was learned\n%s", text)
	}
	var many []*recording.Request
	for i := range 100_000 {
		many = append(many, exchange(time.Duration(i)*time.Millisecond, "GET", fmt.Sprintf("/page-%c%x", 'g'+i%10, i), "", 200, time.Millisecond, "", "ok"))
	}
	survey := NewSurvey()
	for _, r := range many {
		survey.Add(r)
		if len(survey.shapes) > maxShapes {
			t.Fatalf("%d shapes are kept", len(survey.shapes))
		}
	}
	if plan, err := survey.Plan(); err != nil || len(plan.kinds) != 1 || plan.LeftOut != 0 {
		t.Errorf("of 100,000 paths %d routes were planned, error %v", len(plan.kinds), err)
	}
	half := exchange(0, "GET", "/a", "", 200, time.Millisecond, "", `{"a": `)
	half.Response.BodySize = 100
	if m := learned(t, usual, []*recording.Request{half}); !m.Routes[0].Body.isRandom() || len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "1 responses of GET /a with status 200 have no body that was recorded whole") {
		t.Errorf("of half a body %+v was learned, notes %s", m.Routes[0].Body, m.Notes)
	}
	half.Response.BodySize = 1 << 63
	if m := learned(t, usual, []*recording.Request{half}); !strings.Contains(string(m.Caddyfile("shop", new(Files))), "random_content 68719476736b") {
		t.Errorf("of a body of 2^63 bytes was learned\n%s", m.Caddyfile("shop", new(Files)))
	}
	broken := []*recording.Request{
		exchange(0, "GET", "/a", "", 200, time.Millisecond, "Content-Length: 100\r\n", "half of a body"),
		exchange(0, "GET", "/a", "", 0, time.Second, "", ""),
		exchange(0, "GET", "/a", "", 0, time.Second, "", ""),
	}
	broken[0].Response.Error = []byte("unexpected EOF")
	broken[1].Response.Error = []byte("read: connection reset by peer")
	broken[2].Response.Error = []byte("i/o timeout")
	text := string(learned(t, usual, broken).Caddyfile("shop", new(Files)))
	for _, word := range []string{"fault cut 14", "fault reset", "fault hang"} {
		if !strings.Contains(text, word) {
			t.Errorf("%s is missing in\n%s", word, text)
		}
	}
}

// TestCaddyfileOfHostileRecording has what a service may answer in no other place
// of the file than where it belongs, nor made into something else by Caddy.
func TestCaddyfileOfHostileRecording(t *testing.T) {
	m := learned(t, usual, []*recording.Request{
		exchange(0, "GET", "/a%0Aabort%0D", "", 200, time.Millisecond, "X-`A: `b\r\nX-Env: {$HOME}\r\nX-Host: {host}\r\nX-Here: <<END\r\nX-Both: `\\\r\n", "at {http.request.host}"),
		exchange(0, "G`ET", "/`b", "", 200, time.Millisecond, "", "{$HOME}"),
	})
	text := string(m.Caddyfile("shop", new(Files)))
	for _, word := range []string{"\nabort", "{$HOME}", "{host}", "{http", "header X-`A", "X-Both", "method G`ET", "path /`b", " <<END"} {
		if strings.Contains(text, word) {
			t.Errorf("%q is in", word)
		}
	}
	for _, word := range []string{"path_regexp `^/a\\x{a}abort\\x{d}$`", "header \"X-`A\" \"`b\"", "header X-Here `<<END`", "@get_b {", "method \"G`ET\"", "path_regexp `^/\\x{60}b$`"} {
		if !strings.Contains(text, word) {
			t.Errorf("%q is missing", word)
		}
	}
	if len(m.Notes) != 3 || t.Failed() {
		t.Errorf("notes %q of\n%s", m.Notes, text)
	}
}

// TestRoutesOfRecipes has a recipe's routes as they are compared, and leaves out
// what would have the whole list refused.
func TestRoutesOfRecipes(t *testing.T) {
	var all []*recording.Request
	paths := []string{"/caf%C3%A9/new%20one", "/what%3F", "/line%0Abreak", "/broken/%E9", "/star%2Astar", "/per%25cent"}
	for i := range 10 * len(paths) {
		path := paths[i%len(paths)]
		all = append(all, exchange(time.Duration(i)*time.Second, "GET", path, "", 200, time.Millisecond, "", path))
	}
	m := learned(t, usual, all)
	var routes []struct{ Route string }
	if err := json.Unmarshal(m.Recipe(new(Files)), &routes); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range routes {
		got = append(got, r.Route)
	}
	slices.Sort(got)
	if want := []string{"/café/new one", "/per%cent", "/star*", "/what?"}; !slices.Equal(got, want) {
		t.Errorf("routes %q, want %q", got, want)
	}
	if got := strings.Join(m.Notes, "\n"); strings.Count(got, "is left out") != 2 {
		t.Errorf("notes\n%s", got)
	}
}
