// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stomp

import (
	"reflect"
	"slices"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

func frameOf(pairs ...string) *frame {
	f := &frame{command: "MESSAGE", body: []byte("hello")}
	for i := 0; i+1 < len(pairs); i += 2 {
		f.add(pairs[i], pairs[i+1])
	}
	return f
}

func TestDeliveryOf(t *testing.T) {
	const address = "/queue/orders"
	for name, tc := range map[string]struct {
		frame *frame
		want  broker.Delivery
	}{
		"nothing": {frameOf(), broker.Delivery{}},
		"all": {
			frameOf("message-id", "ID:1", "correlation-id", "c", "reply-to", "/queue/r", "content-type", "text/plain", "persistent", "true",
				"priority", "7", "redelivered", "true", "kind", "quote"),
			broker.Delivery{Redelivered: true, Message: broker.Message{
				ID: "ID:1", CorrelationID: "c", ReplyTo: "/queue/r", ContentType: "text/plain", Durable: true, Priority: new(uint8(7)),
				Properties: []broker.Property{{Name: "kind", Value: "quote"}},
			}},
		},
		"RabbitMQ's id of the sender": {
			frameOf("message-id", "T_0@@session@@1", "amqp-message-id", "mine"),
			broker.Delivery{Message: broker.Message{ID: "mine"}},
		},
		"a header twice": {
			frameOf("kind", "first", "kind", "second"),
			broker.Delivery{Message: broker.Message{Properties: []broker.Property{{Name: "kind", Value: "first"}}}},
		},
		"priorities that are none": {frameOf("priority", "256"), broker.Delivery{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := deliveryOf(address, tc.frame)
			if got.Native != tc.frame {
				t.Error("it is not known what it was")
			}
			got.Native = nil
			tc.want.Address, tc.want.Body = address, []byte("hello")
			if !reflect.DeepEqual(*got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", *got, tc.want)
			}
		})
	}
	sized := frameOf()
	sized.sized = true
	if deliveryOf(address, sized).Kind != broker.Bytes || deliveryOf(address, frameOf()).Kind != broker.Text {
		t.Error("a frame has bytes if it says how long its body is, and else a text")
	}
}

// TestEncode writes ids of all types, and lets no property take the place of what the
// protocol knows.
func TestEncode(t *testing.T) {
	m := &broker.Message{
		Address: "/queue/r", Body: []byte("hello"), CorrelationID: []byte("bytes"), ContentType: "text/plain", Durable: true, Priority: new(uint8(0)),
		Properties: []broker.Property{{Name: "kind", Value: "quote"}, {Name: "n", Value: int32(7)}, {Name: "destination", Value: "/queue/elsewhere"}, {Name: "receipt", Value: "1"}, {Name: "user-id", Value: "other"}},
		ReplyTo:    "/queue/nobody",
	}
	want := []header{
		{"destination", "/queue/r"},
		{"correlation-id", "bytes"},
		{"content-type", "text/plain"},
		{"persistent", "true"},
		{"priority", "0"},
		{"kind", "quote"},
		{"n", "7"},
	}
	f := encode(m)
	if !slices.Equal(f.headers, want) || string(f.body) != "hello" || f.sized {
		t.Errorf("got %+v", f)
	}
	m.CorrelationID = uint64(7)
	m.Copied = &broker.Delivery{}
	if f = encode(m); f.get("correlation-id") != "7" || f.get("reply-to") != "/queue/nobody" {
		t.Errorf("a dead letter is %+v", f)
	}
	for _, tc := range []struct {
		body  string
		kind  broker.Kind
		sized bool
	}{{"a text", broker.Text, false}, {"bytes", broker.Bytes, true}, {"a text with \x00", broker.Text, true}} {
		if got := encode(&broker.Message{Body: []byte(tc.body), Kind: tc.kind}).sized; got != tc.sized {
			t.Errorf("%q says how long it is: %v, want %v", tc.body, got, tc.sized)
		}
	}
}
