// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/edit"
)

// changes are the values that are replaced in one request.
type changes struct {
	all        []fresh
	everywhere []edit.Replacement
	places     []placed
}

// fresh is a need with the value that the target has handed out for it.
type fresh struct {
	*need
	value string
}

// placed are the values that are replaced at one place, all at once: the new value
// of one may be what another was.
type placed struct {
	at     conversation.Place
	values []replaced
	long   bool // they are replaced everywhere before
}

type replaced struct {
	old, by string
	done    bool
}

func (c *changes) add(n *need, value string) {
	c.all = append(c.all, fresh{n, value})
	if value == n.old {
		return
	}
	if n.secret != nil && c.replacement(n.old) == nil {
		c.everywhere = append(c.everywhere, edit.Replacement{Secret: n.secret, By: value})
	}
	if n.place.Kind == conversation.NoPlace {
		return
	}
	i := slices.IndexFunc(c.places, func(p placed) bool { return p.at == n.place && p.long == (n.secret != nil) })
	if i < 0 {
		i = len(c.places)
		c.places = append(c.places, placed{at: n.place, long: n.secret != nil})
	}
	if c.places[i].find(n.old) == nil {
		c.places[i].values = append(c.places[i].values, replaced{old: n.old, by: value})
	}
}

// find returns what is replaced of a value, nil if it is not.
func (p *placed) find(old string) *replaced {
	for i := range p.values {
		if p.values[i].old == old {
			return &p.values[i]
		}
	}
	return nil
}

// apply replaces the long values wherever they stand, and then, at their places,
// the short ones and those that stand there in a form in which they were not found.
func (c *changes) apply(d *edit.Draft) {
	d.Replace(c.everywhere)
	for i := range c.places {
		c.places[i].change(d)
	}
}

// made reports whether a need was met: with the recorded value itself, at its place,
// or wherever it stands, which may be within another that was replaced.
func (c *changes) made(d *edit.Draft, is fresh) bool {
	if is.value == is.old {
		return true
	}
	for i := range c.places {
		if p := &c.places[i]; p.at == is.place && p.long == (is.secret != nil) && p.find(is.old).done {
			return true
		}
	}
	if is.secret == nil {
		return false
	}
	return c.replacement(is.old).Found || is.place.Kind == conversation.NoPlace && !d.Has(is.secret)
}

// replacement returns what replaces a long value everywhere, nil if nothing does.
func (c *changes) replacement(old string) *edit.Replacement {
	for i := range c.everywhere {
		if c.everywhere[i].Secret.Value == old {
			return &c.everywhere[i]
		}
	}
	return nil
}

// change replaces the values at the place.
func (p *placed) change(d *edit.Draft) {
	to := func(stands string) (string, bool) {
		if p.long && slices.ContainsFunc(p.values, func(r replaced) bool { return r.by == stands }) {
			return "", false // it was replaced already
		}
		if r := p.find(stands); r != nil {
			r.done = true
			return r.by, true
		}
		return "", false
	}
	switch p.at.Kind {
	case conversation.Path:
		d.Segment(p.at.Segment, to)
	case conversation.Query:
		d.Parameter(p.at.Name, to)
	case conversation.Form:
		d.Form(p.at.Name, to)
	case conversation.Bearer:
		d.Bearer(to)
	case conversation.Header:
		d.Field(p.at.Name, to)
	case conversation.Cookie:
		d.Cookies(func(name, stands string) (string, bool) {
			if name == p.at.Name {
				if value, ok := to(strings.Trim(stands, `"`)); ok {
					return value, true
				}
			}
			return stands, true
		})
	case conversation.JSON:
		path, err := jsonpath.Parse(p.at.Name)
		if err == nil && d.JSON(path, to) {
			return
		}
		for i := range p.values {
			p.values[i].done = false
		}
	case conversation.NoPlace, conversation.HTMLInput, conversation.HTMLMeta, conversation.HTMLForm, conversation.HTMLLink,
		conversation.RedirectPath, conversation.RedirectQuery: // of answers
	}
}
