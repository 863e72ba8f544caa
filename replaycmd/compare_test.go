// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aryann/difflib"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// shop is a service in two versions. A member of what it answers is noisy in 15 %
// of the answers, and another always random.
type shop struct {
	mu     sync.Mutex
	random *rand.Rand
	asked  int
}

func newShop(seed uint64) *shop { return &shop{random: rand.New(rand.NewPCG(seed, 7))} }

// draw returns the stock, which is noisy, and an identifier.
func (s *shop) draw() (stock int, id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if stock = 7; s.random.Float64() < 0.15 {
		stock = s.random.IntN(1000)
	}
	return stock, s.random.Uint64()
}

// version serves a version; change is what it answers otherwise to requests with
// currency=JPY.
func (s *shop) version(t *testing.T, change func(price, stock int) (int, int)) *server {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		price := 100
		stock, id := s.draw()
		if change != nil && r.URL.Query().Get("currency") == "JPY" {
			price, stock = change(price, stock)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"item":{"price":%d,"stock":%d},"trace":%d}`, price, stock, id)
	})
}

func dearer(price, stock int) (int, int) { return price + 10, stock }

// requests records n GETs, of which one in a hundred is about JPY.
func requestsOfShop(t *testing.T, n int, respond func(i int) *recording.Response) string {
	t.Helper()
	var requests []*recording.Request
	for i := range n {
		currency := []string{"EUR", "USD", "GBP"}[i%3]
		if i*37%100 == 11 {
			currency = "JPY"
		}
		r := &recording.Request{
			ID: fmt.Appendf(nil, "r%04d", i), Method: []byte("GET"), URI: fmt.Appendf(nil, "/items/%d?currency=%s", i, currency),
			Host: []byte("shop.test"), Headers: []byte("Host: shop.test\r\nAccept: */*\r\n"), TimeNS: origin + int64(i)*1e6,
		}
		if respond != nil {
			r.Response = respond(i)
		}
		requests = append(requests, r)
	}
	return writeRequests(t, "shop.fbf", requests)
}

// compared runs replay and returns its JSON report as well.
func compared(t *testing.T, want int, args ...string) (outcome, *report.Report) {
	t.Helper()
	file := t.TempDir() + "/report.json"
	o := replay(t, append(args, "--report", "text,json="+file)...)
	if o.status != want {
		t.Fatalf("exit status %d, want %d\n%s%s", o.status, want, o.stdout, o.stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return o, r
}

// fields returns the fields of some classes.
func fields(r *report.Report, classes ...tally.Class) (names []string) {
	for _, d := range r.Differences {
		for _, class := range classes {
			if d.Class == class {
				names = append(names, d.Field)
			}
		}
	}
	return names
}

func counting(r *report.Report) string {
	return strings.Join(fields(r, tally.Proved, tally.Confirmed, tally.Differs), " ")
}

// findPrice compares two versions that differ for one request in a hundred, with
// noise all around, and fails unless that is found. It reports whether something
// else was as well: a false alarm, of which there may be one in many runs.
func findPrice(t *testing.T, seed uint64) (falseAlarm bool) {
	t.Helper()
	s := newShop(seed)
	old, twin, fresh := s.version(t, nil), s.version(t, nil), s.version(t, dearer)
	o, r := compared(t, 0, "--max", "-c", "4", "--to", "old="+old.url, "--to", "twin="+twin.url, "--to", "new="+fresh.url,
		"--compare", "--noise", "twin", requestsOfShop(t, 2000, nil))
	counted := strings.Fields(counting(r))
	if !slices.Contains(counted, "$.item.price") {
		t.Fatalf("seed %d: these count: %s\n%s", seed, counted, o.stdout)
	}
	if len(counted) > 1 {
		t.Logf("seed %d: a false alarm: %s", seed, counted)
		return true
	}
	d := r.Differences[0]
	if d.Target != "new" || d.OnlyWhere != "currency=JPY" || d.Old != "100" || d.New != "110" || d.Endpoint != "GET /items/*" {
		t.Errorf("seed %d: got %+v", seed, d)
	}
	if c := r.Comparisons[0]; c.Pairs != 2000 || c.Old != "old" || c.Noise != "twin" || !c.NoiseMeasured {
		t.Errorf("seed %d: got %+v", seed, c)
	}
	for _, sent := range r.Targets {
		if sent.Requests != 2000 {
			t.Errorf("seed %d: the figures of %s have %d requests", seed, sent.Name, sent.Requests)
		}
	}
	for line := range strings.Lines(o.stdout) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("a line is %d characters wide: %s", n, line)
		}
	}
	for _, want := range []string{
		"old    target old\nnoise  by its twin, target twin\n",
		"  proved       changed  1% (0.6–1.5)      $.item.price\n    100 → 110\n    only where currency=JPY\n    --id r",
		"  noise        changed  100% (99.8–100)   $.trace\n",
		"new beside old: 1 difference, 0 unconfirmed, in 2,000 pairs of 2,000 requests\n",
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("the report lacks %q:\n%s", want, o.stdout)
		}
	}
	return false
}

func TestTheOneTrueDifference(t *testing.T) {
	falseAlarms := 0
	for seed := range uint64(2) {
		if findPrice(t, seed) {
			falseAlarms++
		}
	}
	if falseAlarms > 1 {
		t.Errorf("%d false alarms in 2 runs", falseAlarms)
	}
}

// findStock compares versions that differ in the member that is noisy itself. It
// reports whether that was found; nothing else must be.
func findStock(t *testing.T, seed uint64) bool {
	t.Helper()
	s := newShop(seed)
	old, fresh := s.version(t, nil), s.version(t, func(price, stock int) (int, int) { return price, stock + 5000 })
	o, r := compared(t, 0, "--max", "-c", "4", "--to", "old="+old.url, "--to", "new="+fresh.url,
		"--compare=old", "--noise", "self", requestsOfShop(t, 1000, nil))
	found := counting(r)
	if found != "" && found != "$.item.stock" {
		t.Errorf("seed %d: these count: %s\n%s", seed, found, o.stdout)
	}
	if len(r.Targets) != 2 || r.Targets[0].Requests != 1000 || r.Comparisons[0].Noise != report.Self {
		t.Errorf("seed %d: %d targets, %d requests, noise %s", seed, len(r.Targets), r.Targets[0].Requests, r.Comparisons[0].Noise)
	}
	if r.Comparisons[0].Confirming == 0 && len(fields(r, tally.Proved)) == 0 {
		t.Errorf("seed %d: nothing was asked again\n%s", seed, o.stdout)
	}
	if n := int64(s.asked); n != 3000+r.Comparisons[0].Confirming {
		t.Errorf("seed %d: %d requests were sent, and the report has %d and three times 1000", seed, n, r.Comparisons[0].Confirming)
	}
	return found != ""
}

func TestADifferenceWithinNoise(t *testing.T) {
	found := 0
	for seed := range uint64(3) {
		if findStock(t, seed) {
			found++
		}
	}
	if found < 2 {
		t.Errorf("found in %d of 3 runs", found)
	}
}

// TestTargetsKeepInStep compares a fast target with a slow one: however far the
// fast one could be ahead, each pair is compared, also where all requests are one
// and the same.
func TestTargetsKeepInStep(t *testing.T) {
	slow := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(500 * time.Microsecond)
		fmt.Fprint(w, "slow")
	})
	fast := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fast") })
	const n = leastWaiting + 1000
	for _, from := range []string{fast.url + "/items", requestsOfShop(t, n, nil)} {
		_, r := compared(t, 0, from, "--max", "-c", "8", "-n", strconv.Itoa(n), "--to", "old="+fast.url, "--to", "new="+slow.url, "--compare=old")
		if c := r.Comparisons[0]; c.Pairs != n || len(c.Partial) > 0 {
			t.Errorf("%s: %d of %d pairs were compared, not compared: %v", from, c.Pairs, n, c.Partial)
		}
	}
}

// answers serves a version of a service by path.
func answers(t *testing.T, of map[string]func(w http.ResponseWriter)) *server {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		of[r.URL.Path](w)
	})
}

func body(text string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) { fmt.Fprint(w, text) }
}

// requestsTo records a GET of each path.
func requestsTo(t *testing.T, paths ...string) string {
	t.Helper()
	var requests []*recording.Request
	for i, path := range paths {
		requests = append(requests, &recording.Request{
			ID: []byte("of" + strings.ReplaceAll(path, "/", "-")), Method: []byte("GET"), URI: []byte(path), Host: []byte("shop.test"),
			Headers: []byte("Host: shop.test\r\n"), TimeNS: origin + int64(i)*1e6,
		})
	}
	return writeRequests(t, "paths.fbf", requests)
}

// TestEachKindOfDifferenceIsNamed has one endpoint for each.
func TestEachKindOfDifferenceIsNamed(t *testing.T) {
	status := func(n int) func(w http.ResponseWriter) { return func(w http.ResponseWriter) { w.WriteHeader(n) } }
	header := func(names ...string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for _, name := range names {
				w.Header().Set(name, "x")
			}
		}
	}
	cases := map[string]struct {
		old, fresh func(w http.ResponseWriter)
		want       string
	}{
		"/status":   {status(200), status(503), "status changed 200 503"},
		"/header":   {header("X-Cache", "X-Same"), header("X-Same"), "header X-Cache missing x –"},
		"/type":     {body(`{"n":1}`), body(`{"n":"1"}`), `$.n type 1 "1"`},
		"/order":    {body(`{"l":[{"id":1},{"id":2},{"id":3}]}`), body(`{"l":[{"id":3},{"id":1},{"id":2}]}`), "$.l order"},
		"/inserted": {body(`{"l":[{"id":1,"v":"a"},{"id":2,"v":"b"},{"id":3,"v":"c"}]}`), body(`{"l":[{"id":1,"v":"a"},{"id":9,"v":"z"},{"id":2,"v":"b"},{"id":3,"v":"c"}]}`), "$.l[*] added –"},
		"/same":     {body(`{"price":1.0,"a":1,"b":2}`), body(`{"b":2,"price":1.00,"a":1}`), ""},
		"/html":     {body(`{"a":1}`), body(`<html><body>sorry</body></html>`), "body type"},
		"/null":     {body(`{"a":null}`), body(`{}`), "$.a missing null –"},
	}
	olds, news := make(map[string]func(http.ResponseWriter)), make(map[string]func(http.ResponseWriter))
	for path, c := range cases {
		olds[path], news[path] = c.old, c.fresh
	}
	old, fresh := answers(t, olds), answers(t, news)
	o, r := compared(t, 0, "--max", "--to", "old="+old.url, "--to", "new="+fresh.url, "--compare",
		requestsTo(t, slices.Sorted(maps.Keys(cases))...))
	if !strings.HasPrefix(o.stdout, "old    target old\nnoise  was not measured: every difference counts\n") {
		t.Errorf("the report begins\n%s", o.stdout)
	}
	got := make(map[string][]string)
	for _, d := range r.Differences {
		if d.Class != tally.Differs {
			t.Errorf("got class %s", d.Class)
		}
		path := strings.TrimPrefix(d.Endpoint, "GET ")
		got[path] = append(got[path], fmt.Sprintf("%s %s %s %s", d.Field, d.Kind, d.Old, d.New))
	}
	for path, c := range cases {
		if all := strings.Join(got[path], "; "); !strings.HasPrefix(all, c.want) || strings.Contains(all, ";") || c.want == "" && all != "" {
			t.Errorf("%s: got %q, want one like %q", path, all, c.want)
		}
	}
}

// TestOnlyConditionsFailARun: that systems differ is no failure by itself.
func TestOnlyConditionsFailARun(t *testing.T) {
	path := requestsTo(t, "/a", "/b")
	old := answers(t, map[string]func(http.ResponseWriter){"/a": body(`{"n":1}`), "/b": body(`{"n":1}`)})
	fresh := answers(t, map[string]func(http.ResponseWriter){"/a": body(`{"n":2}`), "/b": body(`{"n":1}`)})
	args := []string{"--max", "--to", "old=" + old.url, "--to", "new=" + fresh.url, "--compare", path}
	for condition, want := range map[string]struct {
		status int
		line   string
	}{
		"":               {0, "new beside old: 1 difference, 0 unconfirmed, in 2 pairs of 2 requests"},
		"diffs=0":        {exitFailed, "FAILED new: diffs=0 is 1"},
		"diffs<2":        {0, "ok     new: diffs<2 is 1"},
		"unconfirmed<5":  {0, "ok     new: unconfirmed<5 is 0"},
		"pairs>=2":       {0, "ok     new: pairs>=2 is 2"},
		"pairs>=1000":    {exitFailed, "FAILED new: pairs>=1000 is 2"},
		"p99 < 1.1x old": {exitFailed, "FAILED new: p99<1.1x old is unknown, as 2 pairs are too few"},
		"errors=0":       {0, "ok     new: errors=0 is 0"},
	} {
		all := args
		if condition != "" {
			all = append(slices.Clone(args), "--fail", condition)
		}
		o := replay(t, all...)
		if o.status != want.status || !strings.Contains(o.stdout, want.line+"\n") || strings.Contains(o.stdout, "FAILED old") {
			t.Errorf("%s: status %d, want %d with %q\n%s%s", condition, o.status, want.status, want.line, o.stdout, o.stderr)
		}
	}
}

// TestOfTheRecordingAlone compares with what was recorded, as no old system is
// alive. Dates, identifiers and tokens are made anew for every response.
func TestOfTheRecordingAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var mu sync.Mutex
	uuid := func() string {
		mu.Lock()
		defer mu.Unlock()
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", random.Uint32(), random.Uint32()&0xffff, random.Uint32()&0xfff, random.Uint32()&0xfff, random.Uint64()&0xffffffffffff)
	}
	answer := func(i int, at time.Time, name string) string {
		return fmt.Sprintf(`{"id":%d,"name":%q,"request":%q,"token":"%s","at":%q}`, i, name,
			uuid(), strings.ReplaceAll(uuid(), "-", ""), at.UTC().Format(time.RFC3339))
	}
	path := requestsOfShop(t, 200, func(i int) *recording.Response {
		at := time.Unix(0, origin+int64(i)*1e6)
		text := answer(i, at, "tea")
		return &recording.Response{
			Status: 200, Headers: fmt.Appendf(nil, "Content-Type: application/json\r\nDate: %s\r\nContent-Length: %d\r\n", at.UTC().Format(http.TimeFormat), len(text)),
			Body: []byte(text), BodySize: uint64(len(text)), DurationNS: 1e6,
		}
	})
	fresh := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var i int
		fmt.Sscanf(r.URL.Path, "/items/%d", &i)
		name := "tea"
		if i == 77 {
			name = "coffee"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer(i, time.Now(), name))
	})
	for _, flags := range [][]string{{"--compare"}, {"--compare=recorded"}} {
		o, r := compared(t, 0, append(flags, "--max", "--to", "new="+fresh.url, path)...)
		if counting(r) != "$.name" || r.Differences[0].ID != "r0077" || r.Differences[0].Old != `"tea"` || r.Differences[0].New != `"coffee"` {
			t.Errorf("%v: these count: %s\n%s", flags, counting(r), o.stdout)
		}
		if !strings.HasPrefix(o.stdout, "old    the recorded responses\nnoise  was not measured") {
			t.Errorf("%v: the report begins\n%s", flags, o.stdout)
		}
	}
	// asked twice, new shows itself what is noise
	o, r := compared(t, 0, "--compare", "--noise", "self", "--max", "--to", "new="+fresh.url, path)
	if counting(r) != "" || strings.Join(fields(r, tally.Unconfirmed), " ") != "$.name" || r.Comparisons[0].Confirming != 0 {
		t.Errorf("these count: %s, confirming %d\n%s", counting(r), r.Comparisons[0].Confirming, o.stdout)
	}
	if !strings.Contains(o.stdout, "not asked      anything: the old system is there as recorded responses only") {
		t.Errorf("the report does not say that nothing was asked again:\n%s", o.stdout)
	}
}

func TestComparisonsThatCannotBe(t *testing.T) {
	path := requestsTo(t, "/a", "/b")
	mixed := requestsOfShop(t, 10, func(i int) *recording.Response {
		if i%3 > 0 {
			return nil
		}
		return &recording.Response{Status: 200}
	})
	targets := "--to a=localhost:1 --to b=localhost:2 "
	for args, want := range map[string]string{
		targets + "--noise self " + path:                                 "--noise is about comparing: expected --compare as well",
		targets + "--ignore-header X " + path:                            "--ignore-header is about comparing",
		targets + "--fail diffs=0 " + path:                               "--fail 'diffs=0' is about comparing: expected --compare as well",
		targets + "--fail p99<2xold " + path:                             "--fail 'p99<2x old' is about comparing",
		targets + "--compare=c " + path:                                  "parsing --compare: no target is called c: expected recorded or one of a, b",
		targets + "--compare=a --noise c " + path:                        "parsing --noise: no target is called c: expected self or one of a, b",
		targets + "--compare=a --noise a " + path:                        "parsing --noise: a is the old system itself",
		targets + "--compare=a --noise b " + path:                        "there is no target to compare",
		targets + "--compare --confirm all " + path:                      "--confirm asks what may be noise again: expected --noise as well",
		targets + "--compare --noise self --confirm some " + path:        "'some' is not valid: expected safe, all or off",
		targets + "--compare --ignore-json $.items[0] " + path:           "'$.items[0]' is not a JSON path: at character 9",
		targets + "--compare --unordered items " + path:                  "'items' is not a JSON path: at character 1",
		targets + "--compare --ignore-header a:b " + path:                "'a:b' is not the name of a header field",
		targets + "--compare=a --compare=b " + path:                      "it is given twice",
		targets + "--compare --save " + path + "/x " + path:              "parsing --save",
		targets + "--compare --fail p99>1.1xold " + path:                 "x old is an upper limit: expected p99<1.1x old",
		targets + "--compare --fail p99<0xold " + path:                   "'0x old' is not a factor above 0",
		targets + "--compare --fail diffs<x " + path:                     "'x' is not a number",
		targets + "--compare " + mixed:                                   "4 of 10 records have a response: expected --compare=recorded, for these alone, or --compare=NAME",
		targets + "--compare -":                                          "whether all records of standard input have responses cannot be known before they are sent: expected --compare=recorded or --compare=NAME",
		"--to a=localhost:1 --compare " + path:                           "no record has a response, and there is one target",
		"--to recorded=localhost:1 --compare " + path:                    "with --compare no target can be called recorded",
		"--to a=localhost:1 --compare=recorded -n 1 http://localhost:1/": "a URL has no recorded responses",
		"--to a=localhost:1 --compare=a " + path:                         "there is no target to compare",
	} {
		o := replayWith(t, t.Context(), strings.NewReader(""), strings.Fields(args)...)
		if o.status != exitNotStarted || !strings.Contains(o.stderr, want) || o.stdout != "" {
			t.Errorf("%s: status %d, want %q\n%s%s", args, o.status, want, o.stdout, o.stderr)
		}
	}
}

// TestOnlyWhatWasRecordedIsCompared leaves out, and counts, what has no recorded
// response where these are asked for.
func TestOnlyWhatWasRecordedIsCompared(t *testing.T) {
	path := requestsOfShop(t, 10, func(i int) *recording.Response {
		if i%2 > 0 {
			return nil
		}
		return &recording.Response{Status: 200, Headers: []byte("Content-Type: application/json\r\n"), Body: []byte(`{"a":1}`)}
	})
	fresh := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"a":1}`)
	})
	o, r := compared(t, 0, "--max", "--to", "new="+fresh.url, "--compare=recorded", path)
	if c := r.Comparisons[0]; c.Pairs != 5 || c.Partial["no_recorded_response"] != 5 || len(r.Differences) != 0 {
		t.Errorf("got %+v\n%s", c, o.stdout)
	}
}

