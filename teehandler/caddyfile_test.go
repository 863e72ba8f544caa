// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

const everyOption = `tee http://127.0.0.1:9002 {
	name shop
	to [::1]:9003 unix//run/shadow.sock
	handle {
		reverse_proxy 127.0.0.1:9004
	}
	percent 12.5%
	sample_by cookie session
	rate_limit 50/s
	timeout 2s
	concurrency 8
	queue 0
	max_body 2MiB
	body off
	host {http.request.host}.shadow
	header_up X-Shadow 1
	header_up +X-More 2
	header_up -X-Less
	header_up X-Change a(.) b$1
	forward_client_ip
	close_connections
	tls_insecure_skip_verify
	tls_server_name shadow.test
	only_status 2xx 304
	record recordings {
		max_body 1MiB
		redact Authorization
	}
}
`

const everyOptionJSON = `{
	"handler": "tee",
	"name": "shop",
	"to": ["http://127.0.0.1:9002", "[::1]:9003", "unix//run/shadow.sock"],
	"handle": [[{"handle": [{"handler": "reverse_proxy", "upstreams": [{"dial": "127.0.0.1:9004"}]}]}]],
	"percent": 12.5,
	"sample_by": "cookie session",
	"rate_limit": "50/s",
	"timeout": 2000000000,
	"concurrency": 8,
	"queue": 0,
	"max_body": "2MiB",
	"body": "off",
	"host": "{http.request.host}.shadow",
	"header_up": {
		"add": {"X-More": ["2"]},
		"set": {"X-Shadow": ["1"]},
		"delete": ["X-Less"],
		"replace": {"X-Change": [{"search_regexp": "a(.)", "replace": "b$1"}]}
	},
	"forward_client_ip": true,
	"close_connections": true,
	"tls": {"insecure_skip_verify": true, "server_name": "shadow.test"},
	"only_status": ["2xx", 304],
	"record": {"dir": "recordings", "max_body": "1MiB", "redact": ["Authorization"]}
}`

func TestCaddyfileBecomesJSON(t *testing.T) {
	config, err := caddytest.Adapt(":9000 {\n" + everyOption + "}\n")
	if err != nil {
		t.Fatal(err)
	}
	var adapted struct {
		Apps struct {
			HTTP struct {
				Servers map[string]struct {
					Routes []struct{ Handle []json.RawMessage }
				}
			}
		}
	}
	if err := json.Unmarshal(config, &adapted); err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(
		json.Unmarshal(adapted.Apps.HTTP.Servers["srv0"].Routes[0].Handle[0], &got),
		json.Unmarshal([]byte(everyOptionJSON), &want),
	); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestTrustPoolIsAModule(t *testing.T) {
	cert, _ := certificate(t)
	if err := caddytest.Validate(":9000 {\ntee https://localhost {\ntls_trust_pool file " + cert + "\n}\n}\n"); err != nil {
		t.Error(err)
	}
}

func TestEveryOptionIsValid(t *testing.T) {
	if err := caddytest.Validate(":9000 {\n" + everyOption + "}\n"); err != nil {
		t.Error(err)
	}
}

func TestCaddyfileErrorsNameOptionAndLine(t *testing.T) {
	for options, want := range map[string]string{
		"percent 101":                     "parsing percent: '101' is not a percentage",
		"percent -1":                      "parsing percent: '-1' is not a percentage",
		"percent":                         "wrong argument count",
		"percent 1\npercent 2":            "percent already specified",
		"no_such_word":                    "unrecognized tee option 'no_such_word'",
		"record":                          "wrong argument count",
		"record a {\nkeep 0\n}":           "parsing keep: '0' would keep nothing",
		"record a\nrecord b":              "record already specified",
		"compares":                        "unrecognized tee option 'compares'",
		"compare now":                     "wrong argument count",
		"compare {\nmax_body 1GiB\n}":     "parsing max_body: at most 64 MiB of a body can be compared",
		"compare {\nignore_header a:b\n}": "'a:b' is not a header field name",
		"timeout 5 sec":                   "wrong argument count",
		"timeout soon":                    "parsing timeout",
		"timeout 0":                       "parsing timeout: must be greater than 0, is '0'",
		"timeout -1s":                     "parsing timeout: must be greater than 0, is '-1s'",
		"max_body lots":                   "parsing max_body",
		"queue -1":                        "parsing queue: '-1' is not valid: expected a number of at least 0",
		"concurrency 0":                   "parsing concurrency: '0' is not valid: expected a number of at least 1",
		"rate_limit 5":                    "parsing rate_limit: '5' is not a rate",
		"rate_limit 0/s":                  "parsing rate_limit: '0/s' is not a rate",
		"sample_by":                       "wrong argument count",
		"sample_by moon":                  "parsing sample_by: 'moon' is not a key",
		"sample_by header":                "parsing sample_by: 'header' is not a key",
		"body on":                         "parsing body: 'on' is not valid",
		"only_status 600":                 "parsing only_status: '600' is not a status",
		"only_status":                     "wrong argument count",
		"forward_client_ip yes":           "wrong argument count",
		"header_up":                       "wrong argument count",
		"header_up ?X 1":                  "parsing header_up",
		"handle {\n}":                     "handle has no directives",
		"handle {\nno_directive\n}":       "unrecognized directive: no_directive",
		"to":                              "wrong argument count",
	} {
		t.Run(options, func(t *testing.T) {
			_, err := caddytest.Adapt(":9000 {\n\ttee localhost:9002 {\n" + options + "\n}\n}\n")
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Caddyfile:") {
				t.Errorf("got error %v, want one with %q and the line", err, want)
			}
		})
	}
	if _, err := caddytest.Adapt(":9000 {\n\ttee\n}\n"); err == nil || !strings.Contains(err.Error(), "no shadow") {
		t.Errorf("a tee without shadows gave %v", err)
	}
}

