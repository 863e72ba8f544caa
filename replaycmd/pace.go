// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
)

// pacing is when requests are due.
type pacing struct {
	speed    schedule.Speed
	rate     schedule.Shape
	max      bool
	poisson  bool
	minDelay time.Duration
	startAt  time.Time
	warmup   time.Duration
}

func (p *pacing) define(flags *pflag.FlagSet) {
	flags.Var(&p.speed, "speed", "Send at the recorded times, scaled: 2x is twice as fast (default 1x if the records have times)")
	flags.Var(single(&p.rate, "RATE", schedule.ParseShape), "rate", "Send at a rate, like 500/s, however fast the answers are; 10/s..200/s is a ramp over --duration, '0s:10/s 30s:200/s' straight lines between points")
	flags.BoolVar(&p.poisson, "poisson", false, "Have requests at a --rate come by chance (see --seed), as those of many users do")
	flags.BoolVar(&p.max, "max", false, "Send as fast as the connections allow")
	flags.VarP(single(&p.minDelay, "DURATION", parseDelay), "min-delay", "m", "Start requests at least this long after one another")
	flags.Var(single(&p.startAt, "TIME", parseTime), "start-at", "Wait for this time (RFC 3339) and start then")
	flags.Var(single(&p.warmup, "DURATION", parseDuration), "warmup", "Send for this long first, and keep it out of figures, --requests and --duration")
}

func (p *params) checkPace() error {
	if given := p.given("speed", "rate", "max"); len(given) > 1 {
		return fmt.Errorf("%s exclude one another: expected one of --speed, --rate and --max", strings.Join(given, " and "))
	}
	if p.poisson && !p.rate.Given() {
		return errors.New("--poisson is about a rate: expected --rate as well")
	}
	if !p.startAt.IsZero() && time.Now().After(p.startAt) {
		return fmt.Errorf("parsing --start-at: %s has passed", p.startAt.Format(time.RFC3339))
	}
	rate, err := p.rate.Within(p.duration)
	if err != nil {
		return fmt.Errorf("--rate: %v", err)
	}
	p.rate = rate
	if end := rate.End(); end > 0 && (p.duration == 0 || p.duration > end) {
		p.duration = end // the run ends with the last point
	}
	return nil
}

// plan returns when requests are due.
func (p *params) plan(records *records) (schedule.Schedule, error) {
	s := schedule.Schedule{Rate: p.rate, Speed: p.speed, MinDelay: p.minDelay, Poisson: p.poisson, Seed: p.seed, Warmup: p.warmup}
	if records.url != nil {
		return s, nil
	}
	timed, err := records.timed() // which also has the first records read before the clock starts
	switch {
	case err != nil:
		return s, err
	case p.max, p.rate.Given():
	case !timed && p.speed > 0:
		return s, errors.New("the records have no times for --speed: expected --rate or --max")
	case timed && p.speed == 0:
		s.Speed = 1
	}
	return s, nil
}
