// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package queues_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// outcome is what testdata/client.py prints.
type outcome struct {
	Answers, Twice, Wrongs int
	Wrong                  []string
	Took                   float64
	Latencies              []float64
}

func (o outcome) String() string {
	l := slices.Sorted(slices.Values(o.Latencies))
	if len(l) == 0 {
		return "no answers"
	}
	return fmt.Sprintf("%d answers, %d twice, in %.2f s; latency p50 %.1f ms, p99 %.1f ms, at most %.1f ms", o.Answers, o.Twice, o.Took, l[len(l)/2], l[len(l)*99/100], l[len(l)-1])
}

// client asks over AMQP 1.0, in the background; what it has to say comes in the end.
func client(t *testing.T, b *brokertest.RabbitMQ, reply string, count int, bad ...string) func() outcome {
	t.Helper()
	args := append([]string{"testdata/client.py", "amqp://guest:guest@" + b.AMQP, requests, reply, fmt.Sprint(count)}, bad...)
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", args...)
	var out, problems strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() (o outcome) {
		t.Helper()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("client: %v\n%s", err, problems.String())
		}
		if err := json.Unmarshal([]byte(out.String()), &o); err != nil {
			t.Fatalf("client: %v\n%s", err, out.String())
		}
		t.Log(o)
		return o
	}
}

// expect wants answers to all, and each of the right kind.
func (o outcome) expect(t *testing.T, count int) {
	t.Helper()
	if o.Answers != count || o.Wrongs > 0 {
		t.Errorf("%d answers of %d, %d wrong: %v", o.Answers, count, o.Wrongs, o.Wrong)
	}
}

// protocols are the two ways to one broker.
func protocols(b *brokertest.RabbitMQ) map[string]string {
	return map[string]string{
		"amqp":  "amqp://guest:guest@" + b.AMQP + " {\nsender_per_address on\nvirtual_host vhost:/\n}",
		"stomp": "stomp://guest:guest@" + b.Stomp + " {\nvirtual_host /\n}",
	}
}

func configOf(admin, broker string, services ...string) string {
	return fmt.Sprintf("{\nadmin %s\nqueue_simulator {\nbroker mq %s\n%s\n}\n}\n", admin, broker, strings.Join(services, "\n"))
}

// process is a Caddy of its own, which can be killed.
type process struct {
	*simulator
	cmd *exec.Cmd
}

func startProcess(t *testing.T, config func(admin string) string) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{simulator: &simulator{t: t, admin: caddytest.Addr(t)}}
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte(config(p.admin)), 0o600); err != nil {
		t.Fatal(err)
	}
	p.cmd = caddytest.Command(t, "run", "--config", file)
	p.cmd.Env = append(p.cmd.Env, "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%.20000s", text)
		}
	})
	brokertest.AwaitListening(t, p.admin)
	return p
}

// receiving waits until the service receives.
func (s *simulator) receiving() {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !s.status()[requests].Receiving; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatal("it never receives")
		}
	}
}

// TestRabbitMQ is asked by Qpid Proton's client over AMQP 1.0, and answers over
// either protocol.
func TestRabbitMQ(t *testing.T) {
	b := brokertest.RunRabbitMQ(t)
	for name, broker := range protocols(b) {
		body := ""
		if name == "stomp" {
			body = "body_type preserve"
		}
		t.Run(name, func(t *testing.T) {
			t.Run("answers", func(t *testing.T) {
				s := &simulator{t: t, admin: caddytest.Addr(t)}
				s.Server = caddytest.Run(t, configOf(s.admin, broker, service("body hello", "stage 0s lognormal(50ms,0.5)", body)))
				s.receiving()
				client(t, b, "/queue/replies-"+name, 200)().expect(t, 200)
				s.await(requests, map[string]int{"answered": 200})
			})
			t.Run("bad", func(t *testing.T) { testBad(t, b, name, broker) })
			t.Run("kill", func(t *testing.T) {
				testEnd(t, b, name, broker, func(p *process) {
					_ = p.cmd.Process.Kill()
				})
			})
			t.Run("term", func(t *testing.T) {
				p := startProcess(t, func(admin string) string {
					return configOf(admin, broker, service("body hello", "stage 0s 2s"))
				})
				p.receiving()
				done := client(t, b, "/queue/term-"+name, 200)
				p.awaitInHand(requests, 200)
				if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				done().expect(t, 200)
				_ = p.cmd.Wait()
				if p.cmd.ProcessState.ExitCode() != 0 {
					t.Errorf("it ended with %v", p.cmd.ProcessState)
				}
			})
			t.Run("restart", func(t *testing.T) {
				s := &simulator{t: t, admin: caddytest.Addr(t)}
				s.Server = caddytest.Run(t, configOf(s.admin, broker, service("body hello", "stage 0s 2s")))
				s.receiving()
				done := client(t, b, "/queue/restart-"+name, 200)
				s.awaitInHand(requests, 200)
				b.Stop()
				b.Start()
				done().expect(t, 200)
			})
			t.Run("reload", func(t *testing.T) {
				s := &simulator{t: t, admin: caddytest.Addr(t)}
				s.Server = caddytest.Run(t, configOf(s.admin, broker, service("body hello", "concurrency 50", "stage 0s 500ms")))
				s.receiving()
				done := client(t, b, "/queue/reload-"+name, 200)
				s.awaitInHand(requests, 50)
				s.Reload(configOf(s.admin, broker, service("body other", "concurrency 50", "stage 0s 300ms")))
				done().expect(t, 200)
			})
		})
	}
}

// testEnd ends a process while all requests sleep, and has another one go on.
func testEnd(t *testing.T, b *brokertest.RabbitMQ, name, broker string, end func(*process)) {
	config := func(admin string) string { return configOf(admin, broker, service("body hello", "stage 0s 2s")) }
	p := startProcess(t, config)
	p.receiving()
	done := client(t, b, "/queue/kill-"+name, 200)
	p.awaitInHand(requests, 200)
	end(p)
	next := startProcess(t, config)
	done().expect(t, 200)
	next.await(requests, map[string]int{"answered": 200})
}

// testBad has bad addresses beside 300 good ones.
func testBad(t *testing.T, b *brokertest.RabbitMQ, name, broker string) {
	s := &simulator{t: t, admin: caddytest.Addr(t)}
	s.Server = caddytest.Run(t, configOf(s.admin, broker, service("body hello", "stage 0s 200ms", "unanswerable dead_letter "+dead+name)))
	s.receiving()
	bad := []string{"/nonsense/x", "/exchange/nope", "/temp-queue/x", "none"}
	client(t, b, "/queue/bad-"+name, 300, bad...)().expect(t, 300)
	deadline := time.Now().Add(2 * time.Minute)
	for s.status()[requests].Requests["dead_lettered"] < len(bad) && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
	}
	s.await(requests, map[string]int{"answered": 300, "dead_lettered": len(bad)})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if letters := b.Drain(ctx, dead+name, len(bad)); len(letters) != len(bad) {
		t.Errorf("dead letters: %v", letters)
	}
}
