// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"reflect"
	"testing"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

const address = "/queue/orders"

// sent returns a message as its receiver has it.
func sent(t *testing.T, m *amqp.Message) *amqp.Message {
	t.Helper()
	wire, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	received := new(amqp.Message)
	if err := received.UnmarshalBinary(wire); err != nil {
		t.Fatal(err)
	}
	return received
}

// answerTo returns what the receiver of an answer has of it.
func answerTo(t *testing.T, m *broker.Message, to string) *amqp.Message {
	t.Helper()
	return sent(t, (&senderLink{address: to}).encode(m))
}

// TestBodies holds what the bodies of requests are, and what answers of their kind
// are on the wire.
func TestBodies(t *testing.T) {
	html := &amqp.MessageProperties{ContentType: new("text/html")}
	binary := &amqp.MessageProperties{ContentType: new("application/octet-stream")}
	jms := func(kind any) amqp.Annotations { return amqp.Annotations{jmsType: kind} }
	for name, tc := range map[string]struct {
		request *amqp.Message
		kind    broker.Kind
		body    string
		answer  *amqp.Message // without header and properties
	}{
		"a text":                     {&amqp.Message{Value: "hello"}, broker.Text, "hello", &amqp.Message{Value: "hello"}},
		"a text of none":             {&amqp.Message{Value: ""}, broker.Text, "", &amqp.Message{Value: ""}},
		"bytes as a value":           {&amqp.Message{Value: []byte("hello")}, broker.Bytes, "hello", &amqp.Message{Data: [][]byte{[]byte("hello")}}},
		"data":                       {&amqp.Message{Data: [][]byte{[]byte("hello")}}, broker.Bytes, "hello", &amqp.Message{Data: [][]byte{[]byte("hello")}}},
		"data in parts":              {&amqp.Message{Data: [][]byte{[]byte("hel"), {}, []byte("lo")}}, broker.Bytes, "hello", &amqp.Message{Data: [][]byte{[]byte("hello")}}},
		"data that is text":          {&amqp.Message{Data: [][]byte{[]byte("hello")}, Properties: html}, broker.Text, "hello", &amqp.Message{Data: [][]byte{[]byte("hello")}}},
		"data of another type":       {&amqp.Message{Data: [][]byte{[]byte("hello")}, Properties: binary}, broker.Bytes, "hello", &amqp.Message{Data: [][]byte{[]byte("hello")}}},
		"nothing":                    {&amqp.Message{Properties: &amqp.MessageProperties{}}, broker.Bytes, "", &amqp.Message{Data: [][]byte{{}}}},
		"null":                       {&amqp.Message{Value: amqp.Null{}}, broker.Bytes, "", &amqp.Message{Data: [][]byte{{}}}},
		"a number":                   {&amqp.Message{Value: int64(7)}, broker.Text, "", &amqp.Message{Value: ""}},
		"a map":                      {&amqp.Message{Value: map[string]any{"a": "b"}}, broker.Text, "", &amqp.Message{Value: ""}},
		"a list":                     {&amqp.Message{Value: []any{"a", int32(7)}}, broker.Text, "", &amqp.Message{Value: ""}},
		"sequences":                  {&amqp.Message{Sequence: [][]any{{"a"}, {int32(7)}}}, broker.Text, "", &amqp.Message{Value: ""}},
		"a TextMessage of JMS":       {&amqp.Message{Value: "hello", Annotations: jms(jmsText)}, broker.Text, "hello", &amqp.Message{Value: "hello", Annotations: jms(jmsText)}},
		"a BytesMessage of JMS":      {&amqp.Message{Data: [][]byte{[]byte("hello")}, Annotations: jms(jmsBytes)}, broker.Bytes, "hello", &amqp.Message{Data: [][]byte{[]byte("hello")}, Annotations: jms(jmsBytes)}},
		"a TextMessage as data":      {&amqp.Message{Data: [][]byte{[]byte("hello")}, Annotations: jms(jmsText)}, broker.Text, "hello", &amqp.Message{Value: "hello", Annotations: jms(jmsText)}},
		"a MapMessage of JMS":        {&amqp.Message{Value: map[string]any{"a": "b"}, Annotations: jms(int8(2))}, broker.Text, "", &amqp.Message{Value: "", Annotations: jms(jmsText)}},
		"an annotation that is none": {&amqp.Message{Data: [][]byte{[]byte("hello")}, Annotations: jms("text")}, broker.Bytes, "hello", &amqp.Message{Data: [][]byte{[]byte("hello")}, Annotations: jms(jmsBytes)}},
	} {
		t.Run(name, func(t *testing.T) {
			d := deliveryOf(address, sent(t, tc.request))
			if d.Kind != tc.kind || string(d.Body) != tc.body || d.Address != address {
				t.Errorf("got %v %q", d.Kind, d.Body)
			}
			got := answerTo(t, &broker.Message{Body: d.Body, Kind: d.Kind, ContentType: d.ContentType, Typed: d.Typed}, address)
			want := sent(t, tc.answer)
			if !reflect.DeepEqual(got.Value, want.Value) || string(got.GetData()) != string(want.GetData()) || len(got.Data) != len(want.Data) || !reflect.DeepEqual(got.Annotations, want.Annotations) {
				t.Errorf("answered with %v %q %v, want %v %q %v", got.Value, got.Data, got.Annotations, want.Value, want.Data, want.Annotations)
			}
			if tc.request.Properties != nil && tc.request.Properties.ContentType != nil && *got.Properties.ContentType != d.ContentType {
				t.Errorf("the content type is %v", got.Properties.ContentType)
			}
		})
	}
}

