// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
)

// Answer is what a mapping answers, as data for a server to write. Its slices
// may be shared with other requests: they are not to be changed.
type Answer struct {
	Status int
	Header []Field
	Body   []byte
	// FixedDelay and Delay together are the time before the first byte.
	FixedDelay time.Duration
	Delay      latency.Latency
	// Dribble spreads the body over a time.
	Dribble Dribble
	Fault   Fault
}

// Field is a line of the header. Its name is in canonical form.
type Field struct{ Name, Value string }

// Dribble is a body sent in so many chunks over a time; no chunks: all at once.
type Dribble struct {
	Chunks   int
	Duration time.Duration
}

// Fault is a broken answer in WireMock's words; empty: none.
type Fault string

// The faults that a mapping can ask for.
const (
	ConnectionReset   Fault = "CONNECTION_RESET_BY_PEER"
	EmptyResponse     Fault = "EMPTY_RESPONSE"
	MalformedResponse Fault = "MALFORMED_RESPONSE_CHUNK"
	RandomData        Fault = "RANDOM_DATA_THEN_CLOSE"
)

// Wait draws the time before the first byte.
func (a *Answer) Wait(source rand.Source) time.Duration {
	return a.FixedDelay + a.Delay.Sample(source)
}

// Answer gives the answer to a request that the mapping matched.
func (m *Mapping) Answer(r *Request) Answer {
	answer, fixed := m.Fixed()
	if fixed {
		return answer
	}
	r.template = m.url.template
	if m.response.body != nil {
		answer.Body = m.response.body.Append(make([]byte, 0, 2*len(answer.Body)), model{r})
	}
	if m.response.headers != nil {
		answer.Header = append([]Field(nil), answer.Header...)
		for _, h := range m.response.headers {
			answer.Header[h.index].Value = oneLine(string(h.value.Append(nil, model{r})))
		}
	}
	return answer
}

// oneLine keeps what a client sent from adding lines to the header.
func oneLine(value string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' || c == 0x7f {
			return ' '
		}
		return c
	}, value)
}
