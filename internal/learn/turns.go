// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const (
	maxTurn       = 8     // answers of a session that are looked at
	maxSessions   = 5_000 // of a route, by one kind of key
	maxTurnKinds  = 10
	leastSessions = 5
	sureTurns     = 0.95 // of the sessions have their answers in this order
)

// turns are the answers that sessions got, in their order, by the key that may
// tell sessions apart in the words of `first … by`.
type turns map[string]map[string][]int

func (t *turns) add(r *recording.Request, status int) {
	if *t == nil {
		*t = make(turns)
	}
	put := func(by, key string) {
		sessions := (*t)[by]
		if sessions == nil {
			if len(*t) >= maxTurnKinds {
				return
			}
			sessions = make(map[string][]int)
			(*t)[by] = sessions
		}
		before, known := sessions[key]
		if len(before) < maxTurn && (known || len(sessions) < maxSessions) {
			sessions[key] = append(before, status)
		}
	}
	if host, _, err := net.SplitHostPort(string(r.Remote)); err == nil {
		put("client_ip", host)
	}
	for name, value := range recording.EachField(r.Headers) {
		switch lower := strings.ToLower(string(name)); {
		case lower == "cookie":
			cookies, _ := http.ParseCookie(string(value))
			for _, cookie := range cookies {
				put("cookie "+cookie.Name, cookie.Value)
			}
		case lower == "authorization", strings.HasPrefix(lower, "x-") && !passing[lower]:
			put("header "+http.CanonicalHeaderKey(string(name)), string(value))
		}
	}
}

// first returns what the first requests of every session are answered, how many
// they are, and by what sessions are told apart; 0 if answers have no order.
func (t turns) first() (status, n int, by string) {
	for _, by := range slices.Sorted(maps.Keys(t)) {
		if status, n := firstOf(t[by]); n > 0 {
			return status, n, by
		}
	}
	return 0, 0, ""
}

func firstOf(sessions map[string][]int) (status, n int) {
	votes := make(map[[2]int]int)
	judged := 0
	for _, answers := range sessions {
		if len(answers) < 2 {
			continue
		}
		judged++
		run := 1
		for run < len(answers) && answers[run] == answers[0] {
			run++
		}
		if run == len(answers) || slices.Contains(answers[run:], answers[0]) {
			continue
		}
		votes[[2]int{answers[0], run}]++
	}
	if judged < leastSessions {
		return 0, 0
	}
	for vote, many := range votes {
		if float64(many) >= sureTurns*float64(judged) {
			return vote[0], vote[1]
		}
	}
	return 0, 0
}

func firstText(n int, by string) string { return fmt.Sprintf("%d by %s", n, by) }
