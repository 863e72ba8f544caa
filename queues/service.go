// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// Service answers the requests that come to an address of a broker.
type Service struct {
	// The address that requests come to, as the broker calls it.
	Address string `json:"address,omitempty"`

	// The name of the service in metrics, logs and Caddy's admin API. Default: the
	// address; further services on it have #2, #3 and so on behind it.
	Name string `json:"name,omitempty"`

	// The name of the broker. Default: the only one that there is.
	Broker string `json:"broker,omitempty"`

	// How many requests may be in hand at once, most of which sleep. Of several
	// services on an address the largest number counts. Default: 1000.
	Concurrency int `json:"concurrency,omitempty"`

	// What a request has to be like, all of it. Of several services on an address the
	// first one that matches answers. Default: any request.
	Match []Condition `json:"match,omitempty"`

	// Files and directories with WireMock's stub mappings, which are tried before the
	// stages. A request is to them a POST to the address, with its properties as
	// header fields. Placeholders that are known at load are replaced.
	MappingFiles []string `json:"mapping_files,omitempty"`

	// The body of answers. `<<256kb>>` in it becomes random text of that size. Default:
	// none.
	Body *string `json:"body,omitempty"`

	// The file that is the body of answers.
	BodyFile string `json:"body_file,omitempty"`

	// Properties of answers. Those of the request are carried over.
	Headers recipe.Headers `json:"headers,omitempty"`

	// What happens when. Without stages, what no mapping takes is unmatched.
	Stages recipe.MessageStages `json:"stages,omitempty"`

	// Begins the stages again: after a period like `60s`, or, if it is true, when the
	// last stage has lasted as long as the one before it. Default: the last stage
	// stays.
	Loop *recipe.Loop `json:"loop,omitempty"`

	// When the clock is at 0, in the form of RFC 3339. Default: when the service was
	// loaded.
	Start *time.Time `json:"start,omitempty"`

	// Makes all random choices the same in every run: a whole number below 2^53.
	// Default: every run differs.
	Seed *uint64 `json:"seed,omitempty"`

	// Where answers go whose requests do not say it. Default: such requests are
	// unanswerable.
	ReplyTo string `json:"reply_to,omitempty"`

	// What answers are: `text`, `bytes`, or `preserve`, the same as the request.
	// Default: `preserve`.
	BodyType string `json:"body_type,omitempty"`

	// Which correlation id an answer has: `correlation_id` or `message_id` of the
	// request, or `auto`, the correlation id if the request has one, else its message
	// id. Default: `auto`.
	Correlation string `json:"correlation,omitempty"`

	// What becomes of requests that nothing matches, or that cannot be decided on:
	// `discard`, `reject`, or `dead_letter` with an address. Default: `reject`.
	Unmatched *Disposal `json:"unmatched,omitempty"`

	// What becomes of requests whose answer cannot be sent: as for `unmatched`.
	// Default: `discard`.
	Unanswerable *Disposal `json:"unanswerable,omitempty"`

	// How long requests that sleep may take to be answered when the service ends or
	// Caddy exits; what is left then goes back to the broker. Default: 10s.
	GracePeriod caddy.Duration `json:"grace_period,omitempty"`
}

// Condition is what a request has to be like.
type Condition struct {
	// The property that is looked at. Default: the body.
	Property string `json:"property,omitempty"`

	// How it is compared, in WireMock's words: `equal_to`, `contains`,
	// `does_not_contain`, `matches`, `does_not_match`, `equal_to_json`,
	// `matches_json_path`, `matches_json_schema`, `equal_to_xml`, `matches_xpath`,
	// `absent`. Default: `equal_to`.
	Operator string `json:"operator,omitempty"`

	// What it is compared with.
	Value string `json:"value,omitempty"`
}

// Disposal is what becomes of a request without an answer.
type Disposal struct {
	// `discard`, `reject` or `dead_letter`.
	How string `json:"how"`

	// Where a dead letter goes.
	Address string `json:"address,omitempty"`
}

// The words of the options.
const (
	discard    = "discard"
	reject     = "reject"
	deadLetter = "dead_letter"

	preserve  = "preserve"
	textBody  = "text"
	bytesBody = "bytes"

	auto          = "auto"
	correlationID = "correlation_id"
	messageID     = "message_id"
)