func TestValuesAreCheckedAtLoad(t *testing.T) {
	for options, want := range map[string]string{
		"to ftp://a.test":                    "scheme 'ftp' is not valid",
		"to tcp/1.2.3.4:80":                  "network 'tcp' is not valid",
		"to unix+h2c//x":                     "network 'unix+h2c' is not valid",
		"to *:80":                            "host '*' is not valid",
		"to a.test:0":                        "port '0' is not valid",
		"to a.test:99999":                    "port '99999' is not valid",
		"to http://":                         "no host",
		"to ::1":                             "brackets",
		"to a.test:70000":                    "port",
		"to http://u:p@a.test":               "header_up Authorization",
		"to http://a.test?x=1":               "only a path",
		"to unix//":                          "no path to a socket",
		"to {env.NO_SUCH_VARIABLE}":          "NO_SUCH_VARIABLE",
		"to {http.request.host}":             "http.request.host",
		"host target\nheader_up Host a.test": "host and a header_up of Host",
		"header_up X-A ( b":                  "header_up",
		"name \"a\nb\"":                      "name",
	} {
		t.Run(options, func(t *testing.T) {
			err := caddytest.Validate(":9000 {\ntee localhost:9002 {\n" + options + "\n}\n}\n")
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want one with %q", err, want)
			}
		})
	}
}

func TestJSONIsChecked(t *testing.T) {
	for fields, want := range map[string]string{
		`"to": []`:                                       "no shadow",
		`"to": ["a"], "percent": 101`:                    "not a percentage: expected a number from 0 to 100) into Go struct field Handler.percent",
		`"to": ["a"], "percent": "12%"`:                  "",
		`"to": ["a"], "timeout": -1`:                     "timeout",
		`"to": ["a"], "timeout": "soon"`:                 "duration",
		`"to": ["a"], "queue": -1`:                       "queue",
		`"to": ["a"], "concurrency": -1`:                 "concurrency",
		`"to": ["a"], "max_body": -5`:                    "not a size",
		`"to": ["a"], "body": "on"`:                      "body",
		`"to": ["a"], "only_status": [2,304]`:            "",
		`"to": ["a"], "only_status": [7]`:                "not a status",
		`"to": ["a"], "sample_by": "moon"`:               "not a key",
		`"record": {"dir": "a"}`:                         "",
		`"record": {}`:                                   "record: a directory is needed",
		`"record": {"dir": "a", "max_body": "1GiB"}`:     "record: max_body: must be from",
		`"to": ["a"], "compare": {"save": {}}`:           "compare: save: a directory is needed",
		`"record": {"dir": "a", "on_overflow": "block"}`: "on_overflow block would have clients wait",
	} {
		err := validateJSON(fields)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got error %v, want %q", fields, err, want)
		}
	}
}
