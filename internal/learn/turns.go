// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const (
	maxTurn       = 12      // answers of a session that are looked at
	maxSessions   = 5_000   // of a route, by one kind of key
	allSessions   = 100_000 // of all routes, by all kinds of keys
	fewSessions   = 100     // of which it is not known yet whether their keys come twice
	maxTurnKinds  = 10
	leastSessions = 5
	sureTurns     = 0.95 // of the sessions have their answers in this order
	leastOrder    = 10.0 // evidence of an order, as the logarithm of a ratio of likelihoods
	costOfTurn    = 2.0  // evidence that each further answer of the order has to add
)

// turns are the answers that sessions got, in their order, by the key that may
// tell sessions apart in the words of `first … by`.
type turns map[string]*sessions

// sessions are those of one kind of key.
type sessions struct {
	byKey map[uint64]*session
	n     int  // requests of those
	idle  bool // hardly any key came twice: nothing is kept
}

type session struct {
	n     int
	last  int64 // when its last request was
	turns []turn
}

// turn is what one request of a session was answered.
type turn struct {
	at int64
	reply
}

// reply is by what answers of a route are told apart: the answer's number, and the
// number of its body, or -1 where bodies are not told apart.
type reply struct{ answer, body int32 }

var keySeed = maphash.MakeSeed()

// add takes a request's answer in. Room is how many more sessions may be kept.
func (t *turns) add(r *recording.Request, answered reply, room *int) {
	if *t == nil {
		*t = make(turns)
	}
	put := func(by, key string) {
		s := (*t)[by]
		if s == nil {
			if len(*t) >= maxTurnKinds {
				return
			}
			s = &sessions{byKey: make(map[uint64]*session)}
			(*t)[by] = s
		}
		s.add(maphash.String(keySeed, key), turn{r.TimeNS, answered}, room)
	}
	put("uri", string(r.URI))
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
		case !httpguts.ValidHeaderFieldName(lower):
		case lower == "authorization", strings.HasPrefix(lower, "x-") && !passing[lower]:
			put("header "+http.CanonicalHeaderKey(string(name)), string(value))
		}
	}
}

func (s *sessions) add(key uint64, t turn, room *int) {
	known := s.byKey[key]
	if known == nil {
		if s.idle || *room == 0 {
			return
		}
		if len(s.byKey) >= maxSessions {
			*room += s.rest()
			return
		}
		*room--
		known = new(session)
		s.byKey[key] = known
	}
	s.n++
	known.n++
	known.last = t.at
	if len(known.turns) < maxTurn {
		known.turns = append(known.turns, t)
	}
}

// rest drops sessions by a key that hardly ever comes twice, as an id of each
// request, and returns how many they were.
func (s *sessions) rest() (freed int) {
	freed = len(s.byKey)
	if freed < fewSessions || s.n >= freed+freed/20 {
		return 0
	}
	s.byKey, s.n, s.idle = nil, 0, true
	return freed
}

// order is what the first requests of every session are answered.
type order struct {
	by    string
	first []reply       // in this order
	n     []int         // of each, how many sessions got it in its turn
	taken map[reply]int // of the requests that are the first ones, what they got
}

// orderOf returns the order in which sessions got their answers between two
// moments, as a stage of the simulator sees them, which knows nothing of requests
// before its begin; nil if there is none. Several kinds of keys may explain what
// happened; the one that explains most is taken. All is how many requests there
// were.
func (t turns) orderOf(from, to int64, all int, tell func(reply) reply) *order {
	var best *order
	most := leastOrder
	for _, by := range slices.Sorted(maps.Keys(t)) {
		of, lost := t[by].between(from, to, tell)
		first, gain := firstOf(of, lost)
		if len(first) == 0 || gain <= most {
			continue
		}
		most = gain
		best = &order{by: by, first: first, n: make([]int, len(first)), taken: make(map[reply]int)}
		known := 0
		for _, s := range t[by].byKey {
			if s.last >= from && (len(s.turns) == 0 || s.turns[0].at < to) {
				known += s.n
			}
		}
		scale := max(1, float64(all)/float64(max(known, 1))) // for the sessions that there was no room for
		for _, answers := range of {
			for i, k := range answers[:min(len(first), len(answers))] {
				best.taken[k]++
				if k == first[i] {
					best.n[i]++
				}
			}
		}
		for i, n := range best.n {
			best.n[i] = int(math.Round(float64(n) * scale))
		}
		for k, n := range best.taken {
			best.taken[k] = int(math.Round(float64(n) * scale))
		}
	}
	return best
}

