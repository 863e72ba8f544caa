// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/edit"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/follow"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/timeshift"
)

// changing is how requests differ from their records as they are sent.
type changing struct {
	shift  *timeshift.Shifter    // nil: times stay
	follow *follow.Conversations // nil: they are not followed
	pass   func() int            // of the recording that the last record is of
	stale  stale
}

// follows reports whether conversations are followed.
func (c *changing) follows() bool { return c != nil && c.follow != nil }

// changer makes the requests of one sender.
type changer struct {
	*changing
	rewriter *send.Rewriter
	target   int
	base     string // of the target
	draft    edit.Draft
	message  send.Message

	step     *follow.Step   // of the message that is sent
	response *http1.Capture // of conversations that are followed
	maxBody  int            // of it that others want
	reader   conversation.Reader
}

// maxAnswer is how many bytes of the body of an answer are looked into.
const maxAnswer = 1 << 20

// newChanger returns what makes the requests of one more sender to a target, nil
// if they go as they were recorded.
func (d *delivery) newChanger(target int, client *send.Client) *changer {
	if d.changing == nil {
		return nil
	}
	c := &changer{changing: d.changing, rewriter: &d.rewriter, target: target, base: d.targets[target].Base}
	if d.changing.follows() {
		if client.Capture == nil {
			client.Capture = new(http1.Capture)
		}
		c.response, c.maxBody = client.Capture, client.Capture.MaxBody
		client.Redirected = c.redirected
	}
	return c
}

// write returns the request that is sent of a message: its own if nothing in it
// changes, else one that is valid until the next call.
func (c *changer) write(m *message, start schedule.Start) (*send.Message, error) {
	r := &m.record.Request
	c.draft.Begin(r)
	c.step = m.step
	c.move(r, start.At.Add(start.Due-start.Started), m.step)
	if m.step != nil {
		m.step.Change(&c.draft, c.target)
		c.response.MaxBody = c.maxBody
		if m.step.Produces() {
			c.response.MaxBody = max(c.maxBody, maxAnswer)
		}
	}
	if !c.draft.Changed() {
		return &m.Message, nil
	}
	changed := c.draft.Request()
	c.stale.add(c.draft.Stale())
	return &c.message, c.rewriter.Write(&c.message, changed)
}

// stale counts the requests whose body was changed, by the fields that still sign
// the recorded one.
type stale struct {
	mu sync.Mutex
	by map[string]int64
}

// mostStale is how many fields are told apart.
const mostStale = 32

func (s *stale) add(fields []string) {
	if len(fields) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = make(map[string]int64)
	}
	for _, field := range fields {
		if _, known := s.by[field]; known || len(s.by) < mostStale {
			s.by[field]++
		}
	}
}

// report adds to a report which signatures are stale.
func (c *changing) report(r *report.Report) {
	if c == nil {
		return
	}
	c.stale.mu.Lock()
	defer c.stale.mu.Unlock()
	for _, field := range slices.Sorted(maps.Keys(c.stale.by)) {
		r.Stale = append(r.Stale, report.Stale{Field: field, Requests: c.stale.by[field]})
	}
}

// move moves the times of a request to when it is due, but for those within
// values that it has of answers.
func (c *changer) move(r *recording.Request, due time.Time, step *follow.Step) {
	if c.shift == nil || r.TimeNS == 0 {
		return
	}
	var keep []string
	if step != nil {
		keep = step.Olds()
	}
	c.shift.Shift(&c.draft, time.Unix(0, r.TimeNS), due, keep)
}

// answered takes what became of a request.
func (c *changer) answered(step *follow.Step, response *send.Response, err error) {
	if err != nil {
		step.Failed(c.target, response.Ended)
		return
	}
	answer := c.answer(response.Status)
	step.Answered(c.target, &c.reader, &answer, response.Ended)
	if cap(c.response.Body) > http1.FreeBody && c.maxBody == 0 {
		c.response.Body = nil
	}
}

// answer returns the answer that was captured.
func (c *changer) answer(status int) recording.Response {
	return recording.Response{
		Status: status, Headers: withoutBase(fieldLines(c.response.Head), c.base), Body: c.response.Body, BodySize: uint64(len(c.response.Body)),
	}
}

// redirected takes an answer that leads elsewhere, and returns the fields that go
// there with the cookies of the session.
func (c *changer) redirected(from, to *url.URL, headers []byte) []byte {
	if c.step == nil {
		return headers
	}
	var others, had []byte
	for name, value := range recording.EachField(headers) {
		if bytes.EqualFold(name, []byte("Cookie")) {
			had = append(append(had, value...), ';')
			continue
		}
		others = http1.AppendField(others, name, value)
	}
	answer := c.answer(0)
	if cookies := c.step.Redirected(c.target, &c.reader, &answer, from, to, string(had)); cookies != "" {
		others = http1.AppendField(others, []byte("Cookie"), []byte(cookies))
	}
	return others
}

// moved returns a request with its times moved to one, valid until the next call.
func (c *changer) moved(r *recording.Request, now time.Time) *recording.Request {
	c.draft.Begin(r)
	c.move(r, now, nil)
	return c.draft.Request()
}

// timing is what --time and the flags that belong to it say.
type timing struct {
	times  string
	jwtKey string             // a file
	shift  *timeshift.Shifter // nil: times stay
}

const (
	timesRecorded = "recorded"
	timesShift    = "shift"
)

func (t *timing) define(flags *pflag.FlagSet) {
	flags.Var(single(&t.times, "recorded|shift", parseTimes).or(timesRecorded), "time", "Times in requests: as recorded, or moved to when they are sent")
	flags.Var(single(&t.jwtKey, "FILE", parseText).once(), "jwt-key", "With --time shift, sign JSON Web Tokens anew with this key: HS256, RS256 or ES256")
}

func parseTimes(text string) (string, error) {
	switch text {
	case timesRecorded, timesShift:
		return text, nil
	}
	return "", fmt.Errorf("'%s' is not valid: expected recorded or shift", text)
}

// checkTiming checks what the flags about times say together, and reads the key.
func (p *params) checkTiming(args []string) error {
	switch {
	case p.times != timesShift && p.jwtKey != "":
		return errors.New("--jwt-key signs what --time shift moves: expected --time shift as well")
	case p.times != timesShift:
		return nil
	case slices.ContainsFunc(args, source.IsURL):
		return errors.New("--time shift moves recorded times, of which a URL has none")
	}
	p.shift = new(timeshift.Shifter)
	if p.jwtKey == "" {
		return nil
	}
	data, err := os.ReadFile(p.jwtKey)
	if err == nil {
		p.shift.Key, err = timeshift.ParseKey(data)
	}
	if err != nil {
		return fmt.Errorf("parsing --jwt-key: %s: %v", p.jwtKey, err)
	}
	return nil
}

// changing returns how requests differ from their records, nil if they don't.
func (p *params) changing() *changing {
	if p.shift == nil && p.followed == nil {
		return nil
	}
	return &changing{shift: p.shift}
}

// noteUnsigned warns of tokens that could not be moved.
func (c *changing) noteUnsigned(note func(error)) {
	if c == nil || c.shift == nil {
		return
	}
	if n, first := c.shift.Unsigned(); n > 0 {
		note(fmt.Errorf("%d JSON Web Tokens went as they were recorded, the first since %v", n, first))
	}
}
