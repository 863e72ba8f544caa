// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"errors"
	"strings"
	"testing"
)

var ports = Ports{"amqp": "5672", "amqps": "5671"}

func TestParseAddress(t *testing.T) {
	t.Setenv("QUEUES_PASSWORD", "p:a@s/s%40{x}")
	t.Setenv("QUEUES_HOST", "mq.example")
	for text, want := range map[string]Address{
		"amqp://mq.example":                              {"amqp", "", "", "mq.example:5672", "mq.example"},
		"amqps://mq.example/":                            {"amqps", "", "", "mq.example:5671", "mq.example"},
		"amqp://mq.example:7":                            {"amqp", "", "", "mq.example:7", "mq.example"},
		"amqp://[::1]":                                   {"amqp", "", "", "[::1]:5672", "::1"},
		"amqp://[::1]:7":                                 {"amqp", "", "", "[::1]:7", "::1"},
		"amqp://user@mq.example":                         {"amqp", "user", "", "mq.example:5672", "mq.example"},
		"amqp://us%40er:p%3Aa:b@mq.example":              {"amqp", "us@er", "p:a:b", "mq.example:5672", "mq.example"},
		"amqp://user:p@ss@mq.example":                    {"amqp", "user", "p@ss", "mq.example:5672", "mq.example"},
		"amqp://user:a/b?c#d@mq.example":                 {"amqp", "user", "a/b?c#d", "mq.example:5672", "mq.example"},
		"amqp://user:{env.QUEUES_PASSWORD}@mq.example":   {"amqp", "user", "p:a@s/s%40{x}", "mq.example:5672", "mq.example"},
		"amqp://user:%40{env.QUEUES_PASSWORD}%40@mq":     {"amqp", "user", "@p:a@s/s%40{x}@", "mq:5672", "mq"},
		"amqp://{env.QUEUES_HOST}:7":                     {"amqp", "", "", "mq.example:7", "mq.example"},
		"amqp://a:b@{env.QUEUES_HOST}.{env.QUEUES_HOST}": {"amqp", "a", "b", "mq.example.mq.example:5672", "mq.example.mq.example"},
		"amqp://user:%7Bnot%7D@mq.example":               {"amqp", "user", "{not}", "mq.example:5672", "mq.example"},
	} {
		if got, err := ParseAddress(text, ports); err != nil || got != want {
			t.Errorf("%s: got %+v %v, want %+v", text, got, err, want)
		}
	}
}

// TestWrongAddresses holds that each error says what is wrong, and none has the
// password.
func TestWrongAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"mq.example":                        "begins with amqp:// or amqps://",
		"http://a:secret@mq.example":        "begins with amqp:// or amqps://",
		"amqp://a:secret@mq.example/vhost":  "virtual_host",
		"amqp://a:secret@":                  "is not a host",
		"amqp://":                           "is not a host",
		"amqp://a:secret@:5672":             "is not a host",
		"amqp://a:secret@mq.example:port":   "is not a host",
		"amqp://a:secret@mq.example:0":      "port: '0' is not from 1 to 65535",
		"amqp://a:secret@mq.example:65536":  "port: '65536' is not from 1 to 65535",
		"amqp://a:secret%4@mq.example":      "password: it is not well escaped",
		"amqp://a:{env.QUEUES_NONE}@mq":     "password",
		"amqp://{env.QUEUES_NONE}:secret@m": "user",
	} {
		_, err := ParseAddress(text, ports)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestKeys holds that brokers are told apart by all that changes connections, and that
// what is shown of one has no credentials.
func TestKeys(t *testing.T) {
	seen := make(map[string]string)
	for _, text := range []string{"amqp://mq", "amqps://mq", "amqp://mq:7", "amqp://a@mq", "amqp://b@mq", "amqp://a:b@mq", "amqp://a:c@mq", "amqp://:b@mq"} {
		a, err := ParseAddress(text, ports)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []any{"", "x", nil, &TLS{CA: "x"}} {
			key := a.Key(part)
			if before, ok := seen[key]; ok {
				t.Errorf("%s has the key of %s", text, before)
			}
			seen[key] = text
		}
		if strings.ContainsAny(a.Place()[len("amqp"):], "abc@") {
			t.Errorf("%s is at %s", text, a.Place())
		}
	}
}

func TestGuarded(t *testing.T) {
	err := Guarded(func() { panic("what happened") })
	if err == nil || !strings.Contains(err.Error(), "what happened") || !strings.Contains(err.Error(), "address_test.go") {
		t.Errorf("got %v", err)
	}
	if err := Guarded(func() {}); err != nil {
		t.Error(err)
	}
	refused := &RefusedError{errors.New("no such queue")}
	if refused.Error() != "no such queue" || !errors.Is(refused, refused.Reason) {
		t.Errorf("got %v", refused)
	}
}
