// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package wiremock

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

var update = flag.Bool("update", false, "take the answers of the real WireMock for the expected ones")

// TestTablesAgainstTheJar holds that the expected answers of the tables are those
// of a real WireMock, which needs java and npm. With -update they are written anew.
func TestTablesAgainstTheJar(t *testing.T) {
	addr := peertest.WireMock(t, "testdata/jar", "--disable-gzip", "--disable-request-logging")
	for name, rowsOf := range tables {
		t.Run(name, func(t *testing.T) {
			var got []answers
			for _, r := range rowsOf(t) {
				got = append(got, answers{Row: r.name, Answers: r.theirs(t, addr)})
			}
			if *update {
				writeAnswers(t, name, got)
				return
			}
			var known []answers
			readLines(t, "testdata/jar/"+name+".answers.json", &known)
			if len(known) != len(got) {
				t.Fatalf("%d rows, %d answers: write them anew with -update", len(got), len(known))
			}
			for i := range got {
				if !slices.Equal(got[i].Answers, known[i].Answers) {
					t.Errorf("%s\ngot  %q\nheld %q", got[i].Row, got[i].Answers, known[i].Answers)
				}
			}
		})
	}
}

// theirs returns what WireMock answers.
func (r row) theirs(t *testing.T, addr string) (got []string) {
	t.Helper()
	response, err := http.Post("http://"+addr+"/__admin/mappings", "application/json", strings.NewReader(r.mapping))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		return []string{refused}
	}
	for _, e := range r.requests {
		a := askWireMock(t, addr, e.decoded(t))
		switch {
		case a.Unmatched:
			got = append(got, "unmatched")
		case a.Status == http.StatusInternalServerError:
			got = append(got, fails)
		default:
			got = append(got, fmt.Sprintf("%d %s", a.Status, a.Body))
		}
	}
	return got
}

// writeAnswers writes the answers of a table, one row a line.
func writeAnswers(t *testing.T, name string, all []answers) {
	t.Helper()
	lines := make([]string, len(all))
	for i, a := range all {
		lines[i] = strings.TrimSpace(marshal(t, a))
	}
	text := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	if err := os.WriteFile("testdata/jar/"+name+".answers.json", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
