// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package livepage_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/caddy-rehearsal/rehearsal/internal/browsertest"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// card is the card of a route, current its stage in force.
func card(route string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("article")].find((a) => a.querySelector("h3").textContent === %q)`, route)
}

func current(route string) string { return card(route) + `?.querySelector("[aria-current=step]")` }

// TestStagesMove holds that the page follows a route from stage to stage by
// itself, and that the marker moves within one.
func TestStagesMove(t *testing.T) {
	url := serve(t, "stage 0 200", "stage 5s 503 lognormal(70ms,0.3)", "stage 9000h 404")
	b := browsertest.Open(t, url, "/_admin/")
	first := current("/*") + `?.innerText.includes("200")`
	for begin := time.Now(); !b.Within(4*time.Second, first); { // it may have taken longer to load
		if time.Since(begin) > browsertest.Patience {
			t.Fatal("the first stage was never seen")
		}
		ask(t, "POST", url+"/_admin/restart_clock", "")
	}
	b.Until(current("/*") + `?.innerText.includes("503 lognormal(70ms,0.3)")`)
	b.Until(card("/*") + `.querySelector(".where").textContent.startsWith("Stage 2 of 3, 374d ")`)
	post(t, url, `{"route":"/slow","stages":[{"at":0},{"at":"1m"}]}`)
	done := `parseFloat(` + current("/slow") + `?.style.getPropertyValue("--done"))`
	b.Until(done + " > 0")
	before := browsertest.Eval[float64](b, done)
	b.Until(fmt.Sprintf("%s > %v", done, before))
}

// TestStagesTellWhatElseTheySay holds for faults, shares, ramps, loops, and a
// recipe that begins later.
func TestStagesTellWhatElseTheySay(t *testing.T) {
	url := serve(t)
	post(t, url, `{"route":"/all","loop":"2h","seed":7,"stages":[`+
		`{"status":503,"latency":"1s","percent":25,"fault":"reset 10","ramp":true},`+
		`{"at":"1h","latency":"2s","dribble":"10 5s","body":"own"}]}`)
	post(t, url, fmt.Sprintf(`{"route":"/later","start":%q,"stages":[{}]}`, time.Now().Add(48*time.Hour).Format(time.RFC3339)))
	b := browsertest.Open(t, url, "/_admin/")
	b.Until(card("/later") + `?.querySelector(".where").textContent.startsWith("Begins in ")`)
	for _, words := range []string{"loop 2h", "seed 7", "percent 25", "fault reset 10", "ramp", "dribble 10 5s", "body own"} {
		b.Until(fmt.Sprintf(`[...%s.querySelectorAll(".word")].some((word) => word.textContent === %q)`, card("/all"), words))
	}
	b.Until(card("/all") + `.querySelector(".where").textContent.startsWith("Stage 1 of 2, ")`)
	post(t, url, `{"route":"/broken","stages":[{"fault":"empty"}]}`)
	if resp, err := http.Get(url + "/broken"); err == nil {
		resp.Body.Close()
		t.Error("the fault did not happen")
	}
	b.Until(card("/broken") + `?.querySelector(".mix .status")?.textContent === "fault"`)
	if browsertest.Eval[bool](b, card("/all")+`.querySelector(".endless") !== null`) {
		t.Error("a stage stays although the recipe loops")
	}
}

// TestManyStages holds that the last one that is shown ends where the next one
// begins, and that the page tells what comes after those that are not shown.
func TestManyStages(t *testing.T) {
	url := serve(t)
	var stages []string
	for i := range 150 {
		stages = append(stages, fmt.Sprintf(`{"at":"%dm"}`, i))
	}
	all := strings.Join(stages, ",")
	start := time.Now().Add(-99*time.Minute - 5*time.Second).Format(time.RFC3339)
	post(t, url, fmt.Sprintf(`[{"route":"/loop","start":%q,"loop":"3h","stages":[%s]},{"route":"/stay","start":%q,"stages":[%s]}]`, start, all, start, all))
	b := browsertest.Open(t, url, "/_admin/")
	for route, after := range map[string]string{
		"/loop": "50 more stages are not shown, and all begin again after 3h",
		"/stay": "50 more stages are not shown, the last of which stays",
	} {
		b.Until(card(route) + `?.querySelector(".where").textContent.match(/^Stage 100 of 150, .*s left$/)`)
		b.Until(fmt.Sprintf(`%s.innerText.includes(%q)`, card(route), after))
		if browsertest.Eval[bool](b, card(route)+`.querySelector(".endless") !== null`) {
			t.Errorf("%s: a stage stays although others come after", route)
		}
	}
}

// TestCountsMove holds for the numbers, by status, by latency, and as a rate.
func TestCountsMove(t *testing.T) {
	url := serve(t, "stage 0 503 2ms")
	b := browsertest.Open(t, url, "/_admin/")
	b.Until(`document.querySelector("#connection").textContent === "Live"`)
	for range 25 {
		ask(t, "GET", url+"/", "")
	}
	row := func(place, name string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(%q)].find((row) => row.firstChild.textContent === %q)?.innerText.split(/\s+/).join(" ")`, place+" li", name)
	}
	b.Until(`document.querySelector("#total").textContent === "25"`)
	b.Until(row("#mix", "503") + ` === "503 100% 25"`)
	b.Until(row("article .mix", "503") + ` === "503 100% 25"`)
	b.Until(row("#latency", "1ms–5ms") + ` === "1ms–5ms 100%"`)
	b.Until(row("article .chart", "1ms–5ms") + ` === "1ms–5ms 100%"`)
	b.Until(`document.querySelector("#rates polyline").getAttribute("points").split(" ").some((point) => Number(point.split(",")[1]) < 29)`)

	stop := keepAsking(url)
	b.Until(`Number(document.querySelector("#rate").textContent) > 1`)
	b.Until(`Number(document.querySelector("article .numbers strong").textContent) > 1`)
	stop()
	b.Until(`document.querySelector("#rate").textContent === "0"`)
}

