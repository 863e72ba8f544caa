// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// stall is a service whose cookies, tokens and ids are its own.
type stall struct {
	secret string
	login  func(user string) bool // decides whether a login succeeds, unless it is nil
	moved  bool                   // the id of a cart has another name

	mu    sync.Mutex
	next  int
	carts map[string]string
	keys  []string // Idempotency-Key
}

func newStall(secret string, first int) *stall {
	return &stall{secret: secret, next: first, carts: make(map[string]string)}
}

func (s *stall) sign(text string) string {
	mac := hmac.New(sha256.New, []byte(s.secret))
	io.WriteString(mac, text)
	return hex.EncodeToString(mac.Sum(nil))[:24]
}

func (s *stall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/login" {
		user := string(body)
		if s.login != nil && !s.login(user) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: user + "." + s.sign(user)})
		http.SetCookie(w, &http.Cookie{Name: "lang", Value: "en"})
		fmt.Fprintf(w, `{"hello":"you"}`)
		return
	}
	sid, err := r.Cookie("sid")
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	user, mac, _ := strings.Cut(sid.Value, ".")
	if mac != s.sign(user) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch id := strings.TrimPrefix(r.URL.Path, "/carts/"); {
	case r.URL.Path == "/carts":
		s.next++
		s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
		s.carts[fmt.Sprint(s.next)] = user
		name := "cart"
		if s.moved {
			name = "number"
		}
		fmt.Fprintf(w, `{"%s":%d,"currency":"USD"}`, name, s.next)
	case s.carts[id] != user:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form action="/carts/%s"><input type="hidden" name="csrf" value="%s"></form>`, id, s.sign("csrf"+user+id))
	case string(body) != "csrf="+s.sign("csrf"+user+id):
		w.WriteHeader(http.StatusForbidden)
	default:
		fmt.Fprint(w, `{"ordered":true}`)
	}
}

// recordVisits has users visit a stall, and returns a recording of that.
func recordVisits(t *testing.T, users int) string {
	t.Helper()
	server := httptest.NewServer(newStall("one", 1000))
	defer server.Close()
	var all []*recording.Request
	for i := range users {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		at := origin + int64(i)*int64(20*time.Millisecond)
		ask := func(method, target, body, kind string) string {
			r, err := http.NewRequest(method, server.URL+target, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			rec := &recording.Request{
				ID: fmt.Appendf(nil, "u%d-%d", i, len(all)), Method: []byte(method), URI: []byte(target), Body: []byte(body), TimeNS: at, Host: []byte("stall.test"),
				Headers: []byte("Host: stall.test\r\nContent-Type: " + kind + "\r\n"),
			}
			if target == "/carts" {
				rec.Headers = append(rec.Headers, fmt.Sprintf("Idempotency-Key: key-%d\r\n", i)...)
			}
			if cookies := jar.Cookies(r.URL); len(cookies) > 0 {
				var line []string
				for _, c := range cookies {
					r.AddCookie(c)
					line = append(line, c.String())
				}
				rec.Headers = append(rec.Headers, "Cookie: "+strings.Join(line, "; ")+"\r\n"...)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			jar.SetCookies(r.URL, resp.Cookies())
			answer, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%s %s: %d, error %v", method, target, resp.StatusCode, err)
			}
			var fields bytes.Buffer
			resp.Header.Write(&fields) //nolint:errcheck // a Buffer takes everything
			rec.Response = &recording.Response{Status: resp.StatusCode, Headers: fields.Bytes(), Body: answer, BodySize: uint64(len(answer)), DurationNS: int64(time.Millisecond)}
			all = append(all, rec)
			at += int64(10 * time.Millisecond)
			return string(answer)
		}
		ask("POST", "/login", fmt.Sprintf("user-%d", i), "text/plain")
		var made struct{ Cart int }
		if err := json.Unmarshal([]byte(ask("POST", "/carts", `{"currency":"USD"}`, "application/json")), &made); err != nil {
			t.Fatal(err)
		}
		page := ask("GET", fmt.Sprintf("/carts/%d", made.Cart), "", "text/plain")
		csrf := regexp.MustCompile(`value="(\w+)"`).FindStringSubmatch(page)[1]
		ask("POST", fmt.Sprintf("/carts/%d", made.Cart), "csrf="+csrf, "application/x-www-form-urlencoded")
	}
	return writeRequests(t, "rec.fbf", all)
}

// reported runs the command and returns its report.
func reported(t *testing.T, args ...string) (outcome, *report.Report) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	o := replay(t, append(args, "--report", "text,json="+file)...)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: %+v", err, o)
	}
	r, err := report.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return o, r
}

// TestPercentIsOfSessions takes half of the sessions, whole ones and the same
// ones every time, also where links are read from a file and in every round. By
// records it cuts conversations apart.
func TestPercentIsOfSessions(t *testing.T) {
	rec := recordVisits(t, 60)
	file := filepath.Join(t.TempDir(), "links.json")
	if o := links(t, "-o", file, rec); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	sent := func(args ...string) (users map[string]int, o outcome, r *report.Report) {
		users = make(map[string]int)
		var mu sync.Mutex
		shop := newStall("two", 5000)
		target := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/login" {
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				users[string(body)]++
				mu.Unlock()
				r.Body = io.NopCloser(bytes.NewReader(body))
			}
			shop.ServeHTTP(w, r)
		})
		o, r = reported(t, append(args, "--to", target.url, rec)...)
		return users, o, r
	}
	var first map[string]int
	for _, args := range [][]string{
		{"--links", "auto", "--speed", "5"}, {"--links", file, "--max"}, {"--links", "auto", "--max", "--compare", "--noise", "self", "--fail", "diffs=0", "--ignore-json", "$.cart"},
	} {
		users, o, r := sent(append(args, "--percent", "50")...)
		target := r.Targets[0]
		if o.status != 0 || target.Unlinked != 0 || target.Requests != 4*int64(len(users)) || target.StatusClass(2) != target.Requests || len(users) < 15 || len(users) > 45 {
			t.Errorf("%v: %d users, %+v", args, len(users), o)
		}
		if first == nil {
			first = users
		}
		if !maps.EqualFunc(users, first, func(int, int) bool { return true }) {
			t.Errorf("%v: %v, and before %v", args, users, first)
		}
	}
	again, o, _ := sent("--links", file, "--max", "--percent", "50", "--loop", "-n", fmt.Sprint(8*len(first)))
	if n := slices.Collect(maps.Values(again)); o.status != 0 || len(again) != len(first) || slices.Min(n) != 2 || slices.Max(n) != 2 {
		t.Errorf("two rounds: %v, and before %v; %+v", again, first, o)
	}
	if o := replay(t, "--dry-run", "--links", "auto", "--percent", "50", "--max", "--to", "localhost:1", rec); !strings.Contains(o.stdout, fmt.Sprint(4*len(first))) {
		t.Errorf("%d requests are sent, and this says %+v", 4*len(first), o)
	}
}

// A server with other secrets answers what one answered before, if conversations
// are followed, and next to nothing if they are not: at any pace, over HTTP/2 as
// well, at two targets at once, and time after time.
func TestConversationsAreFollowed(t *testing.T) {
	rec := recordVisits(t, 20)
	one, other := newStall("two", 5000), newStall("three", 7000)
	a, b := serve(t, one.ServeHTTP), serve(t, other.ServeHTTP)
	if o := replay(t, "--speed", "5", "--to", a.url, rec); !regexp.MustCompile(`4xx +60\n`).MatchString(o.stdout) {
		t.Errorf("without links: %+v", o)
	}
	h2 := httptest.NewUnstartedServer(newStall("four", 2000))
	h2.EnableHTTP2 = true
	h2.StartTLS()
	t.Cleanup(h2.Close)
	for name, args := range map[string][]string{
		"recorded times":  {"--speed", "5", "--to", a.url, "--to", b.url},
		"max":             {"--max", "--to", a.url},
		"one connection":  {"--max", "-c", "1", "--to", a.url},
		"rate":            {"--rate", "400/s", "--to", a.url, "--fail", "unlinked=0"},
		"pauses":          {"--think", "recorded", "--speed", "5", "--to", a.url},
		"again and again": {"--loop", "-n", "200", "--max", "--to", a.url},
		"HTTP/2":          {"--max", "--http2", "--insecure", "--to", h2.URL},
		"compared":        {"--speed", "5", "--compare", "--noise", "self", "--fail", "diffs=0", "--ignore-json", "$.cart", "--to", a.url},
	} {
		o, r := reported(t, append(args, "--links", "auto", rec)...)
		if o.status != 0 || o.stderr != "" {
			t.Errorf("%s: %+v", name, o)
		}
		for _, target := range r.Targets {
			if n := target.StatusClass(2); n != target.Requests || n < 80 || target.Unlinked != 0 {
				t.Errorf("%s: %s: %d of %d requests\n%s", name, target.Name, n, target.Requests, o.stdout)
			}
			followed := make(map[string]int64)
			for _, l := range target.Links {
				followed[l.Consumer+" <- "+l.Producer] = l.Followed
			}
			for _, link := range []string{
				"GET /carts/* path 2 <- POST /carts json $.cart", "POST /carts/* path 2 <- POST /carts json $.cart",
				"POST /carts/* form csrf <- GET /carts/* html input csrf", "POST /carts cookie sid <- POST /login cookie sid",
			} {
				if followed[link] < target.Requests/4-5 { // the end may be within a conversation
					t.Errorf("%s: %s was followed %d times of %v", name, link, followed[link], followed)
				}
			}
		}
	}
	if len(one.keys) < 100 || len(other.keys) < 20 {
		t.Fatalf("%d and %d carts were made", len(one.keys), len(other.keys))
	}
	seen := make(map[string]int)
	for _, key := range one.keys {
		seen[key]++
	}
	for key, n := range seen {
		if n != 1 || strings.HasPrefix(key, "key-") {
			t.Errorf("the key %s was sent %d times", key, n)
		}
	}
	shared := 0
	for _, key := range other.keys {
		shared += seen[key]
	}
	if shared != 20 {
		t.Errorf("%d of 20 keys were the same at both targets", shared)
	}
}

// What follows a slow login is late, and nothing else; what follows one that
// fails is not sent, and no error.
func TestWhatFollowsALoginAlone(t *testing.T) {
	rec := recordVisits(t, 20)
	slow, failing := newStall("two", 5000), newStall("two", 5000)
	slow.login = func(user string) bool {
		if user == "user-3" {
			time.Sleep(1500 * time.Millisecond)
		}
		return true
	}
	failing.login = func(user string) bool { return user != "user-3" && user != "user-4" }
	_, r := reported(t, "--links", "auto", "--to", serve(t, slow.ServeHTTP).url, rec)
	if got := r.Targets[0]; got.StatusClass(2) != 80 || got.LateWaiting < 3 || got.Unlinked != 0 || got.Lateness.Max() < time.Second || got.Lateness.At(95) > time.Second {
		t.Errorf("%d were answered, %d waited, p95 is %v and max %v", got.StatusClass(2), got.LateWaiting, got.Lateness.At(95), got.Lateness.Max())
	}
	o, r := reported(t, "--links", "auto", "--by", "path", "--to", serve(t, failing.ServeHTTP).url, rec)
	got := r.Targets[0]
	if o.status != exitIncomplete || got.Unlinked != 6 || got.Errors != 0 || got.StatusClass(2) != 72 || got.StatusClass(5) != 2 {
		t.Errorf("%d are unlinked: %+v", got.Unlinked, o)
	}
	var ofClasses int64
	for _, c := range got.By {
		ofClasses += c.Unlinked
	}
	if ofClasses != 6 || !regexp.MustCompile(`unlinked +6\n`).MatchString(o.stdout) || !strings.Contains(o.stdout, "unlinked: what they follow failed") {
		t.Errorf("%d are unlinked in classes:\n%s", ofClasses, o.stdout)
	}
	for condition, status := range map[string]int{"unlinked<=6": 0, "unlinked<7.5%": exitFailed, "unlinked=7.5%": 0, "unlinked=0": exitFailed} {
		if o := replay(t, "--links", "auto", "--fail", condition, "--report", "csv", "--to", serve(t, failing.ServeHTTP).url, rec); o.status != status || !strings.Contains(o.stdout, ",max_ms,unlinked") {
			t.Errorf("%s: %+v", condition, o)
		}
	}
}

// A redirect that is followed goes with the cookie that came with it, and what was
// recorded after it as well.
func TestCookiesOfRedirects(t *testing.T) {
	serving := func(base, home string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == base+"/login" {
				http.SetCookie(w, &http.Cookie{Name: "sid", Value: "new-" + r.URL.RawQuery, Path: base + home})
				http.Redirect(w, r, base+home+"/"+r.URL.RawQuery, http.StatusSeeOther)
				return
			}
			sid, err := r.Cookie("sid")
			if err != nil || base+home+"/"+strings.TrimPrefix(sid.Value, "new-") != r.URL.Path {
				w.WriteHeader(http.StatusUnauthorized)
			}
		}
	}
	handler := serving("", "/home")
	var all []*recording.Request
	for i := range 20 {
		at, sid := origin+int64(i)*int64(20*time.Millisecond), fmt.Sprintf("old-%016x", i)
		add := func(method, target, fields string, status int, answer string) {
			all = append(all, &recording.Request{
				ID: fmt.Appendf(nil, "r%d", len(all)), Method: []byte(method), URI: []byte(target), TimeNS: at, Headers: []byte("Host: stall.test\r\n" + fields),
				Response: &recording.Response{Status: status, Headers: []byte(answer), DurationNS: 1e6},
			})
			at += int64(5 * time.Millisecond)
		}
		add("POST", fmt.Sprint("/login?", i), "", 303, "Set-Cookie: sid="+sid+"; Path=/home\r\nLocation: /home/"+fmt.Sprint(i)+"\r\n")
		add("GET", fmt.Sprint("/home/", i), "Cookie: sid="+sid+"\r\n", 200, "")
	}
	rec := writeRequests(t, "rec.fbf", all)
	h2 := httptest.NewUnstartedServer(handler)
	h2.EnableHTTP2 = true
	h2.StartTLS()
	t.Cleanup(h2.Close)
	for _, args := range [][]string{
		{"--to", serve(t, handler).url},
		{"--http2", "--insecure", "--to", h2.URL},
		{"--to", serve(t, serving("/v2", "/home")).url + "/v2"},
		{"--rewrite", "s#^/home#/start#", "--to", serve(t, serving("", "/start")).url},
	} {
		for redirects, want := range map[string]int64{"0": 20, "3": 40} {
			o, r := reported(t, append(args, "--links", "auto", "--max", "--redirects", redirects, rec)...)
			if got := r.Targets[0]; got.StatusClass(2) != want || got.StatusClass(4) != 0 || got.Unlinked != 0 {
				t.Errorf("%v, %s redirects: %d of %d are 2xx\n%s", args, redirects, got.StatusClass(2), got.Requests, o.stdout)
			}
		}
	}
}

// Of one session only what cannot be equal by chance is linked, and the report
// says what is not.
func TestOneSessionAlone(t *testing.T) {
	o, r := reported(t, "--links", "auto", "--to", serve(t, newStall("two", 5000).ServeHTTP).url, recordVisits(t, 1))
	if !r.Following {
		t.Error("the report does not say that conversations were followed")
	}
	linked := make(map[string]bool)
	for _, l := range r.Targets[0].Links {
		linked[l.Consumer] = true
	}
	if !linked["POST /carts cookie sid"] || !linked["POST /carts/* form csrf"] || linked["GET /carts/* path 2"] {
		t.Errorf("linked are %v", linked)
	}
	if len(r.NotLinked) == 0 || !strings.Contains(o.stdout, "GET /carts/* path 2 <- POST /carts json $.cart, of 1 session\n") || r.Targets[0].Unlinked != 1 {
		t.Errorf("not linked are %v, %d are unlinked:\n%s", r.NotLinked, r.Targets[0].Unlinked, o.stdout)
	}
}

// A value that is no longer where it was is named.
func TestWhatAChangeBrokeIsNamed(t *testing.T) {
	rec := recordVisits(t, 12)
	s := newStall("two", 5000)
	s.moved = true
	o, r := reported(t, "--links", "auto", "--to", serve(t, s.ServeHTTP).url, rec)
	var gone, failed int64
	for _, l := range r.Targets[0].Links {
		gone += l.Gone
		failed += l.Failed
	}
	for _, e := range r.Elsewhere { // each run makes it anew
		if strings.Contains(e.Consumer, "Idempotency-Key") {
			t.Errorf("%s is in no answer", e.Consumer)
		}
	}
	if gone+failed != r.Targets[0].Unlinked || gone < 12 || !strings.Contains(o.stdout, "the value is gone from the answer") {
		t.Errorf("%d are gone, %d failed, %d are unlinked:\n%s", gone, failed, r.Targets[0].Unlinked, o.stdout)
	}
	dir := t.TempDir()
	page, summary := filepath.Join(dir, "r.html"), filepath.Join(dir, "r.md")
	replay(t, "--links", "auto", "--report", "html="+page+",markdown="+summary, "--to", serve(t, s.ServeHTTP).url, rec)
	for _, name := range []string{page, summary} {
		if data, err := os.ReadFile(name); err != nil || !strings.Contains(string(data), "the value is gone from the answer") {
			t.Errorf("%s does not name it: %v", filepath.Base(name), err)
		}
	}
}

// Links that cannot be followed are said to be none.
func TestNothingToFollowIsSaid(t *testing.T) {
	rec := recordVisits(t, 2)
	target := serve(t, newStall("two", 5000).ServeHTTP)
	file := filepath.Join(t.TempDir(), "links.json")
	link := `{"consumer": {"endpoint": "GET /nowhere", "place": "query id"}, "producer": {"endpoint": "POST /carts", "place": "json $.cart"}}`
	for _, tc := range []struct{ file, session, err, out string }{
		{`{"version": 1, "session": ["cookie sid"], "links": [` + link + `]}`, "cookie nope", "no record has a session: nothing was followed", ""},
		{`{"version": 1, "session": ["cookie sid"], "links": []}`, "cookie sid", "links.json has no links", ""},
		{`{"version": 1, "session": ["cookie sid"], "links": [` + link + `]}`, "cookie sid", "", "GET /nowhere query id <- POST /carts json $.cart\n    no request that was sent has it\n"},
	} {
		if err := os.WriteFile(file, []byte(tc.file), 0o600); err != nil {
			t.Fatal(err)
		}
		o := replay(t, "--links", file, "--session", tc.session, "--to", target.url, rec)
		if !strings.Contains(o.stderr, tc.err) || !strings.Contains(o.stdout, tc.out) {
			t.Errorf("%+v: %+v", tc, o)
		}
	}
}

func TestFlagsAboutConversations(t *testing.T) {
	rec := write(t, "rec.fbf", 1, 0)
	bad := filepath.Join(t.TempDir(), "links.json")
	if err := os.WriteFile(bad, []byte("{\n\"version\": 1,\n\"link\": []}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--session bearer " + rec:                    "--session is about conversations: expected --links",
		"--think recorded " + rec:                    "--think is about conversations",
		"--fail unlinked=0 " + rec:                   "--fail 'unlinked=0' is about conversations",
		"--links auto --session moon " + rec:         "'moon' is not the key of a session",
		"--links auto --think long " + rec:           "'long' is not valid: expected recorded or none",
		"--links auto --think recorded --max " + rec: "expected --speed, not --max or --rate",
		"--links auto -n 1 http://localhost:1/":      "of which a URL has none",
		"--links auto " + rec:                        "of which the recording has none: expected --links FILE",
		"--links auto -":                             "cannot read standard input twice",
		"--links /no/file " + rec:                    "parsing --links: open /no/file",
		"--links " + bad + " " + rec:                 "links.json:3: member 'link' is not known",
	} {
		o := replayWith(t, t.Context(), strings.NewReader(""), append(strings.Fields(args), "--to", "localhost:1")...)
		if o.status != exitNotStarted || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", args, o)
		}
	}
}
