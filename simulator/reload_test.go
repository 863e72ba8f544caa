// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

const twoStages = "stage 0 200\n stage 1h 503"

// TestUnrelatedReloadKeepsTheScenario holds that the clock goes on and that
// posted recipes stay until the recipes of the configuration change.
func TestUnrelatedReloadKeepsTheScenario(t *testing.T) {
	addr := caddytest.Addr(t)
	url := "http://" + addr
	s := caddytest.Run(t, site(addr, "simulator {\n admin\n"+twoStages+"\n}"))
	number := all()[0].number
	if status, body := post(t, url+"/_admin/add_recipe", `{"route":"/posted","body":"posted","stages":[{}]}`); status != 201 {
		t.Fatalf("got %d %s", status, body)
	}
	s.Reload(site(addr, "header X-Other yes", "simulator {\n"+twoStages+"\n admin\n}"))
	if _, body := get(t, url+"/posted"); body != "posted" || all()[0].number != number {
		t.Errorf("after an unrelated change: got %q", body)
	}
	if err := s.TryReload(site(addr, "simulator {\n stage 0 99\n}")); err == nil {
		t.Error("a status of 99 was accepted")
	}
	if _, body := get(t, url+"/posted"); body != "posted" {
		t.Errorf("after a load that failed: got %q", body)
	}
	s.Reload(site(addr, "simulator {\n"+twoStages+"\n stage 2h 200\n admin\n}"))
	eventually(t, func() bool { _, body := get(t, url+"/posted"); return body == "" && all()[0].number != number })
}

// TestForgottenRecipesReturnWithAReload holds that restart is not for ever.
func TestForgottenRecipesReturnWithAReload(t *testing.T) {
	addr := caddytest.Addr(t)
	config := site(addr, "simulator {\n stage 0 201\n admin\n}")
	s := caddytest.Run(t, config)
	if status, body := get(t, "http://"+addr+"/_admin/restart"); body != "ok!" {
		t.Errorf("got %d %s", status, body)
	}
	wantStatus(t, "http://"+addr+"/", 406)
	s.Reload(config)
	eventually(t, func() bool { status, _ := get(t, "http://"+addr+"/"); return status == 201 })
}

// TestReloadUnderTraffic holds that no request fails, whatever is loaded.
func TestReloadUnderTraffic(t *testing.T) {
	addr := caddytest.Addr(t)
	configs := []string{
		site(addr, "simulator {\n body one\n stage 0 200 5ms\n admin\n}"),
		site(addr, "simulator {\n body two\n stage 0 200 1ms..9ms\n admin\n}"),
		site(addr, "header X yes", "simulator {\n body two\n stage 0 200 1ms..9ms\n admin\n}"),
	}
	s := caddytest.Run(t, configs[0])
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	var done atomic.Bool
	var failed, answered atomic.Int64
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for !done.Load() {
				if err := ask(client, "http://"+addr+"/"); err != nil {
					failed.Add(1)
					t.Errorf("a request failed: %v", err)
				}
				answered.Add(1)
			}
		})
	}
	for i := range 12 {
		before := answered.Load()
		s.Reload(configs[i%len(configs)])
		eventually(t, func() bool { return answered.Load() > before+8 || failed.Load() > 0 })
	}
	done.Store(true)
	workers.Wait()
	client.CloseIdleConnections()
	if logs := s.Logs(); strings.Contains(logs, "panic") {
		t.Errorf("a handler panicked: %s", logs)
	}
}

// ask wants a 200 from a URL. Connections that wait to be accepted are lost
// with the listening socket of the old configuration, whatever its handlers
// are, so one that breaks before any answer is tried again.
func ask(client *http.Client, url string) error {
	resp, err := client.Get(url)
	for tries := 0; err != nil && tries < 10; tries++ {
		resp, err = client.Get(url)
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || len(body) != 3 || resp.StatusCode != 200 {
		return errors.Join(err, errors.New(resp.Status+" "+string(body)))
	}
	return nil
}

// TestReloadsLeaveNothingBehind counts goroutines and scenarios.
func TestReloadsLeaveNothingBehind(t *testing.T) {
	addr := caddytest.Addr(t)
	config := func(body string) string {
		return site(addr, "simulator {\n origin http://127.0.0.1:1/"+body+"\n stage 0 200\n}")
	}
	s := caddytest.Run(t, config("0"))
	for i := range 50 {
		if i == 5 {
			http.DefaultClient.CloseIdleConnections()
		}
		s.Reload(config(strings.Repeat("x", i%2+1)))
	}
	if n := len(all()); n != 1 {
		t.Errorf("%d scenarios run", n)
	}
	s.Reload(site(addr, "respond ok"))
	before := runtime.NumGoroutine()
	s.Reload(config("0"))
	for i := range 50 {
		s.Reload(config(strings.Repeat("x", i%2+1)))
	}
	s.Reload(site(addr, "respond ok"))
	eventually(t, func() bool { return runtime.NumGoroutine() <= before+5 && len(all()) == 0 })
}

// TestTwinsAreTwo holds that two directives with the same recipes, even none,
// are scenarios of their own, and that one directive on two addresses is one.
func TestTwinsAreTwo(t *testing.T) {
	a, b, c := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t)
	caddytest.Run(t, "http://"+a+", http://"+b+" {\n simulator {\n admin\n }\n}\n"+site(c, "simulator {\n admin\n}"))
	if status, body := post(t, "http://"+a+"/_admin/add_recipe", `{"stages":[{"status":201}]}`); status != 201 {
		t.Fatalf("got %d %s", status, body)
	}
	wantStatus(t, "http://"+a+"/", 201)
	wantStatus(t, "http://"+b+"/", 201)
	wantStatus(t, "http://"+c+"/", 406)
}

func TestNamesTellScenariosApart(t *testing.T) {
	a, b := caddytest.Addr(t), caddytest.Addr(t)
	err := caddytest.Validate(site(a, "simulator {\n name x\n stage 0 200\n}") + site(b, "simulator {\n name x\n stage 0 500\n}"))
	if err == nil || !strings.Contains(err.Error(), "'x'") {
		t.Errorf("got error %v", err)
	}
	if err := caddytest.Validate(site(a, "simulator {\n name x\n stage 0 200\n}") + site(b, "simulator {\n name x\n stage 0 200\n}")); err != nil {
		t.Errorf("the same recipes under the same name were refused: %v", err)
	}
	if n := len(all()); n != 0 {
		t.Errorf("validating left %d scenarios behind", n)
	}
}
