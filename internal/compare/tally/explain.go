// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
)

const (
	maxNames    = 64   // of properties
	maxValues   = 16   // of one; more vary too much to explain anything
	maxProperty = 60   // bytes of name and value
	allSampled  = 1000 // requests whose properties are all looked at; then one of sampledOf
	sampledOf   = 16
	firstSeen   = 8  // differing requests whose properties can become the one that explains
	leastEach   = 10 // differing, and equal, requests
	leastHalf   = 3  // of them in each half
	holds       = 0.95
)

// properties counts, in the requests that were looked at, the values of their
// properties, in each half of the requests.
type properties struct {
	Requests [2]int64             `json:"requests"`
	Values   map[string]*[2]int64 `json:"values"` // by name=value
	Names    map[string]int       `json:"names"`  // how many values; more than maxValues: not counted
}

func newProperties() properties {
	return properties{Values: make(map[string]*[2]int64), Names: make(map[string]int)}
}

// where counts the properties of the requests in which a field differs.
type where struct {
	Alone   [2]int64         `json:"alone"`   // new differs, old′ doesn't
	Sampled [2]int64         `json:"sampled"` // of those looked at, new differs
	Values  map[string]*cell `json:"values,omitempty"`
}

type cell struct {
	Alone   [2]int64 `json:"alone"`
	Sampled [2]int64 `json:"sampled"`
}

// properties counts the properties of a request, if any field can learn from
// them.
func (t *Tally) properties(e *endpoints, p *Pair, key uint64, marks []mark) {
	half := int(key >> 17 & 1)
	sampled := e.Requests <= allSampled || e.Requests%sampledOf == 0
	wanted := sampled
	for i := range marks {
		w := &marks[i].field.Where
		if marks[i].diff == nil {
			continue
		}
		if sampled {
			w.Sampled[half]++
		}
		if !marks[i].noise && w.Alone[0]+w.Alone[1] < allSampled {
			w.Alone[half]++
			marks[i].alone, wanted = true, true
		}
	}
	if !wanted {
		return
	}
	if sampled {
		e.Properties.Requests[half]++
	}
	t.eachProperty(p, func(name, text []byte) {
		if sampled && !e.Properties.count(name, text, half) {
			return
		}
		for i := range marks {
			if m := &marks[i]; m.alone || sampled && m.diff != nil {
				m.field.Where.count(text, half, m.alone, sampled)
			}
		}
	})
}

// count counts a property, and reports whether it has few enough values.
func (c *properties) count(name, text []byte, half int) bool {
	if n := c.Values[string(text)]; n != nil {
		n[half]++
		return true
	}
	known, ok := c.Names[string(name)]
	switch {
	case !ok && len(c.Names) >= maxNames, known > maxValues:
		return false
	case known == maxValues:
		c.Names[string(name)]++
		for other := range c.Values {
			if strings.HasPrefix(other, string(name)+"=") {
				delete(c.Values, other)
			}
		}
		return false
	}
	c.Names[string(name)]++
	n := &[2]int64{}
	n[half]++
	c.Values[string(text)] = n
	return true
}

func (w *where) count(text []byte, half int, alone, sampled bool) {
	c := w.Values[string(text)]
	if c == nil {
		if w.Alone[0]+w.Alone[1] > firstSeen {
			return
		}
		if w.Values == nil {
			w.Values = make(map[string]*cell)
		}
		c = &cell{}
		w.Values[string(text)] = c
	}
	if alone {
		c.Alone[half]++
	}
	if sampled {
		c.Sampled[half]++
	}
}

// eachProperty calls found with the name of each property of a request and
// with name=value.
func (t *Tally) eachProperty(p *Pair, found func(name, text []byte)) {
	var buffer [2 * maxProperty]byte
	call := func(what string, name, value []byte) {
		if len(name) == 0 || len(name)+len(value) > maxProperty {
			return
		}
		text := append(append(buffer[:0], what...), name...)
		end := len(text)
		text = append(append(text, '='), value...)
		found(text[:end], text)
	}
	if _, query, ok := bytes.Cut(p.Target, []byte{'?'}); ok {
		for i := 0; len(query) > 0 && i < maxNames; i++ {
			var parameter []byte
			parameter, query, _ = bytes.Cut(query, []byte{'&'})
			name, value, _ := bytes.Cut(parameter, []byte{'='})
			call("", name, value)
		}
	}
	header := p.Header
	for i := 0; len(header) > 0 && i < maxNames; i++ {
		var line []byte
		line, header, _ = bytes.Cut(header, []byte{'\n'})
		name, value, _ := bytes.Cut(line, []byte{':'})
		if !slices.ContainsFunc(secrets, func(s string) bool { return strings.EqualFold(s, string(name)) }) {
			call("header ", name, bytes.TrimSpace(value))
		}
	}
	if len(p.Body) > 0 && p.Body[0] == '{' {
		if t.reader == nil {
			t.reader = compare.NewComparer(nil)
		}
		t.reader.Members(p.Body, maxNames, func(path, value []byte) { call("", path, value) })
	}
	call("", []byte("status"), strconv.AppendInt(nil, int64(p.Old.Status), 10))
}

// secrets are the header fields whose values are not shown.
var secrets = []string{"Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "X-Csrf-Token"}

// explain returns the one property of requests that separates those in which
// the field differs from the others, "" if there is none. It is found on one
// half of the requests and must hold on the other.
func (e *endpoints) explain(f *field) string {
	w, all := &f.Where, &e.Properties
	var equal [2]int64
	for h := range equal {
		equal[h] = all.Requests[h] - w.Sampled[h]
	}
	if w.Alone[0]+w.Alone[1] < leastEach || equal[0]+equal[1] < leastEach {
		return ""
	}
	best, score := "", 0.0
	for text, c := range w.Values {
		a, b := all.separates(w, c, text, equal, 0)
		if a < holds || b < holds || a+b < score {
			continue
		}
		if a+b > score || len(text) < len(best) || len(text) == len(best) && text < best {
			best, score = text, a+b
		}
	}
	if best == "" {
		return ""
	}
	if a, b := all.separates(w, w.Values[best], best, equal, 1); a < holds || b < holds {
		return ""
	}
	return best
}

// separates returns, in one half of the requests, the share of those differing
// that have a property, and of those equal that don't.
func (c *properties) separates(w *where, n *cell, text string, equal [2]int64, half int) (differing, equals float64) {
	total := c.Values[text]
	if total == nil || w.Alone[half] < leastHalf || equal[half] < leastHalf {
		return 0, 0
	}
	with := max(0, total[half]-n.Sampled[half])
	return float64(n.Alone[half]) / float64(w.Alone[half]), 1 - float64(with)/float64(equal[half])
}
