// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// TestTurns holds that an order of answers which each session gets is learned, as
// far as outcomes can say it, and none where there is none.
func TestTurns(t *testing.T) {
	const pending, done = `200 {"state": "pending"}`, `200 {"state": "done"}`
	nearly := strings.Repeat("200|", 31) + "429"
	for _, test := range []struct {
		name   string
		turns  []string // status and body; several that one is drawn of have a bar between them
		header string
		want   string // conditions, statuses and bodies of the outcomes
	}{
		{"first ones fail", []string{"503", "503", "200", "200", "200", "200"}, "X-User", "2 by header X-User 503; 200"},
		{"a job is polled", []string{pending, pending, done, done}, "", `2 by uri 200; 200 {"state": "done"}`},
		{"three steps", []string{"202", "202", "409", "201 {}", "201 {}", "201 {}"}, "X-User", "2 by header X-User 202; 1 by header X-User 409; 201"},
		{"the last is the first again", []string{"200 a", "503", "200 a", "200 a"}, "X-User", "1 by header X-User 200; 1 by header X-User 503; 200"},
		{"a step comes again", []string{"401", "200 a", "401", "201 b", "201 b"}, "X-User", "1 by header X-User 401; 1 by header X-User 200 a; 1 by header X-User 401; 201"},
		{"then by chance", []string{"401", "200|503", "200|503", "200|503", "200|503", "200|503"}, "X-User", "1 by header X-User 401; 49% 200; 503"},
		{"then nearly always", []string{"503", "503", nearly, nearly, nearly, nearly}, "X-User", "2 by header X-User 503; 4% 429; 200"},
		{"by chance alone", []string{"200|503", "200|503", "200|503", "200|503"}, "X-User", "48% 200; 503"},
		{"by cookie", []string{"302", "200 a"}, "Cookie: sid", "1 by cookie sid 302; 200"},
	} {
		chance := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a test's
		var all []*recording.Request
		for user := range 400 {
			target, header := "/jobs", test.header+": u"+fmt.Sprint(user)+"\r\n"
			if test.header == "" {
				target, header = fmt.Sprintf("/jobs/%d", user), ""
			} else if strings.HasPrefix(test.header, "Cookie") {
				header = fmt.Sprintf("%s=u%d\r\n", test.header, user)
			}
			for turn, answers := range test.turns {
				choice := strings.Split(answers, "|")
				status, body, _ := strings.Cut(choice[chance.IntN(len(choice))], " ")
				code, _ := strconv.Atoi(status)
				all = append(all, exchange(time.Duration(user*10+turn)*time.Millisecond, "GET", target, header, code, time.Millisecond, "", body))
			}
		}
		m := learned(t, usual, all)
		var got []string
		counted := 0
		for i, o := range m.Routes[0].Stages[0].Outcomes {
			counted += o.N
			text := fmt.Sprint(o.Status)
			if o.First != "" {
				text = o.First + " " + text
			} else if i < len(m.Routes[0].Stages[0].Outcomes)-1 {
				text = fmt.Sprintf("%.0f%% %s", o.Percent, text)
			}
			if o.Body != nil && len(o.Body.Text) > 0 {
				text += " " + string(o.Body.Text)
			}
			got = append(got, text)
		}
		if counted != len(all) {
			t.Errorf("%s: outcomes are of %d requests, want %d", test.name, counted, len(all))
		}
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%s: outcomes are %q, want %q\n%s", test.name, strings.Join(got, "; "), test.want, m.Caddyfile("x", new(Files)))
		}
	}
}

// TestTurnsInStages holds that each stage has the order of its own time, and that
// none is where sessions go on that began before.
func TestTurnsInStages(t *testing.T) {
	var all []*recording.Request
	for i := range 1_800 { // ten users a second; from a minute on a third fails, from two on twice
		at := time.Duration(i) * 100 * time.Millisecond
		for turn := range 4 {
			status, took := 200, 5*time.Millisecond
			if at >= time.Minute {
				took = 50 * time.Millisecond
			}
			if turn < int(at/time.Minute) {
				status = 503
			}
			all = append(all, exchange(at+time.Duration(turn)*20*time.Millisecond, "GET", "/cold", fmt.Sprintf("X-User: u%d\r\n", i), status, took, "", ""))
		}
	}
	slices.SortStableFunc(all, func(a, b *recording.Request) int { return cmp.Compare(a.TimeNS, b.TimeNS) })
	m := learned(t, usual, all)
	var got []string
	for _, s := range m.Routes[0].Stages {
		for _, o := range s.Outcomes {
			got = append(got, fmt.Sprint(s.At, " ", o.First, " ", o.Status))
		}
	}
	if want := "0s  200; 1m0s 1 by header X-User 503; 1m0s  200; 2m0s 2 by header X-User 503; 2m0s  200"; strings.Join(got, "; ") != want {
		t.Errorf("stages are %s, want %s", strings.Join(got, "; "), want)
	}

	all = nil
	for turn := range 120 { // 200 users that stay: the first request of each fails, and much in the second minute, when 100 others come
		for user := range 300 {
			if user >= 200 && turn < 60+user%60 {
				continue
			}
			status := 200
			if turn == 0 || user >= 200 && turn == 60+user%60 || user < 200 && turn >= 60 && (user*7919+turn*104729)%10 < 3 {
				status = 503
			}
			at := time.Duration(turn)*time.Second + time.Duration(user)*time.Millisecond
			all = append(all, exchange(at, "GET", "/cold", fmt.Sprintf("X-User: u%d\r\n", user), status, 5*time.Millisecond, "", ""))
		}
	}
	m = learned(t, usual, all)
	stages := m.Routes[0].Stages
	later := func(s Stage) bool { return s.Outcomes[0].First != "" }
	if stages[0].Outcomes[0].First != "1 by header X-User" || stages[len(stages)-1].At < time.Minute || slices.ContainsFunc(stages[1:], later) {
		t.Errorf("learned\n%s", m.Caddyfile("x", new(Files)))
	}
}

// TestTurnsAmongIDs holds that sessions are found beside ever so many that are none.
func TestTurnsAmongIDs(t *testing.T) {
	var all []*recording.Request
	for i := range 40_000 {
		header := fmt.Sprintf("X-A: %d\r\nX-B: %[1]d\r\nX-C: %[1]d\r\n", i)
		status, path := 200, fmt.Sprintf("/%c", 'a'+i%19)
		if i >= 30_000 {
			header += fmt.Sprintf("X-User: u%d\r\n", i/40)
			path = "/a"
			if i%40 == 0 {
				status = 401
			}
		}
		all = append(all, exchange(time.Duration(i)*time.Millisecond, "GET", path, header, status, time.Millisecond, "", ""))
	}
	learner := learnerOf(t, all)
	if m := modelOf(t, usual, learner); learner.crowd == 0 || m.Routes[0].Stages[0].Outcomes[0].First != "1 by header X-User" {
		t.Errorf("%d sessions have room; learned\n%s", learner.sessions, m.Caddyfile("x", new(Files)))
	}
}
