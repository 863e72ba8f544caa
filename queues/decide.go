// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// errUnmatched is the error of a request that nothing takes.
var errUnmatched = errors.New("nothing matches it")

// decision is what a request is answered, and when.
type decision struct {
	body       []byte
	properties []broker.Property
	wait       time.Duration
	fault      response.Fault
	late       time.Duration
}

// decide returns what a request is answered.
func (svc *service) decide(d *broker.Delivery, r *wiremock.Request) (decision, error) {
	if svc.mappings != nil {
		m, err := svc.mappings.Match(r)
		if err != nil {
			return decision{}, err
		}
		if m != nil {
			return svc.respond(m, r)
		}
	}
	if svc.scenario == nil {
		return decision{}, errUnmatched
	}
	a, found := svc.scenario.Decide(scenario.Request{Method: r.Method, Path: "/", Target: r.Target, Fields: fields{d}})
	if !found {
		return decision{}, errUnmatched
	}
	body, err := bodyOf(&a)
	if err != nil {
		return decision{}, err
	}
	dec := decision{body: body, wait: a.Latency, fault: a.Fault}
	headers := [2]recipe.Headers{svc.Headers}
	if a.Stage > 0 && a.Branch > 0 {
		o := &svc.stages[a.Stage-1].Outcomes[a.Branch-1]
		headers[1] = o.Headers
		if o.Fault != nil {
			dec.late = time.Duration(o.Fault.Delay)
		}
	}
	for _, list := range headers {
		for _, h := range list {
			dec.properties = append(dec.properties, broker.Property{Name: h.Name, Value: h.Values[len(h.Values)-1]})
		}
	}
	return dec, nil
}

// respond returns the answer of a mapping.
func (svc *service) respond(m *wiremock.Mapping, r *wiremock.Request) (decision, error) {
	source := svc.drawsOf(m)
	r.Random = source
	a, err := m.Respond(r)
	if err != nil {
		return decision{}, err
	}
	if a.NoFile { // what HTTP says by a status is no answer here
		return decision{}, fmt.Errorf("mapping '%s': body file: %s", m.Name(), a.Body)
	}
	dec := decision{body: a.Body, wait: a.Wait(nil, source)}
	for _, f := range a.Header {
		dec.properties = append(dec.properties, broker.Property{Name: f.Name, Value: f.Value})
	}
	return dec, nil
}

// drawsOf returns what the answer of a mapping is drawn from.
func (svc *service) drawsOf(m *wiremock.Mapping) rand.Source {
	if svc.Seed == nil {
		return latency.Random()
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(m.Name()))
	draws := latency.DrawsOf(*svc.Seed^hash.Sum64(), svc.decided.Add(1))
	return &draws
}

// bodyOf returns the body of a response whole.
func bodyOf(a *response.Response) ([]byte, error) {
	if len(a.Content.Parts) == 1 && a.Content.File == "" {
		return a.Content.Parts[0], nil
	}
	body, _, err := a.Content.Open()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, recipe.LargestBody+1))
	if err == nil && len(data) > recipe.LargestBody {
		err = fmt.Errorf("the body file has more than %d bytes", recipe.LargestBody)
	}
	return data, err
}

// answer makes the message of a decision.
func (svc *service) answer(d *broker.Delivery, dec *decision) *broker.Message {
	m := &broker.Message{
		Address:     svc.replyTo(d),
		Body:        dec.body,
		Kind:        d.Kind,
		ContentType: d.ContentType,
		Durable:     d.Durable,
		Priority:    d.Priority,
		Typed:       d.Typed,
	}
	switch svc.BodyType {
	case textBody:
		m.Kind, m.ContentType = broker.Text, ""
	case bytesBody:
		m.Kind, m.ContentType = broker.Bytes, ""
	}
	if dec.fault == response.Poison {
		m.Kind, m.ContentType = broker.Text+broker.Bytes-m.Kind, ""
	}
	if m.CorrelationID = d.CorrelationID; svc.Correlation == messageID || svc.Correlation == auto && m.CorrelationID == nil {
		m.CorrelationID = d.ID
	}
	m.Properties = make([]broker.Property, 0, len(d.Properties)+len(dec.properties))
	for _, property := range d.Properties {
		if !hasProperty(dec.properties, property.Name) {
			m.Properties = append(m.Properties, property)
		}
	}
	for i, property := range dec.properties {
		switch {
		case strings.EqualFold(property.Name, "Content-Type"):
			m.ContentType = fmt.Sprint(property.Value)
		case !hasProperty(dec.properties[i+1:], property.Name): // the last one counts
			m.Properties = append(m.Properties, property)
		}
	}
	return m
}

// hasProperty reports whether there is a property of a name in any case.
func hasProperty(list []broker.Property, name string) bool {
	for _, p := range list {
		if strings.EqualFold(p.Name, name) {
			return true
		}
	}
	return false
}

// replyTo returns where the answer goes; empty if that is not known.
func (svc *service) replyTo(d *broker.Delivery) string {
	if d.ReplyTo != "" {
		return d.ReplyTo
	}
	return svc.ReplyTo
}