// TestOnePairIsPrinted sends one request and shows what differs.
func TestOnePairIsPrinted(t *testing.T) {
	path := requestsTo(t, "/a", "/b")
	old := answers(t, map[string]func(http.ResponseWriter){"/a": body(`{"n":1,"s":{"b":true,"a":"\u001b[31m"}}`)})
	fresh := answers(t, map[string]func(http.ResponseWriter){"/a": body(`{"s":{"a":"\u001b[31m","b":true},"n":2}`)})
	o := replay(t, "--to", "old="+old.url, "--to", "new="+fresh.url, "--compare", "-i", "of-a", path)
	want := "GET /a  of-a\n$.n changed: 1 → 2\n--- old\n+++ new\n status 200\n"
	if o.status != 0 || !strings.HasPrefix(o.stdout, want) {
		t.Errorf("got status %d and\n%s%s", o.status, o.stdout, o.stderr)
	}
	if !strings.Contains(o.stdout, "\n {\n-  \"n\": 1,\n+  \"n\": 2,\n   \"s\": {\n     \"a\": \"\\u001b[31m\",\n") || strings.Contains(o.stdout, "\x1b") {
		t.Errorf("got\n%s", o.stdout)
	}
	if o := replay(t, "--to", "new="+fresh.url, "--compare=recorded", "-i", "of-a", path); o.status == 0 || o.stdout != "" || !strings.Contains(o.stderr, "there is no pair to print: no recorded response") {
		t.Errorf("without a response: got status %d and\n%s%s", o.status, o.stdout, o.stderr)
	}
	for i, line := range map[int]string{0: "\x1b[31m-a\x1b[0m\n", 1: "-a\n"} {
		var out strings.Builder
		writeLine(&out, difflib.DiffRecord{Payload: "a", Delta: difflib.LeftOnly}, i == 0)
		if out.String() != line {
			t.Errorf("got %q, want %q", out.String(), line)
		}
	}
}

