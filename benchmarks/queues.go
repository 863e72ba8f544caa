// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// mappingsOfQueues is how many mappings there are, of which two are used.
const mappingsOfQueues = 52

// queuesBesideBareResponder has users ask over a queue, each of whom waits for the
// answer before it asks again: the simulator, which matches, and a program that answers
// whatever comes, both on one broker.
func queuesBesideBareResponder(l *lab) error {
	if _, err := os.Stat(rabbitMQ); err != nil {
		fmt.Fprintln(l.out, "\nNot measured: RabbitMQ is not installed. Debian's package rabbitmq-server has it.")
		return nil
	}
	url, stop, err := l.startRabbitMQ()
	if stop != nil {
		defer stop()
	}
	if err != nil {
		return err
	}
	bare, err := l.startPeer("bare", answerPeer, url, "/queue/bare")
	if err != nil {
		return err
	}
	simulated, err := l.startSimulatorOfQueues(url, "/queue/simulated")
	if err != nil {
		return err
	}
	counts := []int{100, 1000}
	if l.short {
		counts = counts[:1]
	}
	for _, users := range counts {
		err := l.compare(fmt.Sprintf("%d mappings, of which 2 are used, %d users", mappingsOfQueues, users),
			l.underUsers("bare responder, without matching", users, bare, url, "/queue/bare"),
			l.underUsers("simulator", users, simulated, url, "/queue/simulated"))
		if err != nil {
			return err
		}
	}
	return nil
}

// startSimulatorOfQueues runs Caddy with mappings that look at a member of the body.
func (l *lab) startSimulatorOfQueues(url, address string) (*server, error) {
	var all strings.Builder
	for i := range mappingsOfQueues {
		if i > 0 {
			all.WriteByte(',')
		}
		fmt.Fprintf(&all, `{"request":{"method":"POST","bodyPatterns":[{"matchesJsonPath":{"expression":"$.kind","equalTo":"%s"}}]},"response":{"body":"{\"answer\": %d}"}}`, kindOf(i), i)
	}
	mappings, err := l.file("queues/mappings.json", `{"mappings":[`+all.String()+"]}")
	if err != nil {
		return nil, err
	}
	admin, err := freeAddr()
	if err != nil {
		return nil, err
	}
	config, err := l.file("queues/Caddyfile", fmt.Sprintf(`{
	admin %s
	queue_simulator {
		broker mq %s {
			sender_per_address on
			virtual_host vhost:/
		}
		service %s {
			concurrency %d
			mappings %s
		}
	}
}
`, admin, url, address, creditOfBare, mappings))
	if err != nil {
		return nil, err
	}
	return l.start("simulator", admin, l.caddy, "run", "--adapter", "caddyfile", "--config", config)
}

// kindOf returns what a mapping asks for.
func kindOf(mapping int) string { return fmt.Sprintf("k%02d", mapping) }

// startPeer runs this program as one that answers or asks. It listens only to show
// that it is ready.
func (l *lab) startPeer(name, role string, args ...string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ready, err := freeAddr()
	if err != nil {
		return nil, err
	}
	return l.start(name, ready, append([]string{self, role, ready}, args...)...)
}

// asked is what users have to say.
type asked struct {
	Answers, Errors int64
	Seconds         float64
	P50, P99        time.Duration
}

// underUsers makes a contender of a server that answers what users ask.
func (l *lab) underUsers(name string, users int, s *server, url, address string) contender {
	return contender{name: name, load: func(length time.Duration) (turn, error) {
		self, err := os.Executable()
		if err != nil {
			return turn{}, err
		}
		before := s.cpu()
		command := l.on(clientHalf, self, askPeer, url, address, fmt.Sprint(users), length.String())
		out, err := exec.Command(command[0], command[1:]...).Output()
		used := s.cpu() - before
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%v: %s", err, failed.Stderr)
		}
		var said asked
		if err := errors.Join(err, json.Unmarshal(out, &said)); err != nil {
			return turn{}, fmt.Errorf("asking %s: %v\n%s", name, err, s.logs.String())
		}
		if said.Answers == 0 {
			return turn{}, fmt.Errorf("%s answers nothing:\n%s", name, s.logs.String())
		}
		return turn{
			requests: said.Answers, rate: float64(said.Answers) / said.Seconds, errors: said.Errors, p50: said.P50, p99: said.P99,
			cpu: float64(used.Microseconds()) / float64(said.Answers), memory: s.memory(),
		}, nil
	}}
}
