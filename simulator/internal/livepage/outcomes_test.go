// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package livepage_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/browsertest"
)

// TestOutcomesStandInTheTimeline holds that a stage of several outcomes has each
// of them in its place, with its status, latency and share; that the stage has
// the color of what is left to most requests; and that those are counted which
// were really answered.
func TestOutcomesStandInTheTimeline(t *testing.T) {
	url := serve(t)
	post(t, url, `{"route":"/shop","stages":[{"at":0,"outcomes":[`+
		`{"percent":25,"status":503,"latency":"5ms","headers":{"Retry-After":["1"]}},`+
		`{"first":"2 by client_ip","status":429},`+
		`{"percent":10,"fault":"cut 30"},`+
		`{"status":200,"latency":"p50=1ms,p99=3ms"}]},`+
		`{"at":"9000h","outcomes":[{"percent":1,"status":200},{"status":503}]}]}`)
	b := browsertest.Open(t, url, "/_admin/")
	b.Until(current("/shop") + `?.querySelectorAll(".answer").length === 4`)
	type answer struct{ Status, Latency, Kind, Words string }
	look := func(stage int) (answers []answer) {
		text := browsertest.Eval[string](b, fmt.Sprintf(`JSON.stringify([...%s.querySelectorAll(".timeline .segment")[%d].querySelectorAll(".answer")].map((one) => ({
			Status: one.querySelector(".status").textContent,
			Latency: one.querySelector(".latency").textContent,
			Kind: [...one.classList].find((name) => name.startsWith("kind")),
			Words: [...one.nextElementSibling.querySelectorAll(".word")].map((word) => word.textContent).join("; "),
		})))`, card("/shop"), stage))
		if err := json.Unmarshal([]byte(text), &answers); err != nil {
			t.Fatal(err)
		}
		return answers
	}
	for stage, want := range [][]answer{
		{
			{"503", "5ms", "kind5", `headers {"Retry-After":"1"}; percent 25`},
			{"429", "no latency", "kind4", "first 2 by client_ip"},
			{"200", "no latency", "kind2", "fault cut 30; percent 10"},
			{"200", "p50=1ms,p99=3ms", "kind2", ""},
		},
		{{"200", "no latency", "kind2", "percent 1"}, {"503", "no latency", "kind5", ""}},
	} {
		if got := look(stage); !slices.Equal(got, want) {
			t.Errorf("stage %d has\n%+v\nwant\n%+v", stage+1, got, want)
		}
	}
	kinds := browsertest.Eval[string](b, `[...`+card("/shop")+`.querySelectorAll(".segment")].map((one) => [...one.classList].find((name) => name.startsWith("kind"))).join(" ")`)
	if kinds != "kind2 kind5" {
		t.Errorf("the stages are of %s", kinds)
	}
	for range 2 {
		ask(t, "GET", url+"/shop", "")
	}
	b.Until(`[...` + card("/shop") + `.querySelectorAll(".mix .status")].some((one) => one.textContent === "429")`)
}