// TestIDs has ids of each type that there is.
func TestIDs(t *testing.T) {
	for _, id := range []any{"text", uint64(7), uint64(0), amqp.UUID{1, 2}, []byte("bytes"), []byte{}} {
		d := deliveryOf(address, sent(t, &amqp.Message{Properties: &amqp.MessageProperties{MessageID: id, CorrelationID: id, ReplyTo: new("/queue/r")}}))
		if !reflect.DeepEqual(d.ID, id) || !reflect.DeepEqual(d.CorrelationID, id) || d.ReplyTo != "/queue/r" {
			t.Errorf("%T: got %+v", id, d)
		}
		if got := answerTo(t, &broker.Message{CorrelationID: d.CorrelationID}, address).Properties.CorrelationID; !reflect.DeepEqual(got, id) {
			t.Errorf("%T: answered with %T %v", id, got, got)
		}
	}
	d := deliveryOf(address, sent(t, &amqp.Message{Properties: &amqp.MessageProperties{MessageID: "", CorrelationID: ""}}))
	if d.ID != nil || d.CorrelationID != nil {
		t.Errorf("ids of no letters are %v and %v", d.ID, d.CorrelationID)
	}
}

// TestCarried holds what an answer carries besides its body, and what a message says
// that says nothing.
func TestCarried(t *testing.T) {
	request := &amqp.Message{
		Header:     &amqp.MessageHeader{Durable: true, Priority: 7, DeliveryCount: 1},
		Properties: &amqp.MessageProperties{},
		ApplicationProperties: map[string]any{
			"kind": "quote", "n": int32(7), "long": int64(1) << 40, "yes": true, "share": 0.5, "byte": int8(-1), "none": nil, "": "unnamed",
		},
	}
	d := deliveryOf(address, sent(t, request))
	if !d.Durable || *d.Priority != 7 || !d.Redelivered || d.Typed {
		t.Errorf("got %+v", d)
	}
	got := answerTo(t, &broker.Message{Durable: d.Durable, Priority: d.Priority, Properties: d.Properties}, address)
	if !got.Header.Durable || got.Header.Priority != 7 || got.Annotations != nil || !reflect.DeepEqual(got.ApplicationProperties, request.ApplicationProperties) {
		t.Errorf("got %+v %v %v", got.Header, got.Annotations, got.ApplicationProperties)
	}
	bare := deliveryOf(address, sent(t, &amqp.Message{Value: "hello"}))
	if bare.Durable || bare.Priority != nil || bare.Redelivered || bare.Typed || bare.ReplyTo != "" || bare.Properties != nil {
		t.Errorf("got %+v", bare)
	}
	got = answerTo(t, &bare.Message, address)
	if got.Header.Durable || got.Header.Priority != 4 || got.Annotations != nil || got.Properties.To != nil || got.ApplicationProperties != nil {
		t.Errorf("got %+v %+v", got.Header, got.Properties)
	}
	if to := answerTo(t, &broker.Message{Address: "/queue/r"}, "").Properties.To; to == nil || *to != "/queue/r" {
		t.Errorf("over a link for all addresses it is for %v", to)
	}
}

