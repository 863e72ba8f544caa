// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Outcome is what becomes of a request, and of which ones.
type Outcome struct {
	// The status of the response, from 200 to 999. A 2xx serves the content, a
	// 404 `Not found`, any other `Error <status>`. Default: 200.
	Status int `json:"status,omitempty"`

	// The time from the request to the first byte of the response. Default: 0.
	Latency latency.Latency `json:"latency"`

	// The share of the requests that the outcome is for, of all that no `first`
	// before it took. The shares of a stage add up to at most 100. Default: all
	// that are left.
	Percent *units.Percent `json:"percent,omitempty"`

	// How many requests the outcome is for, from the begin of the stage on: a
	// number, or, for so many of each key, text like `2 by header X-User`. Keys
	// are those of `client_ip`, `uri`, `header <field>` and `cookie <name>`; of
	// the latest 100,000 it is remembered how often they came.
	First *First `json:"first,omitempty"`

	// What is wrong with the responses, or a share of them: `reset`, `empty`,
	// `malformed`, `garbage` or `hang`, with a percentage like `reset 10`; or
	// `cut`, with the share of the body that is sent before the connection breaks
	// off, like `cut 30`. Default: none; of `cut`, half of the body.
	Fault *Fault `json:"fault,omitempty"`

	// How fast the body is sent, like `100kb/s`. Default: as fast as it goes.
	Bandwidth Bandwidth `json:"bandwidth,omitempty"`

	// Sends the body in so many chunks over a time: `10 5s`.
	Dribble *Dribble `json:"dribble,omitempty"`

	// Sends the body without saying how long it is: over HTTP/1.1 in the encoding
	// `chunked`.
	Chunked bool `json:"chunked,omitempty"`

	// Whether the latency moves in a straight line to that of the outcome at the
	// same place in the next stage.
	Ramp bool `json:"ramp,omitempty"`

	// The body of this outcome's responses, whatever the status, in place of the
	// content. It may have holes like the recipe's.
	Body *string `json:"body,omitempty"`

	// The file that holds the body of this outcome's responses, whatever the
	// status, in place of the content. It is served as it is.
	BodyFile string `json:"body_file,omitempty"`

	// Header fields of this outcome's responses, in place of the recipe's fields
	// of the same name.
	Headers Headers `json:"headers,omitempty"`
}

// OnlyHTTP has the fields of an outcome that say how a body is sent, which an answer
// to a message does not have.
var OnlyHTTP = []string{"bandwidth", "dribble", "chunked"}

// mostOutcomes is how many outcomes a stage may have.
const mostOutcomes = 100

var errTooManyOutcomes = fmt.Errorf("more than %d of them", mostOutcomes)

// UnmarshalJSON reads an outcome and refuses fields that it does not know.
func (o *Outcome) UnmarshalJSON(data []byte) error {
	*o = Outcome{Status: http.StatusOK}
	return decodeObject(data, o.decoders())
}

// decoders returns what reads each field into the outcome.
func (o *Outcome) decoders() decoders {
	return decoders{
		"status":  decodeInto(&o.Status, "a whole number"),
		"latency": o.Latency.UnmarshalJSON,
		"percent": decodeNew(&o.Percent, func(p *units.Percent, data []byte) (err error) {
			*p, err = units.PercentOfJSON(data)
			return err
		}),
		"first":     decodeNew(&o.First, (*First).UnmarshalJSON),
		"fault":     decodeTextNew(&o.Fault, ParseFault),
		"bandwidth": decodeText(&o.Bandwidth, ParseBandwidth),
		"dribble":   decodeTextNew(&o.Dribble, ParseDribble),
		"chunked":   decodeInto(&o.Chunked, "true or false"),
		"ramp":      decodeInto(&o.Ramp, "true or false"),
		"body":      decodeInto(&o.Body, "text"),
		"body_file": decodeInto(&o.BodyFile, "text"),
		"headers":   o.Headers.UnmarshalJSON,
	}
}

