// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const cart = `[
	{"name":"empty","scenarioName":"cart","requiredScenarioState":"Started","request":{"method":"GET","url":"/cart"}},
	{"name":"add","scenarioName":"cart","requiredScenarioState":"Started","newScenarioState":"one","request":{"method":"POST","url":"/cart"}},
	{"name":"one","scenarioName":"cart","requiredScenarioState":"one","request":{"method":"GET","url":"/cart"}},
	{"name":"pay","scenarioName":"cart","newScenarioState":"paid","request":{"method":"PUT","url":"/cart"}},
	{"name":"other","request":{"url":"/other"}}]`

func TestScenariosGoOn(t *testing.T) {
	set := parse(t, cart)
	ask := func(method, want string) {
		t.Helper()
		if got := matchName(t, set, exchange{Method: method, Target: "/cart"}); got != want {
			t.Errorf("%s: got '%s', want '%s'", method, got, want)
		}
	}
	ask("GET", "empty")
	ask("POST", "add")
	ask("POST", "")
	if text := set.Closest(newRequest(exchange{Method: "POST", Target: "/cart"})); !strings.HasSuffix(text, "The closest is 'add' in stubs.json:\n  scenario 'cart': expected the state Started, it is in one\n") {
		t.Errorf("got %s", text)
	}
	ask("GET", "one")
	ask("PUT", "pay")
	ask("GET", "")
	ask("PUT", "pay")
	list := set.Scenarios()
	if len(list) != 1 || list[0].State != "paid" || fmt.Sprint(list[0].Possible) != "[Started one paid]" || len(list[0].Mappings) != 4 {
		t.Errorf("got %+v", list)
	}
	if err := set.SetState("cart", "one"); err != nil {
		t.Error(err)
	}
	ask("GET", "one")
	if set.SetState("cart", "nowhere") == nil || set.SetState("none", "") == nil {
		t.Error("a state or a scenario that is none was accepted")
	}
	set.scenarios.Reset()
	ask("GET", "empty")
	if m, err := set.Find(newRequest(exchange{Method: "POST", Target: "/cart"})); err != nil || m.Name() != "add" {
		t.Errorf("got %v, %v", m, err)
	}
	ask("GET", "empty")
}

// TestScenariosOutliveTheirSet holds that states stay when mappings come and go, and
// that a scenario which no mapping has begins again.
func TestScenariosOutliveTheirSet(t *testing.T) {
	set := parse(t, cart)
	matchName(t, set, exchange{Method: "POST", Target: "/cart"})
	next := NewSetIn(set.scenarios, set.Mappings()[1:])
	if got := next.Scenarios()[0].State; got != "one" {
		t.Errorf("got %s", got)
	}
	NewSetIn(set.scenarios, nil)
	if got := NewSetIn(set.scenarios, set.Mappings()).Scenarios()[0].State; got != Started {
		t.Errorf("got %s", got)
	}
}

// TestOneTransitionEach has many clients ask at once for a scenario that goes round
// in steps: each step is answered once, and a request never falls between two.
func TestOneTransitionEach(t *testing.T) {
	const steps, clients, each = 10, 8, 10_000
	var list string
	for i := range steps {
		from, to := fmt.Sprint(i), fmt.Sprint((i+1)%steps)
		if i == 0 {
			from = Started
		}
		if to == "0" {
			to = Started
		}
		list += fmt.Sprintf(`{"name":"%d","scenarioName":"s","requiredScenarioState":"%s","newScenarioState":"%s","request":{"url":"/"}},`, i, from, to)
	}
	set := parse(t, "["+list+`{"request":{"url":"/other"}}]`)
	var answered [steps]atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range each {
				m, err := set.Match(newRequest(exchange{Method: "GET", Target: "/"}))
				if err != nil || m == nil {
					t.Errorf("got %v, %v", m, err)
					return
				}
				var i int
				_, _ = fmt.Sscan(m.Name(), &i)
				answered[i].Add(1)
			}
		})
	}
	wg.Wait()
	for i := range answered {
		if got := answered[i].Load(); got != clients*each/steps {
			t.Errorf("step %d was answered %d times of %d", i, got, clients*each/steps)
		}
	}
}
