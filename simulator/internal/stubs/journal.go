// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// JournalOptions are what is kept of requests.
type JournalOptions struct {
	// Requests and Bytes are how many requests are kept, and how much of memory
	// they may take together with what they were answered. The oldest go first.
	Requests int
	Bytes    int64
	// Mask leaves values out. Nil: none are.
	Mask *recorder.Mask
}

// Source is what the journal has to know of a request beside what mappings look at.
type Source interface {
	// EachField visits all lines of the header.
	EachField(visit func(name, value string))
	// Protocol is that of the request, like HTTP/1.1.
	Protocol() string
}

// event is a request and what it was answered.
type event struct {
	id       string
	at       time.Time
	method   string
	target   string
	host     string
	scheme   string
	clientIP string
	protocol string
	header   fields
	body     []byte
	lost     bool                              // the body did not fit into the journal
	mapping  *wiremock.Mapping                 // nil: none took it
	answer   atomic.Pointer[response.Response] // nil: it is not known
	size     int64
}

// fields are the lines of a header.
type fields []wiremock.Field

// Values returns the values of a field by its name in any case.
func (f fields) Values(name string) []string {
	var values []string
	for _, one := range f {
		if equalFold(one.Name, name) {
			values = append(values, one.Value)
		}
	}
	return values
}

// Get returns the first value of a field by its name in any case.
func (f fields) Get(name string) string {
	for _, one := range f {
		if equalFold(one.Name, name) {
			return one.Value
		}
	}
	return ""
}

// journal keeps the latest requests.
type journal struct {
	options JournalOptions

	mu     sync.Mutex
	events []*event // the oldest first
	size   int64
}

func newJournal(options JournalOptions) *journal { return &journal{options: options} }

// add keeps a request. Its body is read for that, if it has not been yet.
// What is shared of the response takes no memory of the journal.
func (j *journal) add(r *wiremock.Request, from Source, mapping *wiremock.Mapping, a *response.Response, shared bool) *event {
	e := &event{
		id: newID(), at: time.Now(),
		method: r.Method, target: r.Target, host: r.Host, scheme: r.Scheme, clientIP: r.Client(),
		protocol: from.Protocol(), mapping: mapping,
	}
	body, kind := r.Body(), ""
	from.EachField(func(name, value string) {
		if equalFold(name, "Content-Type") {
			kind = value
		}
		e.header = append(e.header, wiremock.Field{Name: name, Value: value})
	})
	if a != nil {
		kept := *a
		if !shared {
			if a.Content.Size > j.options.Bytes/4 {
				kept.Message = withoutContent(a.Message)
			}
			e.size += sizeOfMessage(kept.Message)
		}
		e.answer.Store(&kept)
	}
	if e.lost = int64(len(body)) > j.options.Bytes/4; !e.lost {
		e.body = []byte(body)
	}
	j.mask(e, kind)
	e.size += int64(len(e.body)+len(e.target)+len(e.host)) + 512
	for i := range e.header {
		e.size += int64(len(e.header[i].Name)+len(e.header[i].Value)) + 32
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
	j.size += e.size
	j.trim()
	return e
}

// withoutContent returns a copy of a message that has no body. It shares nothing with
// the message, which has all that is its own in one piece of memory.
func withoutContent(m *response.Message) *response.Message {
	fields := slices.Clone(m.Fields)
	for i := range fields {
		fields[i].Values = slices.Clone(fields[i].Values)
	}
	bare := response.NewMessage(m.Status, fields, response.Content{})
	bare.Reason = m.Reason
	return bare
}

// sizeOfMessage returns how much memory a message takes, about.
func sizeOfMessage(m *response.Message) int64 {
	size := m.Content.Size
	for _, f := range m.Fields {
		for _, value := range f.Values {
			size += int64(len(value)) + 32
		}
	}
	return size
}

func (j *journal) mask(e *event, kind string) {
	m := j.options.Mask
	if m == nil {
		return
	}
	for i := range e.header {
		e.header[i].Value = m.Field(e.header[i].Name, e.header[i].Value)
	}
	e.host, e.target = m.Field("Host", e.host), m.Target(e.target)
	e.body = m.Body(e.header.Values("Content-Encoding"), kind, e.body)
}

// trim drops the oldest events until the journal is within its limits.
func (j *journal) trim() {
	gone := 0
	for gone < len(j.events) && (len(j.events)-gone > j.options.Requests || j.size > j.options.Bytes) {
		j.size -= j.events[gone].size
		j.events[gone] = nil
		gone++
	}
	j.events = j.events[gone:]
}

// all returns the events, the latest first.
func (j *journal) all() []*event {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	list := slices.Clone(j.events)
	slices.Reverse(list)
	return list
}

// remove takes events out.
func (j *journal) remove(gone []*event) {
	if j == nil {
		return
	}
	is := make(map[*event]bool, len(gone))
	for _, e := range gone {
		is[e] = true
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	kept := make([]*event, 0, len(j.events))
	j.size = 0
	for _, e := range j.events {
		if !is[e] {
			kept = append(kept, e)
			j.size += e.size
		}
	}
	j.events = kept
}

// request returns the request of an event for conditions to look at.
func (e *event) request() *wiremock.Request {
	return &wiremock.Request{
		Method: e.method, Target: e.target, Host: e.host, Scheme: e.scheme, ClientIP: e.clientIP,
		Header:   e.header,
		ReadBody: func() ([]byte, error) { return e.body, nil },
	}
}

// newID returns a random UUID.
func newID() string {
	var bytes [16]byte
	for i, half := range []uint64{rand.Uint64(), rand.Uint64()} {
		for k := range 8 {
			bytes[8*i+k] = byte(half >> (8 * k))
		}
	}
	return wiremock.UUID(bytes)
}
