// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	_ "github.com/caddy-rehearsal/rehearsal/queues"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// atEnd ends what tests share; with the build tag external that is a browser.
var atEnd = func() {}

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	code := m.Run()
	atEnd()
	os.Exit(code)
}

const (
	requests = "/queue/orders"
	replies  = "/queue/replies"
	dead     = "/queue/orders.dead"
)

// simulator is a Caddy that answers on a broker.
type simulator struct {
	*caddytest.Server
	t     testing.TB
	admin string
}

// config returns a Caddyfile with services on a broker.
func config(admin, url, broker string, services ...string) string {
	return fmt.Sprintf("{\nadmin %s\nqueue_simulator {\nbroker mq %s {\n%s\n}\n%s\n}\n}\n", admin, url, broker, strings.Join(services, "\n"))
}

func service(options ...string) string {
	return "service " + requests + " {\n" + strings.Join(options, "\n") + "\n}"
}

// simulate runs services on a test's broker.
func simulate(t testing.TB, b *brokertest.Stomp, services ...string) *simulator {
	t.Helper()
	s := &simulator{t: t, admin: caddytest.Addr(t)}
	s.Server = caddytest.Run(t, config(s.admin, "stomp://"+b.Addr, "", services...))
	return s
}

type status struct {
	Service   string
	Receiving bool
	InHand    int `json:"in_hand"`
	Requests  map[string]int
}

// status returns what Caddy's admin API says of the services, by name.
func (s *simulator) status() map[string]status {
	s.t.Helper()
	var list []status
	if err := json.Unmarshal([]byte(s.get("/rehearsal/queues")), &list); err != nil {
		s.t.Fatal(err)
	}
	byName := make(map[string]status)
	for _, one := range list {
		byName[one.Service] = one
	}
	return byName
}

func (s *simulator) get(path string) string {
	s.t.Helper()
	resp, err := http.Get("http://" + s.admin + path)
	for deadline := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		resp, err = http.Get("http://" + s.admin + path) // the API begins again with each configuration
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(body)
}

// await waits until the requests of a service have had these results, and no others.
func (s *simulator) await(name string, results map[string]int) {
	s.t.Helper()
	want := fmt.Sprint(results)
	var got string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if got = fmt.Sprint(s.status()[name].Requests); got == want {
			return
		}
	}
	s.t.Fatalf("%s: got %s, want %s\n%s", name, got, want, s.Logs())
}

// awaitInHand waits until so many requests of a service are in hand.
func (s *simulator) awaitInHand(name string, n int) {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); s.status()[name].InHand != n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: %+v, want %d in hand", name, s.status()[name], n)
		}
	}
}

func started(t testing.TB) *brokertest.Stomp {
	b := brokertest.NewStomp(t)
	b.Start()
	return b
}