// between returns what sessions got between two moments, and of how many it is
// not known.
func (s *sessions) between(from, to int64, tell func(reply) reply) (of [][]reply, lost int) {
	for _, one := range s.byKey {
		var answers []reply
		for _, t := range one.turns {
			if t.at >= from && t.at < to {
				answers = append(answers, tell(t.reply))
			}
		}
		switch {
		case len(answers) > 0:
			of = append(of, answers)
		case one.n > len(one.turns) && one.last >= from && one.turns[0].at < to:
			lost++
		}
	}
	return of, lost
}

// firstOf returns the answers that sessions get at first, and how much better
// they explain all answers than shares alone. Those of a session that is lost
// are taken for others.
func firstOf(of [][]reply, lost int) (first []reply, gain float64) {
	agreed := agreement(of, lost)
	rest := make(map[reply]int)
	for _, answers := range of {
		for _, k := range answers {
			rest[k]++
		}
	}
	alone := likelihoodOf(rest)
	explained, long := 0.0, 0
	for i := range agreed {
		here := make(map[reply]int)
		for _, answers := range of {
			if len(answers) > i {
				here[answers[i]]++
				rest[answers[i]]--
			}
		}
		explained += likelihoodOf(here) - costOfTurn
		if better := explained + likelihoodOf(rest) - alone; better > gain+1e-9 {
			gain, long = better, i+1
		}
	}
	return agreed[:long], gain
}

// agreement returns the answers in whose order nearly all sessions agree.
func agreement(of [][]reply, lost int) (agreed []reply) {
	against, in := lost, of
	for i := range maxTurn {
		n := make(map[reply]int)
		alive := 0
		for _, answers := range in {
			if len(answers) > i {
				n[answers[i]]++
				alive++
			}
		}
		if alive < leastSessions {
			break
		}
		ranked := slices.SortedFunc(maps.Keys(n), func(a, b reply) int { return cmp.Or(cmp.Compare(n[b], n[a]), compareReplies(a, b)) })
		against += alive - n[ranked[0]]
		if float64(against) > (1-sureTurns)*float64(len(of)+lost) {
			break
		}
		agreed = append(agreed, ranked[0])
		var still [][]reply
		for _, answers := range in {
			if len(answers) > i && answers[i] == ranked[0] {
				still = append(still, answers)
			}
		}
		in = still
	}
	return agreed
}

// likelihoodOf returns how well shares explain counts, as a logarithm.
func likelihoodOf(counts map[reply]int) (sum float64) {
	all := 0
	for _, n := range counts {
		all += n
	}
	for _, k := range slices.SortedFunc(maps.Keys(counts), compareReplies) { // always in the same order, for the same sum
		if n := counts[k]; n > 0 {
			sum += float64(n) * math.Log(float64(n)/float64(all))
		}
	}
	return sum
}

func compareReplies(a, b reply) int {
	return cmp.Or(cmp.Compare(a.answer, b.answer), cmp.Compare(a.body, b.body))
}

// run is as many in a row of an order as are the same.
type run struct {
	reply
	first string // as the simulator's `first` has it
	n     int    // requests that got it
}

// runs returns the outcomes of an order.
func (o *order) runs() (all []run) {
	for i := 0; i < len(o.first); {
		one, long := run{reply: o.first[i]}, 0
		for i < len(o.first) && o.first[i] == one.reply {
			one.n += o.n[i]
			long++
			i++
		}
		one.first = fmt.Sprintf("%d by %s", long, o.by)
		all = append(all, one)
	}
	return all
}