// Validate checks the options of an outcome, and whether it goes together. The error
// names the field at fault.
func (o *Outcome) Validate() error {
	if o.Status < 200 || o.Status > 999 {
		return in("status", fmt.Errorf("%d is not valid: expected a status from 200 to 999", o.Status))
	}
	if o.First != nil && o.Percent != nil {
		return in("percent", errors.New("an outcome has one condition, and this one has first too"))
	}
	if o.Body != nil {
		if err := checkBody(*o.Body); err != nil {
			return in("body", err)
		}
		if o.BodyFile != "" {
			return in("body_file", errors.New("an outcome has one body, and this one has body too"))
		}
	}
	if err := o.Headers.validate(); err != nil {
		return in("headers", err)
	}
	if o.Headers.Get("Content-Encoding") != "" {
		return in("headers.content-encoding", errors.New("is for the whole recipe to say"))
	}
	return o.checkTogether()
}

// checkTogether refuses what could never be seen.
func (o *Outcome) checkTogether() error {
	given := o.aboutTheBody()
	if o.Fault != nil && o.Fault.Kind == response.Cut {
		given = append(given, "fault")
	} else if o.Fault != nil && o.Fault.Always() && !o.Fault.sendsBody() {
		if !o.Fault.Kind.Answers() && o.Headers != nil {
			given = append(given, "headers")
		}
		if len(given) > 0 {
			return in(given[0], fmt.Errorf("is never seen, as every response has the fault %s", o.Fault.Kind))
		}
	}
	if o.Bandwidth > 0 && o.Dribble != nil {
		return in("dribble", errors.New("there is a bandwidth already"))
	}
	if len(given) > 0 && !response.HasBody(o.Status) {
		return in(given[0], fmt.Errorf("status %d has no body", o.Status))
	}
	return nil
}

// aboutTheBody returns the fields that say something of the body.
func (o *Outcome) aboutTheBody() (given []string) {
	if o.Body != nil {
		given = append(given, "body")
	}
	if o.BodyFile != "" {
		given = append(given, "body_file")
	}
	if o.Bandwidth > 0 {
		given = append(given, "bandwidth")
	}
	if o.Dribble != nil {
		given = append(given, "dribble")
	}
	if o.Chunked {
		given = append(given, "chunked")
	}
	return given
}

// Condition returns in words which requests the outcome is for, like `first 2`;
// empty if it is for all that are left.
func (o *Outcome) Condition() string {
	switch {
	case o.First != nil:
		return "first " + o.First.String()
	case o.Percent != nil:
		return "percent " + o.Percent.String()
	}
	return ""
}

// Validate checks the options of a stage, and whether its outcomes go together. The
// error names the field at fault.
func (s *Stage) Validate() error {
	var sum float64
	for i := range s.Outcomes {
		o := &s.Outcomes[i]
		if err := o.Validate(); err != nil {
			return in(s.place(i), err)
		}
		if o.Condition() == "" && i < len(s.Outcomes)-1 {
			return in(s.place(i), errors.New("has no condition and is not the last: those after it would never be"))
		}
		if o.Percent != nil {
			sum += float64(*o.Percent)
		}
	}
	const rounding = 1e-6 // what a sum of shares may be off
	switch {
	case len(s.Outcomes) == 0:
		return in("outcomes", errors.New("expected at least one outcome"))
	case len(s.Outcomes) > mostOutcomes:
		return in("outcomes", errTooManyOutcomes)
	case sum > 100+rounding:
		return in("outcomes", fmt.Errorf("the shares add up to %v%%: at most 100%%", math.Round(sum/rounding)*rounding))
	}
	return nil
}

// place returns the path of an outcome, which is empty for a single one that was
// not written as a list.
func (s *Stage) place(i int) string {
	if len(s.Outcomes) == 1 && !s.listed {
		return ""
	}
	return "outcomes" + index(i)
}