// TestDeadLetters holds that a copy is what the request was, whatever that is.
func TestDeadLetters(t *testing.T) {
	for name, request := range map[string]*amqp.Message{
		"a text":    {Value: "hello", Annotations: amqp.Annotations{jmsType: jmsText, "x-opt-other": "secret"}},
		"data":      {Data: [][]byte{[]byte("a"), []byte("b")}},
		"a map":     {Value: map[string]any{"a": "b"}},
		"sequences": {Sequence: [][]any{{"a"}, {int32(7)}}},
		"nothing":   {Value: amqp.Null{}},
	} {
		request.Properties = &amqp.MessageProperties{MessageID: uint64(7), To: new("/queue/orders"), ReplyTo: new("/nowhere"), Subject: new("s"), UserID: []byte("other")}
		request.ApplicationProperties = map[string]any{"kind": "quote"}
		received := sent(t, request)
		d := deliveryOf(address, received)
		copied := d.Message
		copied.Address, copied.Copied = "/queue/dead", d
		got := answerTo(t, &copied, "")
		if !reflect.DeepEqual(got.Value, received.Value) || !reflect.DeepEqual(got.Data, received.Data) || !reflect.DeepEqual(got.Sequence, received.Sequence) {
			t.Errorf("%s: got %v %v %v", name, got.Value, got.Data, got.Sequence)
		}
		p := got.Properties
		if p.MessageID != uint64(7) || *p.ReplyTo != "/nowhere" || *p.Subject != "s" || *p.To != "/queue/dead" || *received.Properties.To != "/queue/orders" {
			t.Errorf("%s: got %+v, and the request is %+v", name, p, received.Properties)
		}
		if p.UserID != nil {
			t.Errorf("%s: it says that %s sends it", name, p.UserID)
		}
		if got.ApplicationProperties["kind"] != "quote" || got.Annotations["x-opt-other"] != nil || (got.Annotations[jmsType] == nil) != (name != "a text") {
			t.Errorf("%s: got %v %v", name, got.ApplicationProperties, got.Annotations)
		}
	}
}

// FuzzMessage holds that whatever comes as a message can be looked at, answered and
// copied.
func FuzzMessage(f *testing.F) {
	for _, m := range []*amqp.Message{
		{Value: "hello", Annotations: amqp.Annotations{jmsType: jmsText}},
		{Data: [][]byte{[]byte("a"), []byte("b")}, Properties: &amqp.MessageProperties{MessageID: amqp.UUID{1}, ContentType: new("text/plain")}},
		{Value: map[string]any{"a": []any{nil, true, 1.5}}, Header: &amqp.MessageHeader{Durable: true, Priority: 9, DeliveryCount: 3}},
		{Sequence: [][]any{{"a"}, {int32(7)}}, ApplicationProperties: map[string]any{"a": int8(1), "b": nil}},
	} {
		wire, err := m.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire)
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		m := new(amqp.Message)
		if !wellFormed(wire) || m.UnmarshalBinary(wire) != nil {
			return
		}
		d := deliveryOf(address, m)
		answer := d.Message
		copied := d.Message
		copied.Copied = d
		for _, out := range []*broker.Message{&answer, &copied} {
			wire, err := (&senderLink{}).encode(out).MarshalBinary()
			if err != nil {
				continue // it is refused, and its request unanswerable
			}
			if err := new(amqp.Message).UnmarshalBinary(wire); err != nil {
				t.Errorf("what was written cannot be read: %v", err)
			}
		}
	})
}
