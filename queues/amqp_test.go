// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// overPeer runs a service on a peer that speaks AMQP.
func overPeer(t *testing.T, b *brokertest.AMQP, broker string, options ...string) *simulator {
	t.Helper()
	s := &simulator{t: t, admin: caddytest.Addr(t)}
	s.Server = caddytest.Run(t, config(s.admin, "amqp://"+b.Addr, broker, service(options...)))
	return s
}

func message(reply string, id any) *amqp.Message {
	m := &amqp.Message{
		Header:                &amqp.MessageHeader{Durable: true, Priority: 7},
		Properties:            &amqp.MessageProperties{MessageID: id},
		ApplicationProperties: map[string]any{"kind": "quote", "n": int32(7)},
	}
	if reply != "" {
		m.Properties.ReplyTo = &reply
	}
	return m
}

// TestAMQP sends ids and bodies of each type, to a broker with an anonymous relay and
// to one without.
func TestAMQP(t *testing.T) {
	for _, perAddress := range []string{"off", "on"} {
		t.Run(perAddress, func(t *testing.T) {
			b := brokertest.NewAMQP(t)
			s := overPeer(t, b, "sender_per_address "+perAddress, "body hello", "stage 0s 1ms")
			before := s.status()[requests].Requests["answered"]
			ids := []any{"text", uint64(7), amqp.UUID{1, 2}, []byte("bytes")}
			for i, id := range ids {
				m := message(replies, id)
				if i%2 == 0 {
					m.Value = "a text"
					m.Annotations = amqp.Annotations{"x-opt-jms-msg-type": int8(5)}
				} else {
					m.Data = [][]byte{[]byte("bytes")}
				}
				b.Put(requests, m)
			}
			for range ids {
				m := b.Take(replies, 1)[0]
				found := false
				for i, id := range ids {
					if !reflect.DeepEqual(m.Properties.CorrelationID, id) {
						continue
					}
					found = true
					if isText := m.Value == "hello"; isText != (i%2 == 0) || !isText && string(m.GetData()) != "hello" {
						t.Errorf("%v: %v %s", id, m.Value, m.GetData())
					}
					if (m.Annotations["x-opt-jms-msg-type"] == int8(5)) != (i%2 == 0) {
						t.Errorf("%v: %v", id, m.Annotations)
					}
				}
				if !found || !m.Header.Durable || m.Header.Priority != 7 || m.ApplicationProperties["n"] != int32(7) {
					t.Errorf("%+v %+v %v", m.Properties, m.Header, m.ApplicationProperties)
				}
			}
			b.AwaitSettled("accepted", len(ids))
			s.await(requests, map[string]int{"answered": before + len(ids)})
			seen := make(map[string]bool)
			for _, id := range b.Containers() {
				if seen[id] || strings.Contains(id, "-") {
					t.Errorf("container ids %v", b.Containers())
				}
				seen[id] = true
			}
		})
	}
}

// TestAMQPBadReplyTo has addresses that cost a link, a session or a connection among
// good ones.
func TestAMQPBadReplyTo(t *testing.T) {
	b := brokertest.NewAMQP(t)
	s := overPeer(t, b, "sender_per_address on", "stage 0s 1ms", "unanswerable dead_letter "+dead)
	bad := []string{brokertest.RefusesLink, brokertest.EndsSession, brokertest.Disconnects, ""}
	const good = 60
	for i := range good {
		b.Put(requests, message(fmt.Sprint(replies, i%5), fmt.Sprint(i)))
		if i%15 == 7 {
			b.Put(requests, message(bad[i/15], "bad"))
		}
	}
	for _, m := range b.Take(dead, len(bad)) {
		if m.Properties.MessageID != "bad" || m.ApplicationProperties["kind"] != "quote" {
			t.Errorf("dead letter %+v", m.Properties)
		}
	}
	for i := range 5 {
		answers := make(map[any]bool)
		for len(answers) < good/5 {
			answers[b.Take(fmt.Sprint(replies, i), 1)[0].Properties.CorrelationID] = true
		}
	}
	s.await(requests, map[string]int{"answered": good, "dead_lettered": len(bad)})
	b.AwaitSettled("accepted", good+len(bad))
}

// TestAMQPRejects has a broker with an anonymous relay refuse single messages.
func TestAMQPRejects(t *testing.T) {
	b := brokertest.NewAMQP(t)
	s := overPeer(t, b, "sender_per_address off", "name rejects", "stage 0s 1ms", "unanswerable dead_letter "+dead)
	for i := range 30 {
		b.Put(requests, message(replies, fmt.Sprint(i)))
		if i%10 == 5 {
			b.Put(requests, message(brokertest.RefusesLink, "bad"))
		}
	}
	b.Take(replies, 30)
	b.Take(dead, 3)
	s.await("rejects", map[string]int{"answered": 30, "dead_lettered": 3})
	b.AwaitSettled("accepted", 33)
}

// TestAMQPUnreadable has messages over which the library would end the process: they
// are unanswerable, and others are answered.
func TestAMQPUnreadable(t *testing.T) {
	b := brokertest.NewAMQP(t)
	s := overPeer(t, b, "sender_per_address on", "name unreadable", "stage 0s 1ms")
	b.PutEncoded(requests, []byte("\x00\x53\x72\xc1\x03\x02\x45\x41\x00\x53\x77\xa1\x01x")) // an annotation whose name is a list
	b.PutEncoded(requests, append([]byte("\x00\x53\x77"), make([]byte, 30_000)...))         // values in values
	b.PutEncoded(requests, append([]byte("\x00\x53\x77"), make([]byte, 300_000)...))        // in several frames
	b.Put(requests, message(replies, "good"))
	large := message(replies, "large")
	large.Data = [][]byte{make([]byte, 300_000)}
	b.Put(requests, large)
	b.Take(replies, 2)
	s.await("unreadable", map[string]int{"answered": 2, "unanswerable": 3})
	b.AwaitSettled("accepted", 5)
	if n := len(b.Containers()); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}