const (
	defaultConcurrency = 1000
	mostConcurrency    = 1_000_000
	defaultGrace       = 10 * time.Second
)

func oneOf(words ...string) func(string) (string, error) {
	return func(word string) (string, error) {
		if slices.Contains(words, word) {
			return word, nil
		}
		return word, fmt.Errorf("'%s' is unknown: expected one of %v", word, words)
	}
}

var (
	parseBodyType    = oneOf(preserve, textBody, bytesBody)
	parseCorrelation = oneOf(auto, correlationID, messageID)
)

func (d *Disposal) check() error {
	if d == nil {
		return nil
	}
	if _, err := oneOf(discard, reject, deadLetter)(d.How); err != nil {
		return err
	}
	if (d.How == deadLetter) != (d.Address != "") {
		return errors.New("an address belongs to dead_letter, and to nothing else")
	}
	return nil
}

// recipe returns what the stages and what holds for all of them are together, as a
// recipe that is checked. Without stages it has none.
func (s *Service) recipe() (recipe.Recipe, error) {
	all := recipe.Recipe{Body: s.Body, BodyFile: s.BodyFile, Headers: s.Headers, Loop: s.Loop, Start: s.Start, Seed: s.Seed}
	if len(s.Stages) == 0 {
		for _, field := range []struct {
			name  string
			given bool
		}{
			{"body", s.Body != nil}, {"body_file", s.BodyFile != ""}, {"headers", s.Headers != nil}, {"loop", s.Loop != nil}, {"start", s.Start != nil},
		} {
			if field.given {
				return all, &recipe.FieldError{Field: field.name, Err: errors.New("belongs to stages, and there is none")}
			}
		}
		return all, nil
	}
	return s.Stages.Recipe(all)
}

// check brings the service into its normal form. The error names the field.
func (s *Service) check() error {
	if s.Address == "" {
		return errors.New("address: expected where requests come to")
	}
	if s.Concurrency == 0 {
		s.Concurrency = defaultConcurrency
	}
	if s.Concurrency < 1 || s.Concurrency > mostConcurrency {
		return fmt.Errorf("concurrency: %d is not from 1 to %d", s.Concurrency, mostConcurrency)
	}
	if s.BodyType == "" {
		s.BodyType = preserve
	}
	if s.Correlation == "" {
		s.Correlation = auto
	}
	if s.GracePeriod == 0 {
		s.GracePeriod = caddy.Duration(defaultGrace)
	}
	if s.GracePeriod < 0 || s.GracePeriod > math.MaxInt64/2 {
		return errors.New("grace_period: must be greater than 0")
	}
	if s.Unmatched == nil {
		s.Unmatched = &Disposal{How: reject}
	}
	if s.Unanswerable == nil {
		s.Unanswerable = &Disposal{How: discard}
	}
	if s.ReplyTo == s.Address {
		return errors.New("reply_to: is the address that requests come to: each answer would be a request again")
	}
	if _, err := parseBodyType(s.BodyType); err != nil {
		return fmt.Errorf("body_type: %v", err)
	}
	if _, err := parseCorrelation(s.Correlation); err != nil {
		return fmt.Errorf("correlation: %v", err)
	}
	for _, disposal := range []struct {
		field string
		*Disposal
	}{{"unmatched", s.Unmatched}, {"unanswerable", s.Unanswerable}} {
		if err := disposal.check(); err != nil {
			return fmt.Errorf("%s: %v", disposal.field, err)
		}
		if disposal.Address == s.Address {
			return fmt.Errorf("%s: '%s' is the address that requests come to: each dead letter would be a request again", disposal.field, s.Address)
		}
	}
	if err := recipe.CheckSeed(s.Seed); err != nil {
		return fmt.Errorf("seed: %v", err)
	}
	if _, err := newConditions(s.Match); err != nil {
		return err
	}
	if len(s.Stages) == 0 && len(s.MappingFiles) == 0 {
		return errors.New("expected stages or mappings, or there is no answer")
	}
	_, err := s.recipe()
	return err
}