// TestPairsAreSaved has those that differ in two recordings, which can be shown
// and replayed.
func TestPairsAreSaved(t *testing.T) {
	dir := t.TempDir()
	path := requestsTo(t, "/a", "/b", "/c")
	old := answers(t, map[string]func(http.ResponseWriter){"/a": body(`{"n":1}`), "/b": body(`{"n":1}`), "/c": body(`{"n":1}`)})
	fresh := answers(t, map[string]func(http.ResponseWriter){"/a": body(`{"n":1}`), "/b": body(`{"n":2}`), "/c": body(`{"n":1}`)})
	compared(t, 0, "--max", "--to", "old="+old.url, "--to", "new="+fresh.url, "--compare", "--save", dir, path)
	for name, want := range map[string]string{"old": `{"n":1}`, "new": `{"n":2}`} {
		all := read(t, filepath.Join(dir, name))
		if len(all) != 1 || string(all[0].ID) != "of-b" || string(all[0].URI) != "/b" || all[0].Response == nil {
			t.Fatalf("%s has %d records", name, len(all))
		}
		if o := show(t, "-i", "of-b", filepath.Join(dir, name)); o.status != 0 || !strings.Contains(o.stdout, "GET /b") {
			t.Errorf("%s: status %d\n%s%s", name, o.status, o.stdout, o.stderr)
		}
		_, r := compared(t, 0, "--max", "--to", "new="+fresh.url, "--compare", filepath.Join(dir, name))
		if (len(r.Differences) == 0) != (name == "new") {
			t.Errorf("%s (%s) beside new: %+v", name, want, r.Differences)
		}
	}
}

