// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// What can't be is said in one line before anything is sent.
func TestBadFlags(t *testing.T) {
	path := write(t, "a.fbf", 1, 0)
	s := serve(t, nil)
	past := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	for args, want := range map[string]string{
		"--rate 0":                              "'0' is not a rate: expected a number above 0",
		"--rate -5":                             "'-5' is not a rate",
		"--rate infinity":                       "'infinity' is not a rate",
		"--rate 10/0s":                          "'10/0s' is not a rate",
		"--speed x":                             "'x' is not a speed: expected a factor above 0",
		"--speed 2x --rate 5/s":                 "--speed and --rate exclude one another",
		"--max --rate 5/s":                      "--rate and --max exclude one another",
		"--to ::1":                              "needs brackets",
		"--to ftp://x":                          "scheme 'ftp'",
		"--to localhost:80/path?a=b":            "queries come from the recording",
		"--to a=localhost:1 --to a=localhost:2": "two targets are called a",
		"-c 0":                                  "not a number from 1 to",
		"-c 5 -t 5":                             "mean the same",
		"-n 0":                                  "not a number above 0",
		"-n 5 -r 5":                             "mean the same",
		"--timeout -1s":                         "'-1s' is not a duration above 0",
		"--timeout 5":                           "'5' is not a duration",
		"--duration 0":                          "'0' is not a duration",
		"-m -1ms":                               "'-1ms' is not a delay",
		"--start-at " + past:                    "has passed",
		"--start-at noon":                       "'noon' is not a time",
		"--percent 101":                         "not a percentage",
		"--percent -1":                          "not a percentage",
		"--host a/b":                            "is not preserve, target or a host",
		"--header nothing":                      "expected 'Name: value'",
		"--header Host:x":                       "--host",
		"--header Content-Length:5":             "follows from the body",
		"--remove-header Connection":            "--no-keepalive",
		"--redirects -1":                        "not a number from 0 to",
		"--by colour":                           "expected path, method or status",
		"--report pdf":                          "expected text, json, csv, junit, markdown or html",
		"--report json=":                        "names no file",
		"--report json --report text":           "two reports go to standard output",
		"--fail p99":                            "expected one like p99<250ms",
		"--dry-run --test":                      "exclude one another",
		"--extract x -f":                        "mean the same",
		"-o x":                                  "--output-directory is for --extract-to-file",
		"--since yesterday":                     "is not a time",
		"--nonsense":                            "unknown flag: --nonsense",
		"--by path --by method":                 "it is given twice",
		"--report json=a.json,pdf":              "'pdf' is not a form of report",
		"--report json,csv":                     "two reports go to standard output",
		"--fail p0<1ms":                         "there is no figure 'p0'",
		"--loop -":                              "cannot read standard input a second time",
		"--loop " + os.DevNull:                  "cannot read " + os.DevNull + " a second time",
		"http://localhost/":                     "a URL stands alone",
	} {
		o := replay(t, append(strings.Fields(args), "--to", s.url, path)...)
		line := strings.TrimSuffix(o.stderr, "\n")
		if o.status != exitNotStarted || !strings.Contains(line, want) || strings.Contains(line, "\n") || o.stdout != "" {
			t.Errorf("%s: status %d\n%s%s", args, o.status, o.stdout, o.stderr)
		}
	}
	if n := len(s.got()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestBadArguments(t *testing.T) {
	path := write(t, "a.fbf", 1, 0)
	for args, want := range map[string]string{
		"":                                "nothing to send",
		path:                              "no target: expected --to",
		"127.0.0.1:8082 -n 3":             "like http://127.0.0.1:8082",
		"http://localhost/":               "expected --requests or --duration",
		"http://localhost/ -n 5 --loop":   "of which a URL has none",
		"http://localhost/ -n 5 --path /": "of which a URL has none",
		"http:// -n 5":                    "has no host",
		"ftp://x/":                        "expected http:// or https:// instead of ftp://",
		"--test http://localhost/":        "a URL is no recording",
		"--to localhost:1 none/*":         "matches no file",
	} {
		o := replay(t, strings.Fields(args)...)
		if o.status != exitNotStarted || !strings.Contains(o.stderr, want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: status %d: %s", args, o.status, o.stderr)
		}
	}
}

// What may have been meant is said.
func TestFlagsThatAreMistaken(t *testing.T) {
	for args, want := range map[string]string{
		"--durations 3s x":    "unknown flag: --durations: did you mean --duration? (see caddy replay --help)",
		"--conections 3 x":    "unknown flag: --conections: did you mean --connections? (see caddy replay --help)",
		"--zzzzzz x":          "unknown flag: --zzzzzz (see caddy replay --help)",
		"show --metod GET x":  "unknown flag: --metod: did you mean --method? (see caddy replay show --help)",
		"-c 0 x":              "see caddy replay --help",
		"-H Authorization:+x": "expected --header 'Authorization: x'",
	} {
		words := strings.Fields("replay " + args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "+", " ")
		}
		out, err := caddytest.Command(t, words...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: %v: %s", args, err, out)
		}
	}
}

func TestHelpFitsItsTerminal(t *testing.T) {
	for _, args := range [][]string{{"replay", "--help"}, {"replay", "show", "--help"}, {"replay", "links", "--help"}} {
		out, err := caddytest.Command(t, args...).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if n := utf8.RuneCountInString(line); n > 81 {
				t.Errorf("%v: %d columns: %s", args, n, line)
			}
		}
		if args[1] == "--help" && (!strings.Contains(string(out), "errors, late, 1xx … 5xx") || !strings.Contains(string(out), "docs/replay.md")) {
			t.Errorf("got %s", out)
		}
	}
}

func TestReportsBetweenCommas(t *testing.T) {
	for text, want := range map[string]string{
		"text":                        "text=",
		"json=a.json,csv=b.csv":       "json=a.json csv=b.csv",
		"json=a,b.json,text":          "json=a,b.json text=",
		"csv=dir/a,text/b.csv,json=c": "csv=dir/a,text/b.csv json=c",
	} {
		outputs, err := parseOutputs(text)
		var got []string
		for _, o := range outputs {
			got = append(got, o.form.Name+"="+o.file)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, error %v", text, got, err)
		}
	}
}
