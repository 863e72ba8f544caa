// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"bytes"
	"slices"
	"strings"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// jmsType is the annotation by which JMS clients know what kind a message is, and
// its values for the kinds that there are.
const jmsType = "x-opt-jms-msg-type"

const (
	jmsBytes int8 = 3
	jmsText  int8 = 5
)

// native returns the message of a request.
func native(d *broker.Delivery) *amqp.Message { return d.Native.(*amqp.Message) }

// deliveryOf returns a message as a request.
func deliveryOf(address string, m *amqp.Message) *broker.Delivery {
	d := &broker.Delivery{Native: m}
	d.Address = address
	d.Kind, d.Body = bodyOf(m)
	if h := m.Header; h != nil {
		d.Durable = h.Durable
		d.Priority = &h.Priority
		d.Redelivered = h.DeliveryCount > 0
	}
	if p := m.Properties; p != nil {
		d.ID = idOf(p.MessageID)
		d.CorrelationID = idOf(p.CorrelationID)
		if p.ReplyTo != nil {
			d.ReplyTo = *p.ReplyTo
		}
		if p.ContentType != nil {
			d.ContentType = *p.ContentType
		}
	}
	for name, value := range m.ApplicationProperties {
		d.Properties = append(d.Properties, broker.Property{Name: name, Value: value})
	}
	slices.SortFunc(d.Properties, func(a, b broker.Property) int { return strings.Compare(a.Name, b.Name) })
	if kind, ok := m.Annotations[jmsType]; ok {
		d.Typed = true
		switch kind {
		case jmsText:
			d.Kind = broker.Text
		case jmsBytes:
			d.Kind = broker.Bytes
		}
	}
	return d
}

// idOf returns an ID, and nil for one that is empty.
func idOf(id any) any {
	if text, ok := id.(string); ok && text == "" {
		return nil
	}
	return id
}

// bodyOf returns the body of a message and what it is. One that is neither text nor
// bytes has none here.
func bodyOf(m *amqp.Message) (broker.Kind, []byte) {
	switch value := m.Value.(type) {
	case string:
		return broker.Text, []byte(value)
	case []byte:
		return broker.Bytes, value
	}
	body := bytes.Join(m.Data, nil)
	if isText(m) {
		return broker.Text, body
	}
	if m.Value != nil || m.Sequence != nil {
		return broker.Text, nil
	}
	return broker.Bytes, body
}

// isText reports whether a message says that its data is text.
func isText(m *amqp.Message) bool {
	return m.Properties != nil && m.Properties.ContentType != nil && asText(*m.Properties.ContentType)
}

func asText(contentType string) bool {
	return strings.HasPrefix(contentType, "text/")
}

// encode returns a message as it is sent.
func (l *senderLink) encode(m *broker.Message) *amqp.Message {
	out := &amqp.Message{
		Header:     &amqp.MessageHeader{Durable: m.Durable, Priority: 4},
		Properties: &amqp.MessageProperties{CorrelationID: m.CorrelationID},
	}
	if m.Priority != nil {
		out.Header.Priority = *m.Priority
	}
	if m.Copied != nil {
		copyInto(out, native(m.Copied))
	} else {
		encodeBody(out, m)
	}
	if len(m.Properties) > 0 {
		out.ApplicationProperties = make(map[string]any, len(m.Properties))
		for _, p := range m.Properties {
			out.ApplicationProperties[p.Name] = p.Value
		}
	}
	if l.address == "" {
		out.Properties.To = &m.Address
	}
	return out
}

// copyInto makes a copy of a request for another address, without its properties.
func copyInto(out, request *amqp.Message) {
	out.Data, out.Value, out.Sequence = request.Data, request.Value, request.Sequence
	if request.Properties != nil {
		properties := *request.Properties
		properties.To = nil
		properties.UserID = nil // who sends the copy is another one, and brokers hold that against it
		out.Properties = &properties
	}
	if kind, ok := request.Annotations[jmsType]; ok {
		out.Annotations = amqp.Annotations{jmsType: kind}
	}
}

// encodeBody writes the body of an answer. What was text in a value or as data stays
// so.
func encodeBody(out *amqp.Message, m *broker.Message) {
	if m.ContentType != "" {
		out.Properties.ContentType = &m.ContentType
	}
	kind := jmsBytes
	switch {
	case m.Kind == broker.Bytes || asText(m.ContentType):
		out.Data = [][]byte{m.Body}
		if m.Kind == broker.Text {
			kind = jmsText
		}
	default:
		out.Value, kind = string(m.Body), jmsText
	}
	if m.Typed {
		out.Annotations = amqp.Annotations{jmsType: kind}
	}
}