// TestSeveralNewSystems has each its own differences, conditions included.
func TestSeveralNewSystems(t *testing.T) {
	s := newShop(5)
	old, a, b := s.version(t, nil), s.version(t, nil), s.version(t, dearer)
	o, r := compared(t, exitFailed, "--max", "-c", "4", "--to", "old="+old.url, "--to", "a="+a.url, "--to", "b="+b.url, "--compare", "--noise", "self",
		"--confirm", "off", "--fail", "diffs=0", requestsOfShop(t, 1000, nil))
	for _, d := range r.Differences {
		if d.Class.Counts() && d.Target != "b" {
			t.Errorf("got %+v", d)
		}
	}
	if len(r.Checks) != 2 || !r.Checks[0].OK || r.Checks[0].Target != "a" || r.Checks[1].OK || r.Checks[1].Value != "1" {
		t.Errorf("got checks %+v\n%s", r.Checks, o.stdout)
	}
	if r.Comparisons[0].Pairs != 1000 || r.Comparisons[1].Pairs != 1000 || r.Comparisons[0].Confirming != 0 {
		t.Errorf("got %+v", r.Comparisons)
	}
}

// TestAComparisonIsRestored judges a report that was read from its JSON.
func TestAComparisonIsRestored(t *testing.T) {
	fast := serve(t, func(w http.ResponseWriter, _ *http.Request) { time.Sleep(time.Millisecond) })
	slow := serve(t, func(w http.ResponseWriter, _ *http.Request) { time.Sleep(4 * time.Millisecond) })
	_, r := compared(t, exitFailed, fast.url, "-n", "500", "-c", "8", "--to", "old="+fast.url, "--to", "new="+slow.url, "--compare",
		"--fail", "p50<1.1x old", "--fail", "p50<1000x old", "--fail", "pairs=500", "--fail", "diffs=0")
	checks := r.Checks
	if len(checks) != 4 || checks[0].OK || !checks[1].OK || !checks[2].OK || !checks[3].OK || !strings.HasPrefix(checks[0].Value, "at least ") {
		t.Errorf("got %+v", checks)
	}
	r.Checks = nil
	var conditions []report.Condition
	for _, c := range checks {
		condition, err := report.ParseCondition(c.Condition)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, condition)
	}
	if r.Judge(conditions); !slices.Equal(r.Checks, checks) {
		t.Errorf("read again it is judged %+v instead of %+v", r.Checks, checks)
	}
	if median := r.Comparisons[0].Latency.Median; median <= 0 {
		t.Errorf("new is slower by %v", median)
	}
}

// TestComparedOverHTTP2 has two servers with TLS that differ in one member, and
// only over HTTP/2.
func TestComparedOverHTTP2(t *testing.T) {
	version := func(price int) string {
		return serveWay(t, true, func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 {
				price = 0
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"price":%d,"stock":7}`, price)
		})
	}
	o, r := compared(t, exitFailed, "--http2", "--insecure", "--max", "-c", "4", "--to", "old="+version(100), "--to", "new="+version(110),
		"--compare=old", "--noise", "self", "--fail", "diffs=0", requestsOfShop(t, 100, nil))
	if counting(r) != "$.price" || r.Differences[0].Old != "100" || r.Differences[0].New != "110" || len(r.Differences) != 1 ||
		r.Comparisons[0].Pairs != 100 || r.Targets[1].Errors != 0 {
		t.Errorf("these count: %s\n%s%s", counting(r), o.stdout, o.stderr)
	}
}
