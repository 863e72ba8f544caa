// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// gathering is a consumer that keeps a line for each exchange of a target.
type gathering struct {
	mu    sync.Mutex
	lines map[int][]string
	ids   map[int64][]string // by number of the request
}

func (g *gathering) consume(x *exchange) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lines == nil {
		g.lines, g.ids = make(map[int][]string), make(map[int64][]string)
	}
	recorded := "-"
	if x.record.Response != nil {
		recorded = string(x.record.Response.Body)
	}
	g.lines[x.target] = append(g.lines[x.target], fmt.Sprintf("%d %s %q %s: %d %q of %d, error %v, in order %v",
		x.number, x.record.URI, x.record.Body, recorded, x.status, x.response.Body, x.bodySize, x.err != nil,
		!x.started.IsZero() && !x.ended.Before(x.started)))
	g.ids[x.number] = append(g.ids[x.number], string(x.record.ID))
}

// slice is a source of records.
type slice []*recording.Request

func (s *slice) Next() (*recording.Request, error) {
	if len(*s) == 0 {
		return nil, io.EOF
	}
	r := (*s)[0]
	*s = (*s)[1:]
	return r, nil
}

func TestConsumersGetWhatBecomesOfEachRequest(t *testing.T) {
	var targets []send.Target
	for _, name := range []string{"old", "new"} {
		s := serveCounted(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s", name, r.URL.Path, body)
			if r.URL.Path == "/broken" {
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		})
		targets = append(targets, s.target)
	}
	records := slice{
		{ID: []byte("6"), Method: []byte("POST"), URI: []byte("/a"), Body: []byte("hello"), Response: &recording.Response{Status: 200, Body: []byte("before")}},
		{ID: []byte("7"), Method: []byte("G T"), URI: []byte("/bad"), Body: []byte("x")},
		{ID: []byte("8"), Method: []byte("GET"), URI: []byte("/broken")},
	}
	for _, recorded := range []bool{false, true} {
		g, source := new(gathering), slices.Clone(records)
		run := &delivery{records: &source, targets: targets, connections: 2}
		run.capturing = capturing{consumers: []consumer{g}, maxBody: 8, recorded: recorded}
		if _, err := deliver(t, run, t.Context()); err != nil {
			t.Fatal(err)
		}
		before := map[bool]string{false: "-", true: "before"}[recorded]
		for target, name := range []string{"old", "new"} {
			got := g.lines[target]
			slices.Sort(got)
			want := []string{
				fmt.Sprintf(`1 /a "hello" %s: 200 "%s /a h" of 12, error false, in order true`, before, name),
				`2 /bad "x" -: 0 "" of 0, error true, in order true`,
				fmt.Sprintf(`3 /broken "" -: 200 "%s /bro" of 12, error true, in order true`, name),
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		for number, ids := range g.ids {
			if len(ids) != 2 || ids[0] == "" || ids[0] != ids[1] {
				t.Errorf("request %d has the identifiers %q", number, ids)
			}
		}
	}
}

// One request that is sent over and over has a number of its own at each target.
func TestRequestsThatAreTheSameHaveNumbers(t *testing.T) {
	g := new(gathering)
	target := serveCounted(t, func(http.ResponseWriter, *http.Request) {}).target
	run := &delivery{records: always{}, same: true, requests: 20, targets: []send.Target{target, target}, connections: 3}
	run.capturing = capturing{consumers: []consumer{g}}
	if _, err := deliver(t, run, t.Context()); err != nil {
		t.Fatal(err)
	}
	for number := int64(1); number <= 20; number++ {
		if n := len(g.ids[number]); n != 2 {
			t.Errorf("number %d came %d times", number, n)
		}
	}
}
