// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// MessageStages are the stages of answers to messages on queues. They are those
// of a recipe, but that an answer has no status, its faults are other ones, and
// its header fields are properties of the message.
type MessageStages []Stage

var messageFaults = []response.Fault{response.Drop, response.Duplicate, response.Poison, response.Late}

// ErrNoStatus is the error of a stage for messages that has a status.
var ErrNoStatus = errors.New("a message has no status: leave it out")

// ParseMessageFault reads a fault of messages from text: `drop`, `duplicate`,
// `poison` or `late <duration>`, each with a percentage unless it is all of them.
func ParseMessageFault(text string) (Fault, error) {
	words := strings.Split(text, " ")
	fault := Fault{Kind: response.Fault(words[0]), Percent: 100}
	if slices.Contains(faults, fault.Kind) {
		return Fault{}, fmt.Errorf("'%s' is a fault of HTTP: expected one of %v", words[0], messageFaults)
	}
	if !slices.Contains(messageFaults, fault.Kind) {
		return Fault{}, fmt.Errorf("'%s' is not a fault: expected one of %v", words[0], messageFaults)
	}
	words = words[1:]
	if fault.Kind == response.Late {
		if len(words) == 0 {
			return Fault{}, errors.New("expected how late the answer is, like late 30s")
		}
		var err error
		if fault.Delay, err = ParseOffset(words[0]); err != nil {
			return Fault{}, err
		}
		if fault.Delay == 0 {
			return Fault{}, errors.New("must be late by more than 0")
		}
		words = words[1:]
	}
	switch len(words) {
	case 0:
		return fault, nil
	case 1:
		var err error
		fault.Percent, err = units.ParsePercent(words[0])
		return fault, err
	}
	return Fault{}, fmt.Errorf("'%s' is more than a fault and its share", text)
}

// UnmarshalJSON reads a list of stages and refuses fields that messages do not
// have.
func (m *MessageStages) UnmarshalJSON(data []byte) error {
	*m = nil
	return in("stages", decodeList(data, func(i int, value []byte) error {
		if i == mostElements {
			return errTooMany
		}
		var stage Stage
		var single Outcome
		err := stage.decode(value, &single, single.messageDecoders(), func(o *Outcome, value []byte) error {
			return decodeObject(value, o.messageDecoders())
		})
		*m = append(*m, stage)
		return err
	}))
}

// messageDecoders returns what reads each field that an answer to a message has.
func (o *Outcome) messageDecoders() decoders {
	known := o.decoders()
	for _, field := range OnlyHTTP {
		delete(known, field)
	}
	known["fault"] = decodeTextNew(&o.Fault, ParseMessageFault)
	known["status"] = func([]byte) error { return ErrNoStatus }
	return known
}

// Recipe returns the stages with what holds for all of them as a recipe that is
// checked. Its outcomes all have the status 200.
func (m MessageStages) Recipe(all Recipe) (Recipe, error) {
	all.Stages = make([]Stage, len(m))
	for i, stage := range m {
		stage.Outcomes = slices.Clone(stage.Outcomes)
		for j := range stage.Outcomes {
			o := &stage.Outcomes[j]
			if o.First != nil && o.First.By != nil && o.First.By.Kind != ByHeader {
				err := fmt.Errorf("a message has no %s: expected header <property>", o.First.By.Kind)
				return all, in("stages"+index(i), in(stage.place(j), in("first", err)))
			}
			o.Status = http.StatusOK
		}
		all.Stages[i] = stage
	}
	return all, all.Validate()
}

// Validate checks a stage alone. The error names the field at fault.
func (m MessageStages) Validate() error {
	for i := range m {
		all, err := MessageStages{m[i]}.Recipe(Recipe{})
		if err == nil {
			continue
		}
		if m[i].hasRamp() && all.Stages[0].Validate() == nil {
			continue // where it leads to is known when all stages are
		}
		if inner, ok := errors.AsType[*FieldError](err); ok {
			return &FieldError{Field: strings.TrimPrefix(strings.TrimPrefix(inner.Field, "stages[0]"), "."), Err: inner.Err}
		}
		return err
	}
	return nil
}

func (s *Stage) hasRamp() bool {
	return slices.ContainsFunc(s.Outcomes, func(o Outcome) bool { return o.Ramp })
}
