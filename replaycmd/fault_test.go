// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// recordsThatPanic returns records, then panics, as code does that a recording has
// taken where it should not go.
type recordsThatPanic struct{ good int }

func (r *recordsThatPanic) Next() (*recording.Request, error) {
	if r.good--; r.good < 0 {
		panic("a record nobody thought of")
	}
	return &recording.Request{Method: []byte("GET"), URI: []byte("/"), Host: []byte("shop.test")}, nil
}

// A fault of reading or sending costs what it is about, and is named in the report:
// what was sent before is in it.
func TestAFaultDoesNotEndTheProcess(t *testing.T) {
	target, err := send.ParseTarget(serve(t, nil).url)
	if err != nil {
		t.Fatal(err)
	}
	d := &delivery{
		records: &recordsThatPanic{good: 3}, targets: []send.Target{target}, connections: 1,
		options: send.Options{Timeout: time.Minute}, classes: report.NewClasses(report.ByNothing), stopReading: func() {},
	}
	d.prepare()
	results, err := d.send(t.Context())
	if err == nil || !strings.Contains(err.Error(), "a record nobody thought of") || len(results) != 1 || results[0].Answered != 3 {
		t.Errorf("got %+v, %v", results, err)
	}

	d = &delivery{records: onlyEOF{}, targets: []send.Target{target}, connections: 1, stopReading: func() {}}
	d.prepare()
	s := d.lines[0].NewSender(context.Background()).(*sender)
	s.changer = new(changer) // without what it needs
	s.Send(&message{class: -1}, schedule.Start{At: time.Now()})
	totals := d.lines[0].collector.Finish()
	if first := errors.Join(d.lines[0].firstErrors.all()...); totals.Requests != 1 || totals.Failures["malformed"] != 1 || first == nil || !strings.Contains(first.Error(), "please report it") {
		t.Errorf("got %+v, %v", totals, first)
	}
}

type onlyEOF struct{}

func (onlyEOF) Next() (*recording.Request, error) { return nil, io.EOF }