// TestNumbersAreOfOneSpan holds that a status mix has shares and numbers of the
// same minute, and that what no route took has a card.
func TestNumbersAreOfOneSpan(t *testing.T) {
	url := serve(t)
	post(t, url, `{"route":"/a","stages":[{"status":503}]}`)
	for range 5 {
		ask(t, "GET", url+"/a", "")
	}
	b := browsertest.Open(t, url, "/_admin/")
	row := `document.querySelector("#mix li")?.innerText.split(/\s+/).join(" ")`
	b.Until(row + ` === "503 0% 0"`)
	ask(t, "GET", url+"/a", "")
	b.Until(row + ` === "503 100% 1"`)
	ask(t, "GET", url+"/none", "")
	b.Until(card("no route") + `?.querySelector(".mix .status")?.textContent === "406"`)
}

// keepAsking asks about a hundred times a second until it is stopped.
func keepAsking(url string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if resp, err := http.Get(url); err == nil {
				resp.Body.Close()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// TestPostedRecipeAppears holds for one that is posted on the page, that what
// is posted elsewhere appears too, and that a route can be looked for.
func TestPostedRecipeAppears(t *testing.T) {
	url := serve(t)
	b := browsertest.Open(t, url, "/_admin/")
	b.Until(`document.querySelector("#found").textContent.startsWith("No recipe yet")`)
	b.Click("#post button[type=submit]")
	b.Until(`document.querySelector("#recipe-notice").textContent === "Posted. Recipes in force: 1."`)
	b.Until(current("/example") + `?.innerText.includes("200 50ms")`)
	if status, _, body := ask(t, "GET", url+"/example", ""); status != 200 || !strings.HasPrefix(body, `{"hello": "world"`) {
		t.Errorf("the example answers %d %.100s", status, body)
	}
	post(t, url, `{"route":"/elsewhere","stages":[{"status":418}]}`)
	b.Until(current("/elsewhere") + `?.innerText.includes("418")`)
	b.Click("#current")
	b.Until(`document.querySelector("#recipe").value.includes('"status": 418')`)
	tabTo(t, b, "#find")
	b.Press("exam")
	b.Until(`document.querySelectorAll("article").length === 1 && document.querySelector("#found").textContent === "1 of 2"`)
}

// TestInvalidRecipeShowsItsError holds that the field and the fault are told
// beside the form, and that what runs goes on.
func TestInvalidRecipeShowsItsError(t *testing.T) {
	url := serve(t, "stage 0 204")
	b := browsertest.Open(t, url, "/_admin/")
	b.Fill("#recipe", `{"stages":[{"status":200},{"at":"1s","latency":"fast"}]}`)
	b.Click("#post button[type=submit]")
	b.Until(`document.querySelector("#recipe-problem .field")?.textContent === "stages[1].latency"`)
	b.Until(`document.querySelector("#recipe-problem").textContent.includes("'fast'")`)
	b.Until(`document.querySelector("#recipe").getAttribute("aria-invalid") === "true" && document.activeElement.id === "recipe"`)
	b.Until(current("/*") + `?.innerText.includes("204")`)
	b.Fill("#recipe", `{"stages":[{"status":201}]}`)
	b.Click("#post button[type=submit]")
	b.Until(current("/*") + `?.innerText.includes("201")`)
	b.Until(`document.querySelector("#recipe-problem").textContent === "" && !document.querySelector("#recipe").hasAttribute("aria-invalid")`)
}

func TestMappingsHaveCards(t *testing.T) {
	url := serve(t, "stage 0 200", "mappings "+helloMapping(t))
	b := browsertest.Open(t, url, "/_admin/")
	name := look(t, url+"/_admin/live.json").Routes[1].Route
	b.Until(fmt.Sprintf("%s?.innerText.includes('mapping')", card(name)))
}

// TestMarkupStaysText holds for everything that somebody else may have posted.
func TestMarkupStaysText(t *testing.T) {
	const markup = `<img src=x onerror=globalThis.caught=1><script>globalThis.caught=1</script>`
	url := serve(t)
	post(t, url, fmt.Sprintf(`{"route":"/%[1]s","body":"%[1]s","headers":{"x-markup":"%[1]s"},"stages":[{}]}`, markup))
	b := browsertest.Open(t, url, "/_admin/")
	b.Until(fmt.Sprintf(`document.querySelector("h3")?.textContent === "/%s"`, markup))
	b.Fill("#recipe", `{"`+markup+`": 1}`)
	b.Click("#post button[type=submit]")
	b.Until(`document.querySelector("#recipe-problem").textContent.includes("<img")`)
	tabTo(t, b, "#find")
	b.Press("<img")
	b.Until(`document.querySelector("#found").textContent === "1"`)
	if browsertest.Eval[bool](b, `"caught" in globalThis || document.querySelectorAll("img, body script").length > 0`) {
		t.Error("markup of a recipe became part of the page")
	}
}

// TestNarrow holds that nothing has to be scrolled sideways at 400 pixels.
func TestNarrow(t *testing.T) {
	url := serve(t, "stage 0 200", "stage 1ms 503 p50=20ms,p90=80ms,p99=300ms", "stage 9000h 404 30m")
	long := strings.Repeat("long", 50)
	var stages []string
	for i := range 40 {
		stages = append(stages, fmt.Sprintf(`{"at":"%dm","status":%d}`, i, 200+i))
	}
	post(t, url, fmt.Sprintf(`{"route":"/%[1]s","body":"%[1]s","stages":[%[2]s]}`, long, strings.Join(stages, ",")))
	b := browsertest.Open(t, url, "/_admin/")
	b.Fill("#recipe", `{"`+long+`":1}`)
	b.Click("#post button[type=submit]")
	b.Until(`document.querySelectorAll("article").length === 2 && document.querySelector("#recipe-problem").textContent !== ""`)
	for _, width := range []int64{400, 700, 1280} {
		b.Do(chromedp.EmulateViewport(width, 800))
		if over := browsertest.Eval[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("at %d pixels, %d more are needed", width, over)
		}
	}
}

// TestHiddenPageAsksNothing holds for a tab that nobody looks at.
func TestHiddenPageAsksNothing(t *testing.T) {
	b := browsertest.Open(t, serve(t), "/_admin/")
	live := `document.querySelector("#connection").textContent === "Live"`
	b.Until(live)
	browsertest.Eval[bool](b, `Object.defineProperty(document, "hidden", { value: true, configurable: true }) && document.dispatchEvent(new Event("visibilitychange"))`)
	b.Until(`document.querySelector("#connection").textContent === "Paused"`)
	before := b.Requested()
	time.Sleep(2500 * time.Millisecond)
	if n := b.Requested() - before; n > 0 {
		t.Errorf("it asked %d times although nobody looks", n)
	}
	browsertest.Eval[bool](b, `Object.defineProperty(document, "hidden", { value: false }) && document.dispatchEvent(new Event("visibilitychange"))`)
	b.Until(live)
}

// TestLostConnection holds that the page says so, and goes on when the server
// is there again.
func TestLostConnection(t *testing.T) {
	addr := caddytest.Addr(t)
	s := caddytest.Run(t, site(addr))
	b := browsertest.Start(t, "http://"+addr) // failed requests are errors in its log
	b.Do(chromedp.Navigate("http://" + addr + "/_admin/"))
	live := `document.querySelector("#connection").textContent === "Live"`
	b.Until(live)
	s.Reload("http://" + addr + " {\nrespond 503\n}\n")
	b.Until(`document.querySelector("#connection").textContent === "No connection, trying again: the server answers 503"`)
	s.Reload(site(addr))
	b.Until(live)
}
