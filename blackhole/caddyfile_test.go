// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestCaddyfileBecomesJSON(t *testing.T) {
	for text, want := range map[string]string{
		"blackhole":                             `{}`,
		"blackhole {\n}":                        `{}`,
		"blackhole {\nstatus 404\npercent 0\n}": `{"status":404,"percent":0}`,
		`blackhole {
			name sink
			status 202
			header X-Tag one
			header x-tag two
			header Retry-After 7
			body "thank you"
			percent 12.5%
			record recordings
			express
		}`: `{"name":"sink","status":202,"headers":{"Retry-After":["7"],"X-Tag":["one","two"]},"body":"thank you","percent":12.5,"record":{"dir":"recordings"},"express":true}`,
	} {
		var h Handler
		if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := json.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		if want := compact(t, want); string(got) != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
		var again Handler
		if err := json.Unmarshal(got, &again); err != nil {
			t.Errorf("reading %s: %v", got, err)
		}
		if twice, _ := json.Marshal(&again); string(twice) != string(got) {
			t.Errorf("got %s, read again %s", got, twice)
		}
	}
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimSpace(line))
	}
	return out.String()
}

func TestBadOptionsAreRefusedWithTheirLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for options, want := range map[string]string{
		"status 99":                    "parsing status: '99' is not the status of an answer: expected 200 to 599, at Caddyfile:4",
		"status 100":                   "parsing status",
		"status 600":                   "parsing status",
		"status ok":                    "parsing status",
		"status":                       "wrong argument count",
		"header X":                     "wrong argument count",
		"header X: y":                  "parsing header: 'X:' is not a header field name, at Caddyfile:4",
		"header Content-Length 3":      "parsing header: Content-Length is set by the server",
		"percent 101":                  "parsing percent: '101' is not a percentage",
		"percent -1":                   "parsing percent",
		"body a\nbody b":               "body already specified, at Caddyfile:5",
		"rekord x":                     "unrecognized blackhole option 'rekord': expected one of body, express, header, name, percent, record, status, at Caddyfile:4",
		"express on":                   "wrong argument count",
		"record":                       "wrong argument count",
		"record a b":                   "wrong argument count",
		"record a\nrecord b":           "record already specified",
		"record " + file:               "record: " + file + " is not a directory, at Caddyfile:4",
		"record " + file + "/below":    "not a directory, at Caddyfile:4",
		"record a {\nrotate_size 0\n}": "parsing rotate_size: must be greater than 0, is '0', at Caddyfile:5",
		"record a {\nkeep never\n}":    "parsing keep: 'never' is neither a number of files, an age like 7d nor a size like 50GiB, at Caddyfile:5",
		"record a {\nmode 0999\n}":     "parsing mode: '0999' is not a file mode: expected an octal number like 0600, at Caddyfile:5",
		"record a {\nrotate 1h\n}":     "unrecognized record option 'rotate': expected one of compression, flush_every, keep, max_body, memory, mode, on_overflow, original_uri, prefix, redact, redact_hash, redact_json, redact_json_hash, redact_key, redact_query, redact_query_hash, rotate_every, rotate_size, store, at Caddyfile:5",
	} {
		_, err := caddytest.Adapt(site("127.0.0.1:1", "blackhole {\n"+options+"\n}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", options, err, want)
		}
	}
	if _, err := caddytest.Adapt(site("127.0.0.1:1", "blackhole x y")); err == nil {
		t.Error("an argument was accepted")
	}
}

func TestBadJSONIsRefusedNamingTheField(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := caddytest.Run(t, site(caddytest.Addr(t), "respond ok"))
	for handler, want := range map[string]string{
		`"status":99`:                     "status: '99' is not the status of an answer: expected 200 to 599",
		`"headers":{"A b":["c"]}`:         "headers: 'A b'",
		`"record":{}`:                     "record: a directory is needed",
		`"record":{"dir":"` + file + `"}`: "is not a directory",
		`"record":{"dir":"{env.BLACKHOLE_TEST_UNSET_DIR}/x"}`: "record: ",
		`"record":{"dir":"a","rotate_size":-1}`:               "size",
		`"record":{"dir":"a","rotate_every":-1}`:              "rotate_every: must be greater than 0",
		`"record":{"dir":"a","max_body":"1GiB"}`:              "max_body: must be from 1 byte to 256 MiB",
		`"record":{"dir":"a","prefix":"../x"}`:                "record: prefix: ",
		`"record":{"dir":"a","keep":["never"]}`:               "never",
		`"record":{"dir":"a","keep":["5",null]}`:              "keep: a rule is empty: expected a number of files, an age or a size",
		`"record":{"dir":"a","rotate_size":"big"}`:            "record.rotate_size",
		`"record":{"dir":"a","rotate_every":"soon"}`:          "record.rotate_every",
		`"record":{"dir":"a","compression":"zip"}`:            "record.compression",
		`"percent":101`:                               "'101' is not a percentage: expected a number from 0 to 100) into Go struct field Handler.percent",
		`"record":{"dir":"a","redact":["a b"]}`:       "redact: 'a b' is not a header field name",
		`"record":{"dir":"a","redact_json":["$[0]"]}`: "redact_json: '$[0]' is not a JSON path",
		`"record":{"dir":"a","original_uri":"a b"}`:   "original_uri: 'a b' is not a header field name",
		`"record":{"dir":"a","mode":"0999"}`:          "0999",
		`"record":{"dir":"a","compressoin":"none"}`:   "compressoin",
	} {
		config := `{"apps":{"http":{"servers":{"s":{"listen":["127.0.0.1:0"],"routes":[{"handle":[{"handler":"blackhole",` + handler + `}]}]}}}}}`
		if err := s.LoadJSON([]byte(config)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", handler, err, want)
		}
	}
}
