// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/follow"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// conversing is what --links and the flags that belong to it say.
type conversing struct {
	links    string
	sessions []conversation.SessionKey
	think    string

	followed  *conversation.File // nil: conversations are not followed
	ends      *conversation.Ends // of its sessions; nil: not known
	notLinked []report.NotLinked
	elsewhere []report.Elsewhere
}

const (
	linksAuto     = "auto"
	linksOff      = "off"
	thinkNone     = "none"
	thinkRecorded = "recorded"
)

func (c *conversing) define(flags *pflag.FlagSet) {
	flags.Var(single(&c.links, "auto|FILE|off", parseText).or(linksOff), "links", "Follow conversations: what a request has of an earlier answer it gets from the target's; by the links of this file, or those that are found")
	flags.Var(several(&c.sessions, "KEY", conversation.ParseSessionKey), "session", "With --links, what names a session: 'cookie NAME', 'header NAME', bearer or client_ip (repeatable, default as found)")
	flags.Var(single(&c.think, "recorded|none", parseThink).or(thinkNone), "think", "With --links, keep the pause between an answer and the request that follows it, or don't")
}

func parseThink(text string) (string, error) {
	switch text {
	case thinkNone, thinkRecorded:
		return text, nil
	}
	return "", fmt.Errorf("'%s' is not valid: expected recorded or none", text)
}

// checkConversing checks what the flags about conversations say together.
func (p *params) checkConversing(args []string) error {
	if p.links == linksOff {
		flags := []string{"session", "think"}
		if p.shard != nil { // of which sessions are whole
			flags = flags[1:]
		}
		if given := p.given(flags...); len(given) > 0 {
			return fmt.Errorf("%s is about conversations: expected --links auto or --links FILE as well", given[0])
		}
		return p.checkConditions(report.Condition.OfUnlinked, "conversations: expected --links auto or --links FILE as well")
	}
	if slices.ContainsFunc(args, source.IsURL) {
		return errors.New("--links follows recorded conversations, of which a URL has none")
	}
	if p.think == thinkRecorded && (p.max || p.rate.Given()) {
		return errors.New("--think recorded keeps recorded pauses: expected --speed, not --max or --rate")
	}
	return nil
}

// findLinks reads the links of a file, or finds them in the records that are
// chosen. What --percent chooses from are then sessions.
func (p *params) findLinks(ctx context.Context, args []string, stdin io.Reader, note func(error)) error {
	switch p.links {
	case linksOff:
		return nil
	case linksAuto:
		chosen := p.selection
		if p.percent != nil { // sessions have names once their records are read
			chosen.percent, chosen.requests = nil, 0
		}
		if err := p.findThem(ctx, &again{&chosen, args, stdin}, note); err != nil {
			return err
		}
	default:
		if err := p.readLinks(); err != nil {
			return err
		}
	}
	p.assign = p.newSessions
	return nil
}

// newSessions returns what assigns the records of a round to sessions.
func (p *params) newSessions() follow.Sessions {
	return conversation.NewSessions(p.followed.Session, p.followed.Sessions)
}

// readLinks reads the links of the file that --links names.
func (p *params) readLinks() error {
	data, err := os.ReadFile(p.links)
	if err != nil {
		return fmt.Errorf("parsing --links: %v", err)
	}
	if p.followed, err = conversation.ParseFile(p.links, data); err != nil {
		return fmt.Errorf("parsing --links: %v", err)
	}
	if len(p.sessions) > 0 {
		p.followed.Session = p.sessions
	}
	if len(p.followed.Session)+len(p.followed.Sessions) == 0 {
		return fmt.Errorf("parsing --links: %s names no session: expected --session as well", p.links)
	}
	return nil
}

