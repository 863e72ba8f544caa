// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// closeTogether is how far apart simulators with one clock may change stages.
const closeTogether = 50 * time.Millisecond

// TestSimulatorsShareAClock starts three Caddys at different moments. They change
// stages together: at first by the recipe's start, then by a restart that all were
// told of.
func TestSimulatorsShareAClock(t *testing.T) {
	start := time.Now().Add(8 * time.Second).Truncate(time.Millisecond)
	var sites, admins []string
	for i := range 3 {
		site, admin := caddytest.Addr(t), caddytest.Addr(t)
		sites, admins = append(sites, "http://"+site+"/"), append(admins, admin)
		file := filepath.Join(t.TempDir(), "Caddyfile")
		if err := os.WriteFile(file, fmt.Appendf(nil, "{\n\tadmin %s\n\tpersist_config off\n}\nhttp://%s {\n\tsimulator {\n\t\tname shared\n\t\tstart %s\n\t\tstage 0s 200\n\t\tstage 1s 503\n\t}\n}\n",
			admin, site, start.Format(time.RFC3339Nano)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := caddytest.Command(t, "run", "--config", file).Start(); err != nil {
			t.Fatal(err)
		}
		for status(sites[i]) == 0 { // the next one starts later than this one by as long as this one takes
			time.Sleep(time.Millisecond)
		}
	}
	together(t, sites, start.Add(time.Second))

	at := time.Now().Add(2 * time.Second).Truncate(time.Millisecond)
	for _, admin := range admins {
		resp, err := http.Post("http://"+admin+"/rehearsal/simulators/shared/restart?at="+url.QueryEscape(at.Format(time.RFC3339Nano)), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("got %s", resp.Status)
		}
	}
	together(t, sites, at.Add(time.Second))
}

// together holds that sites go from 200 to 503 at one moment. When one did is known to
// be between the last request that got 200 was sent and the first answer of 503 was
// there, so that a machine that stalls widens what is known and changes no verdict.
func together(t *testing.T, sites []string, at time.Time) {
	t.Helper()
	var wait sync.WaitGroup
	for _, site := range sites {
		wait.Go(func() {
			var asked time.Time
			for {
				sent := time.Now()
				got := status(site)
				if got == http.StatusServiceUnavailable {
					break
				}
				if got != http.StatusOK {
					t.Errorf("%s: got %d", site, got)
					return
				}
				asked = sent
				time.Sleep(2 * time.Millisecond)
			}
			answered := time.Now()
			if asked.IsZero() || asked.After(at.Add(closeTogether)) || answered.Before(at.Add(-closeTogether)) {
				t.Errorf("%s: changed between %v and %v from when it was to", site, asked.Sub(at), answered.Sub(at))
			}
		})
	}
	wait.Wait()
}

// status returns that of an answer, 0 if there was none.
func status(site string) int {
	resp, err := http.Get(site)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}
