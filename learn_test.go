// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package rehearsal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// conversationsOfShop writes a recording of a shop with an outage of a minute.
func conversationsOfShop(t *testing.T) string {
	t.Helper()
	var e recording.Encoder
	var data []byte
	add := func(at time.Duration, method, target string, status int, took time.Duration, header, body string) {
		data = e.Append(data, &recording.Request{
			Method: []byte(method), URI: []byte(target), Host: []byte("shop.test"), Headers: []byte("Host: shop.test\r\n"), Remote: []byte("10.0.0.1:1"),
			TimeNS: 1_800_000_000_000_000_000 + int64(at),
			Response: &recording.Response{
				Status: status, DurationNS: int64(took), Headers: []byte("Content-Type: application/json\r\n" + header), Body: []byte(body), BodySize: uint64(len(body)),
			},
		})
	}
	for i := range 3_600 {
		at := time.Duration(i) * 50 * time.Millisecond
		took := time.Duration(20+i*7919%50) * time.Millisecond
		if down := at >= time.Minute && at < 2*time.Minute; down && i%4 > 0 {
			add(at, "GET", fmt.Sprintf("/items/%d?ts=%d", i%100, i), 503, 2*took, "Retry-After: 1\r\n", `{"error": "overloaded"}`)
		} else {
			add(at, "GET", fmt.Sprintf("/items/%d?ts=%d", i%100, i), 200, took, "", fmt.Sprintf(`{"item": %d, "name": "kettle"}`, i%100))
		}
		if i%10 == 0 {
			add(at, "POST", "/orders", 201, took, "", `{"order": 1}`)
		}
	}
	name := filepath.Join(t.TempDir(), "shop.fbf")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// learnFrom runs the command, and returns what it wrote and its exit status.
func learnFrom(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs strings.Builder
	cmd := caddytest.Command(t, append([]string{"replay", "learn"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, failed := err.(*exec.ExitError); err != nil && !failed { //nolint:errorlint // as it is returned
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestLearn learns from a recording in every form, loads what was learned, and
// holds the grade to be what it should.
func TestLearn(t *testing.T) {
	shop := conversationsOfShop(t)
	text, grade, status := learnFrom(t, "--fail", "match>=0.99", "--fail", "mix<0.05", "--fail", "ks<0.3", shop)
	if status != 0 || !strings.Contains(grade, "match 1.0000") || strings.Contains(grade, "{") {
		t.Errorf("status %d:\n%s\n%s", status, grade, text)
	}
	if again, graded, _ := learnFrom(t, shop); again != text || graded != grade {
		t.Errorf("learned twice, it is\n%s\n%s\nand\n%s\n%s", text, grade, again, graded)
	}
	if formatted := string(caddyfile.Format([]byte(text))); formatted != text {
		t.Errorf("caddy fmt would make of it\n%s\nit is\n%s", formatted, text)
	}
	for _, want := range []string{"path_regexp ^/items/[^/]+$", "path /orders", "stage 1m {", "stage 2m {", "# n=1,200", "outcome 503", "header Retry-After 1", "p50=", "p99=", "n=900"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	addr := caddytest.Addr(t)
	caddytest.Run(t, strings.Replace(text, ":8080 {", "http://"+addr+" {", 1))
	for path, want := range map[string]string{"/items/7": `200 {"item": 0, "name": "kettle"}`, "/none": "404 not in the recording"} {
		if got := asked(t, http.DefaultClient, "HTTP/1.1", "GET", "http://"+addr+path, ""); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	for _, form := range []string{"recipe", "wiremock"} {
		file := filepath.Join(t.TempDir(), "learned.json")
		_, grade, status := learnFrom(t, "--as", form, "-o", file, "--fail", "match>=0.99", shop)
		if status != 0 || !strings.Contains(grade, "graded by 3960 requests") {
			t.Errorf("%s: status %d:\n%s", form, status, grade)
		}
		option := map[string]string{"recipe": "simulator * " + file, "wiremock": "simulator {\nmappings " + file + "\n}"}[form]
		if err := caddytest.Validate("http://" + addr + " {\n" + option + "\n}\n"); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
	if _, grade, status := learnFrom(t, "--fail", "match>1", shop); status != 4 || !strings.Contains(grade, "failed: match>1") {
		t.Errorf("status %d:\n%s", status, grade)
	}
	if _, errs, status := learnFrom(t, "--fail", "p99<1s", shop); status != 1 || !strings.Contains(errs, "expected match, mix or ks") {
		t.Errorf("status %d:\n%s", status, errs)
	}
}

// TestLearnedSimulatorTellsApart learns from a service whose answers hang on the
// members of bodies, come in an order, and have several bodies, and asks what was
// learned for each.
func TestLearnedSimulatorTellsApart(t *testing.T) {
	var e recording.Encoder
	var data []byte
	long := strings.Repeat("a line of a page\n", 20)
	for i := range 400 {
		add := func(method, target, header, body string, status int, answer string) {
			data = e.Append(data, &recording.Request{
				Method: []byte(method), URI: []byte(target), Host: []byte("shop.test"), Headers: []byte("Host: shop.test\r\n" + header), Remote: []byte("10.0.0.1:1"),
				TimeNS: 1_800_000_000_000_000_000 + int64(i)*int64(10*time.Millisecond), Body: []byte(body), BodySize: uint64(len(body)),
				Response: &recording.Response{Status: status, DurationNS: int64(time.Millisecond), Body: []byte(answer), BodySize: uint64(len(answer))},
			})
		}
		currency := []string{"EUR", "JPY", "a{b} c`"}[i/2%3]
		quoted, _ := json.Marshal(currency)
		add("POST", "/prices", "Content-Type: application/json\r\n", fmt.Sprintf(`{"n": %d, "currency": %s, "gift": %t}`, i, quoted, i%2 == 0), 200+i%2, "in "+currency)
		add("POST", "/form", "Content-Type: application/x-www-form-urlencoded\r\n", fmt.Sprintf("n=%d&a+place=%s", i, url.QueryEscape(currency)), 200, "at "+currency)
		add("GET", "/pages", "", "", 200, fmt.Sprint(i%2, "\n", long))
		state := "pending"
		if i%4 >= 2 {
			state = "done"
		}
		add("GET", fmt.Sprintf("/jobs/%d", i/4), "", "", 200, state)
	}
	name := filepath.Join(t.TempDir(), "shop.fbf")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "Caddyfile")
	if _, grade, status := learnFrom(t, "-o", file, "--fail", "match>=1", "--fail", "mix<=0", name); status != 0 {
		t.Fatalf("status %d\n%s", status, grade)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if formatted := string(caddyfile.Format(text)); formatted != string(text) {
		t.Errorf("caddy fmt would make of it\n%s\nit is\n%s", formatted, text)
	}
	addr := caddytest.Addr(t)
	caddytest.Run(t, strings.Replace(string(text), ":8080 {", "http://"+addr+" {", 1))
	for _, test := range []struct{ method, path, body, want string }{
		{"POST", "/prices", `{"currency":"EUR","gift":true}`, "200 in EUR"},
		{"POST", "/prices", "{\"gift\": false,\n \"n\": 7, \"currency\" : \"JPY\"}", "201 in JPY"},
		{"POST", "/prices", "{\"gift\": true, \"currency\": \"a{b} c`\" }", "200 in a{b} c`"},
		{"POST", "/form", "a+place=JPY&n=3", "200 at JPY"},
		{"POST", "/form", "n=3&a%20place=a{b}%20c%60", "200 at a{b} c`"},
		{"GET", "/jobs/4711", "", "200 pending"},
		{"GET", "/jobs/4711", "", "200 pending"},
		{"GET", "/jobs/4711", "", "200 done"},
		{"GET", "/jobs/4712", "", "200 pending"},
		{"GET", "/jobs/4711", "", "200 done"},
	} {
		if got := asked(t, http.DefaultClient, "HTTP/1.1", test.method, "http://"+addr+test.path, test.body); got != test.want {
			t.Errorf("%s %s: got %q, want %q", test.path, test.body, got, test.want)
		}
	}
	pages := make(map[string]int)
	for range 200 {
		pages[asked(t, http.DefaultClient, "HTTP/1.1", "GET", "http://"+addr+"/pages", "")]++
	}
	if n := pages["200 0\n"+long]; len(pages) != 2 || n < 60 || n > 140 {
		t.Errorf("of 200 pages %d are the first one, of %d", n, len(pages))
	}
	if t.Failed() {
		t.Logf("learned\n%s", text)
	}
}

// TestLearnOddPaths has requests for paths that Caddy unescapes and cleans answered
// as they were, in every form.
func TestLearnOddPaths(t *testing.T) {
	var e recording.Encoder
	var data []byte
	paths := []string{"/new%20item", "/caf%C3%A9", "/what%3F", "/of%2Ftwo", "//twice", "/a//Shop", "/a/./dot", "/a/../up", "/up", "/.hidden/..x/", "/plain/", "/r%C3%A9sum%C3%A9/*/new%20one"}
	for n := range 10 * len(paths) {
		i := n % len(paths)
		path := paths[i]
		if path == "/r%C3%A9sum%C3%A9/*/new%20one" {
			path = strings.ReplaceAll(path, "*", fmt.Sprint(n))
		}
		data = e.Append(data, &recording.Request{
			Method: []byte("GET"), URI: []byte(path), Host: []byte("shop.test"), Headers: []byte("Host: shop.test\r\n"), TimeNS: 1_800_000_000_000_000_000,
			Response: &recording.Response{Status: 500 + i, DurationNS: int64(time.Millisecond), Body: []byte(path), BodySize: uint64(len(path))},
		})
	}
	name := filepath.Join(t.TempDir(), "shop.fbf")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"caddyfile", "recipe", "wiremock"} {
		if text, grade, status := learnFrom(t, "--as", form, "--fail", "match>=1", name); status != 0 {
			t.Errorf("as %s: status %d\n%s\n%s", form, status, grade, text)
		}
	}
}

// TestLearnFromACutRecording learns from the whole records of a file that ends
// within one, and says so by a warning and the exit status. A condition that does
// not hold comes first.
func TestLearnFromACutRecording(t *testing.T) {
	shop := conversationsOfShop(t)
	whole, err := os.Stat(shop)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		length         int64
		fail           string
		status         int
		stderr, stdout string
	}{
		{whole.Size()/3 + 7, "match>=0.99", 3, " whole records: unexpected EOF\n", "path_regexp ^/items/[^/]+$"},
		{whole.Size()/3 + 7, "match>1", 4, "failed: match>1", "path_regexp ^/items/[^/]+$"},
		{100, "match>=0.99", 1, "nothing to learn from: there are no records\n", ""},
	} {
		if err := os.Truncate(shop, test.length); err != nil {
			t.Fatal(err)
		}
		text, errs, status := learnFrom(t, "--fail", test.fail, shop)
		if status != test.status || !strings.Contains(errs, shop+": recording is cut off at byte ") || !strings.Contains(errs, test.stderr) ||
			!strings.Contains(text, test.stdout) || (text == "") != (test.stdout == "") {
			t.Errorf("%d bytes, %s: status %d\n%s\n%s", test.length, test.fail, status, errs, text)
		}
	}
}