// findThem finds links.
func (p *params) findThem(ctx context.Context, again *again, note func(error)) error {
	stream, err := again.stream()
	switch {
	case err != nil:
		return err
	case stream != "":
		return fmt.Errorf("--links auto cannot read %s twice: expected --links FILE, or a file", stream)
	}
	defer debug.FreeOSMemory() // or the run would come on top of what finding took
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	finder := conversation.NewFinder(p.sessions)
	finder.Ending = true
	err = again.each(ctx, func(r *recording.Request) error {
		finder.Add(r)
		return nil
	})
	if err != nil {
		return err
	}
	found := finder.Result()
	if found.Responses == 0 {
		return errors.New("--links auto finds links in responses, of which the recording has none: expected --links FILE")
	}
	if len(found.Links) == 0 {
		note(errors.New("--links auto: nothing was found that requests have of earlier responses"))
	}
	p.followed, p.ends = &found.File, found.Ends
	for i := range found.Few {
		l := &found.Few[i]
		p.notLinked = append(p.notLinked, report.NotLinked{Consumer: l.Consumer.String(), Producer: l.Producer.String(), Sessions: l.Sessions})
	}
	for _, e := range found.Elsewhere {
		if follow.Remakes(e.Consumer.Place) {
			continue
		}
		p.elsewhere = append(p.elsewhere, report.Elsewhere{Consumer: e.Consumer.String(), Sessions: e.Sessions, Record: e.Record})
	}
	return nil
}

// followIn makes a delivery follow conversations, at all its targets.
func (p *params) followIn(d *delivery, records *records, plan schedule.Schedule) {
	if p.followed == nil {
		return
	}
	options := follow.Options{
		Links: p.followed.Links, Targets: len(d.targets), Again: d.hidden,
		Sessions: p.newSessions, Address: d.address,
	}
	if p.ends != nil {
		options.Last = func() bool { return p.ends.Last(records.number()) }
	}
	if p.think == thinkRecorded {
		options.Pauses = float64(plan.Speed)
	}
	d.changing.follow, d.changing.pass = follow.New(options), records.round
}

// address returns what a target is told as its host, if that is not the recorded
// one, and what it is asked for in place of the target of a request.
func (d *delivery) address(target int, asked string) (host, sent string) {
	to := &d.targets[target]
	if host = d.rewriter.Host; d.options.TargetHost {
		host = to.Host
	}
	if len(d.rewriter.Targets) > 0 {
		asked = string(d.rewriter.Target([]byte(asked)))
	}
	if to.Base != "" && strings.HasPrefix(asked, "/") {
		asked = to.Base + asked
	}
	return host, asked
}

// reportLinks adds to a report what became of each link.
func (p *params) reportLinks(d *delivery, r *report.Report, note func(error)) {
	if !d.changing.follows() {
		return
	}
	for i := range r.Targets {
		for _, c := range d.changing.follow.Counts(i) {
			r.Targets[i].Links = append(r.Targets[i].Links, report.Link{
				Consumer: c.Consumer.String(), Producer: c.Producer.String(),
				Followed: c.Followed, Failed: c.Failed, Gone: c.Gone, Kept: c.Kept, Elsewhere: c.Elsewhere,
			})
		}
	}
	for i, t := range d.targets[:d.counted()] {
		if n, first := d.changing.follow.Refused(i); n > 0 {
			cookies := "cookies were"
			if n == 1 {
				cookies = "cookie was"
			}
			note(fmt.Errorf("%s: %d %s refused, as a browser does: %s", t.Name, n, cookies, first))
		}
	}
	r.Following, r.NoSession = true, !d.changing.follow.Found()
	r.NotLinked, r.Elsewhere = p.notLinked, p.elsewhere
	switch {
	case r.NoSession:
		note(errors.New("--links: no record has a session: nothing was followed (--session says what names one)"))
	case len(p.followed.Links) == 0 && p.links != linksAuto:
		note(fmt.Errorf("--links: %s has no links: only cookies were followed", p.links))
	}
	if n := d.changing.follow.Returned(); n > 0 {
		note(fmt.Errorf("--links: sessions came back %d times after they were forgotten, since too many others went on or came in between: what they need from before was not linked", n))
	}
}
