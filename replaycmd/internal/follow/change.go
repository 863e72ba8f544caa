// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/edit"
)

// Olds returns the recorded values that Change replaces.
func (s *Step) Olds() []string {
	var olds []string
	for i := range s.needs {
		if old := s.needs[i].old; old != "" {
			olds = append(olds, old)
		}
	}
	return olds
}

// Change makes the request of a draft one that a target understands: with the
// values that its answers have handed out, the cookies of the session, and an
// Idempotency-Key of its own.
func (s *Step) Change(d *edit.Draft, target int) {
	var c changes
	for i := range s.needs {
		n := &s.needs[i]
		if n.lenient {
			continue
		}
		o, _ := n.step.outcome(target, nil)
		if value, ok := s.value(n, target, &o); ok {
			c.add(n, value)
		}
	}
	c.apply(d)
	for _, is := range c.all {
		switch counts := &s.run.links[is.link].targets[target]; {
		case c.made(d, is):
			counts.followed.Add(1)
		default:
			counts.kept.Add(1)
		}
	}
	if s.session != nil {
		if is := d.Target(); string(is) != s.target {
			s.mu.Lock()
			s.at[target].target = string(is)
			s.mu.Unlock()
		}
		s.changeCookies(d, target)
	}
	d.Field(idempotencyKey, func(value string) (string, bool) { return s.run.idempotencyKey(value, s.pass, target), true })
}

// Remakes reports whether requests have a value of their own at a place, which no
// answer has to have: a key that each run makes anew, a digest of the body.
func Remakes(at conversation.Place) bool {
	return at.Kind == conversation.Header && (at.Name == idempotencyKey || edit.IsDigest(at.Name))
}

const idempotencyKey = "Idempotency-Key"

// changeCookies replaces the cookies that the recording sends by those of the
// jar. One that the target has taken back, or that is not for this request, is
// left out.
func (s *Step) changeCookies(d *edit.Draft, target int) {
	if len(s.jarred) == 0 {
		return
	}
	now, o := time.Now(), s.originAt(target)
	numbers := make(map[string]int) // of those of one name
	d.Cookies(func(name, value string) (string, bool) {
		if !s.jarred[name] {
			return value, true
		}
		sent, known := s.session.jars[target].of(name, o, now)
		n := numbers[name]
		numbers[name]++
		switch {
		case !known:
			return value, true
		case n >= len(sent):
			return "", false
		}
		return sent[n].value, true
	})
}

// idempotencyKey returns what a recorded key becomes in this run: the same for
// the same one, so that a client's second attempt stays one, and the same at all
// targets, but for those that are others once more. It is a UUID.
func (c *Conversations) idempotencyKey(recorded string, pass, target int) string {
	mac := hmac.New(sha256.New, []byte(c.seed))
	fmt.Fprintf(mac, "%d %t %s", pass, target >= c.options.Targets-c.options.Again, recorded)
	sum := mac.Sum(nil)
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	text := hex.EncodeToString(sum[:16])
	key := text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
	if strings.HasPrefix(recorded, `"`) {
		return `"` + key + `"`
	}
	return key
}
