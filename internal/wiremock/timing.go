// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"time"
)

// parseTiming takes what makes the answer late, slow or broken.
func (r *response) parseTiming(f *fields) error {
	var milliseconds int64
	if _, err := f.into("fixedDelayMilliseconds", &milliseconds); err != nil {
		return err
	}
	if milliseconds < 0 || milliseconds > longestDelay {
		return f.errorf("fixedDelayMilliseconds", "%d is not from 0 to %d", milliseconds, int64(longestDelay))
	}
	r.answer.FixedDelay = time.Duration(milliseconds) * time.Millisecond
	if _, err := f.into("delayDistribution", &r.answer.Delay); err != nil {
		return err
	}
	if err := r.parseDribble(f); err != nil {
		return err
	}
	return r.parseFault(f)
}

// longestDelay is a year, in milliseconds.
const longestDelay = 365 * 24 * 3600 * 1000

func (r *response) parseDribble(f *fields) error {
	data, given := f.take("chunkedDribbleDelay")
	if !given {
		return nil
	}
	d, err := newFields(f.at("chunkedDribbleDelay"), data)
	if err != nil {
		return err
	}
	var chunks, milliseconds int64
	if _, err := d.into("numberOfChunks", &chunks); err != nil {
		return err
	}
	if _, err := d.into("totalDuration", &milliseconds); err != nil {
		return err
	}
	if chunks < 1 || chunks > 1<<20 {
		return d.errorf("numberOfChunks", "%d is not from 1 to %d", chunks, 1<<20)
	}
	if milliseconds < 0 || milliseconds > longestDelay {
		return d.errorf("totalDuration", "%d is not from 0 to %d", milliseconds, int64(longestDelay))
	}
	r.answer.Dribble = Dribble{int(chunks), time.Duration(milliseconds) * time.Millisecond}
	return d.done()
}

func (r *response) parseFault(f *fields) error {
	if _, err := f.into("fault", &r.answer.Fault); err != nil {
		return err
	}
	switch r.answer.Fault {
	case "", ConnectionReset, EmptyResponse, MalformedResponse, RandomData:
		return nil
	}
	return f.errorf("fault", "there is no fault '%s'", r.answer.Fault)
}
