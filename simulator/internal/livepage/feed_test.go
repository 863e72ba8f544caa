// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package livepage_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

type document struct {
	Name      string
	Requests  map[string]uint64
	Bounds    []float64
	Latencies []uint64
	Found     int
	All       int
	Routes    []struct {
		ID     uint64
		Route  string
		Words  []string
		Stages []struct {
			At       float64
			Outcomes []struct {
				Status  int
				Latency string
				Words   []string
			}
		}
		More      int
		End       float64
		Elapsed   float64
		Stage     int
		Requests  map[string]uint64
		Latencies []uint64
	}
}

func look(t *testing.T, url string) (d document) {
	t.Helper()
	_, _, body := ask(t, "GET", url, "")
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return d
}

// TestFeed holds what the page is told: stages, where the route is, and what
// was counted.
func TestFeed(t *testing.T) {
	url := serve(t)
	post(t, url, `{"route":"/a","body":"<b>","headers":{"x":["1","2"]},"stages":[{"status":404,"latency":"2ms"},{"at":"1h","latency":"1s..2s"}]}`)
	for range 3 {
		ask(t, "GET", url+"/a", "")
	}
	ask(t, "GET", url+"/none", "")
	d := look(t, url+"/_admin/live.json")
	if d.Name != "demo" || d.Requests["404"] != 3 || d.Requests["406"] != 1 || d.Found != 1 || d.All != 1 {
		t.Errorf("got %+v", d)
	}
	r := d.Routes[0]
	if r.Route != "/a" || r.Stage != 1 || r.Elapsed <= 0 || r.Requests["404"] != 3 || len(r.Stages) != 2 {
		t.Errorf("got %+v", r)
	}
	if s := r.Stages[1]; s.At != 3600 || len(s.Outcomes) != 1 || s.Outcomes[0].Status != 200 || s.Outcomes[0].Latency != "1s..2s" {
		t.Errorf("got %+v", s)
	}
	if want := []string{"body <b>", `headers {"x":["1","2"]}`}; !slices.Equal(r.Words, want) {
		t.Errorf("got words %q", r.Words)
	}
	if len(d.Latencies) != len(d.Bounds)+1 || d.Bounds[2] != .005 || d.Latencies[2] < 3 || r.Latencies[2] < 3 {
		t.Errorf("got latencies %v and %v of %v", d.Latencies, r.Latencies, d.Bounds)
	}
}

// TestFeedKnowsOneRunFromAnother holds that the ID of a route changes when its
// recipe starts again, and only then.
func TestFeedKnowsOneRunFromAnother(t *testing.T) {
	url := serve(t)
	const recipe = `{"route":"/a","stages":[{}]}`
	post(t, url, recipe)
	id := func(query string) uint64 { return look(t, url+"/_admin/live.json"+query).Routes[0].ID }
	first := id("")
	if look(t, url+"/_admin/live.json?find=other").Found != 0 {
		t.Error("found a route by what is not in it")
	}
	if second := id("?find=/a"); second != first {
		t.Errorf("the ID went from %d to %d though nothing happened", first, second)
	}
	post(t, url, recipe)
	posted := id("")
	if posted == first {
		t.Error("the ID stayed although the recipe was posted again")
	}
	if status, _, body := ask(t, "POST", url+"/_admin/restart_clock", ""); status != 200 {
		t.Fatalf("got %d %s", status, body)
	}
	if id("") == posted {
		t.Error("the ID stayed although the clock has started again")
	}
}

// TestFeedIsBounded holds for many routes, many stages and long texts.
func TestFeedIsBounded(t *testing.T) {
	url := serve(t)
	var recipes, stages []string
	for i := range 150 {
		recipes = append(recipes, fmt.Sprintf(`{"route":"/r%03d","stages":[{}]}`, i))
		stages = append(stages, fmt.Sprintf(`{"at":"%ds"}`, i))
	}
	post(t, url, "["+strings.Join(recipes, ",")+"]")
	post(t, url, fmt.Sprintf(`{"route":"/long","body":"%s","stages":[%s]}`, strings.Repeat("é", 1000), strings.Join(stages, ",")))
	d := look(t, url+"/_admin/live.json")
	if d.All != 151 || d.Found != 151 || len(d.Routes) != 100 {
		t.Errorf("got %d of %d of %d", len(d.Routes), d.Found, d.All)
	}
	d = look(t, url+"/_admin/live.json?find=long")
	if d.All != 151 || d.Found != 1 || len(d.Routes) != 1 {
		t.Fatalf("got %d of %d of %d", len(d.Routes), d.Found, d.All)
	}
	r := d.Routes[0]
	if len(r.Stages) != 100 || r.More != 50 || r.End != 100 || r.Words[0] != "body "+strings.Repeat("é", 60)+"…" {
		t.Errorf("got %d stages, %d more, %q", len(r.Stages), r.More, r.Words)
	}
}

// TestFeedHasMappings holds that they are counted beside recipes.
func TestFeedHasMappings(t *testing.T) {
	url := serve(t, "stage 0 200", "mappings "+helloMapping(t))
	if status, _, body := ask(t, "GET", url+"/hello", ""); status != 201 {
		t.Fatalf("got %d %s", status, body)
	}
	d := look(t, url+"/_admin/live.json")
	if d.All != 2 || d.Requests["201"] != 1 || d.Routes[1].Requests["201"] != 1 || d.Routes[1].Stages != nil || d.Latencies[2] < 1 {
		t.Errorf("got %+v", d)
	}
}

// TestFeedHasWhatNoRouteTook holds that it comes last, and only if there is any
// and nothing is looked for; and that asking for the feed is not logged, which
// pages do every second.
func TestFeedHasWhatNoRouteTook(t *testing.T) {
	addr := caddytest.Addr(t)
	s := caddytest.Run(t, strings.Replace(site(addr), "simulator {", "log\nsimulator {", 1))
	url := "http://" + addr
	post(t, url, `{"route":"/a","stages":[{}]}`)
	if d := look(t, url+"/_admin/live.json"); len(d.Routes) != 1 {
		t.Errorf("got %+v before there was any", d.Routes)
	}
	for range 2 {
		ask(t, "GET", url+"/none", "")
	}
	d := look(t, url+"/_admin/live.json")
	if len(d.Routes) != 2 || d.All != 1 || d.Routes[1].Route != "no route" || d.Routes[1].Requests["406"] != 2 {
		t.Errorf("got %+v", d)
	}
	if d := look(t, url+"/_admin/live.json?find=a"); len(d.Routes) != 1 {
		t.Errorf("looking for /a found %+v", d.Routes)
	}
	ask(t, "GET", url+"/last", "")
	for deadline := time.Now().Add(time.Minute); !strings.Contains(s.Logs(), "/last"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("requests are not logged")
		}
	}
	if strings.Contains(s.Logs(), "live.json") {
		t.Error("asking for the feed is logged")
	}
}
