// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external || long

package queues_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
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

// client sends requests in the background; what it has to say comes in the end.
type client func(t *testing.T, reply string, count int, bad ...string) func() outcome

// asking starts a client that prints an outcome.
func asking(t *testing.T, cmd *exec.Cmd) func() outcome {
	t.Helper()
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

// python asks with a program of testdata.
func python(t *testing.T, args []string, bad []string) func() outcome {
	return asking(t, exec.CommandContext(t.Context(), "/usr/bin/python3", append(args, bad...)...))
}

// expect wants answers to all, and each of the right kind.
func (o outcome) expect(t *testing.T, count int) {
	t.Helper()
	if o.Answers != count || o.Wrongs > 0 {
		t.Errorf("%d answers of %d, %d wrong: %v", o.Answers, count, o.Wrongs, o.Wrong)
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
	peertest.AwaitListening(t, p.admin)
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

// suite is what is asked of each broker and protocol.
type suite struct {
	broker  string // as a Caddyfile has it behind the name
	address string // of the requests
	ask     client
	bad     []string // reply-tos to which nothing can be sent
	// answered are bad reply-tos that the broker takes nevertheless.
	answered []string
	// replyTo are bad addresses for the requests that say none.
	replyTo []string
	dead    func(n int) int // takes so many dead letters, and returns how many there were; nil: they are not looked at
}

func (s suite) service(options ...string) string {
	return strings.Replace(service(append(options, "name "+requests, "body hello")...), requests, cmp.Or(s.address, requests), 1)
}

// simulate answers in this process.
func (s suite) simulate(t *testing.T, options ...string) *simulator {
	t.Helper()
	sim := &simulator{t: t, admin: caddytest.Addr(t)}
	sim.Server = caddytest.Run(t, configOf(sim.admin, s.broker, s.service(options...)))
	sim.receiving()
	return sim
}

// start answers in a process of its own.
func (s suite) start(t *testing.T, options ...string) *process {
	t.Helper()
	return startProcess(t, func(admin string) string { return configOf(admin, s.broker, s.service(options...)) })
}

// amqpSuite is for RabbitMQ, which is asked by Qpid Proton over AMQP 1.0 and answered over
// the same.
func amqpSuite(t *testing.T, b *brokertest.RabbitMQ) suite {
	const lasting = "/amq/queue/lasting"
	b.Declare("lasting")
	return suite{
		address: lasting,
		broker:  overAMQP(b),
		ask: func(t *testing.T, reply string, count int, bad ...string) func() outcome {
			return python(t, []string{"testdata/client.py", "amqp://guest:guest@" + b.AMQP, lasting, "/queue/" + reply, fmt.Sprint(count)}, bad)
		},
		bad:  []string{"/nonsense/x", "/exchange/nope", "/temp-queue/x", "none"},
		dead: func(n int) int { return len(b.Drain(t.Context(), dead, n)) },
	}
}

// stompSuite is for RabbitMQ, which is asked by a client of STOMP with a temporary queue and
// answered over the same.
func stompSuite(b *brokertest.RabbitMQ) suite {
	const address = "/queue/stomp"
	return suite{
		address: address,
		broker:  "stomp://guest:guest@" + b.Stomp + " {\nvirtual_host /\n}",
		ask: func(t *testing.T, _ string, count int, bad ...string) func() outcome {
			t.Setenv("AMQP", "amqp://guest:guest@"+b.AMQP)
			return python(t, []string{"testdata/stomp_client.py", b.Stomp, address, fmt.Sprint(count)}, bad)
		},
		bad: []string{"/exchange/nope", "none"},
		// The broker makes addresses of queues that there are not of them, and confirms
		// what it drops for these. Only the configuration can name such addresses as they are.
		answered: []string{"/nonsense/x", "/temp-queue/x", "vanished"},
		replyTo:  []string{"/nonsense/x", "/temp-queue/x"},
	}
}

// openWireSuite is for ActiveMQ, which is asked by a JMS client over OpenWire and answered
// over STOMP.
func openWireSuite(b *brokertest.ActiveMQ) suite {
	return suite{
		broker: "stomp://" + b.Stomp,
		ask: func(t *testing.T, reply string, count int, bad ...string) func() outcome {
			if reply == "answers" {
				reply = "temporary"
			}
			return asking(t, brokertest.Java(t, "testdata/Client.java", append([]string{"tcp://" + b.OpenWire, "orders", reply, fmt.Sprint(count)}, bad...)...))
		},
		bad: []string{"vanished", "none", "vanished"},
	}
}

// overAMQP returns how a Caddyfile names the broker.
func overAMQP(b *brokertest.RabbitMQ) string {
	return "amqp://guest:guest@" + b.AMQP + " {\nsender_per_address on\nvirtual_host vhost:/\n}"
}
