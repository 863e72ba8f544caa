// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Filter lets through the records that meet all of its conditions. Those of the
// zero value are met by every record. A record without an identifier gets its
// number among all that were read, like n17: it can be asked for again by that.
type Filter struct {
	Methods []string       // any of these
	Paths   []Glob         // any of these match the path, without the query
	IDs     []string       // any of these
	Since   Moment         // not before
	Until   Moment         // before
	Percent *units.Percent // this share, always the same records of a recording

	// Session names the session of a record that meets the other conditions, so
	// that Percent is of whole sessions. Records without one are taken by
	// themselves, and so are all if it is nil.
	Session func(*recording.Request) (name string, ok bool)

	Source
	seen    int64
	met     int64           // of these, those that meet all conditions but Percent
	untimed int64           // left out for want of a time
	began   int64           // time of the first record
	found   map[string]bool // identifiers among those asked for
	ended   bool            // there are no more records
	number  []byte          // stands in for an identifier
}

// Next returns the next record that meets the conditions.
func (f *Filter) Next() (*recording.Request, error) {
	for {
		r, err := f.Source.Next()
		if err != nil || f.meets(r) {
			f.ended = errors.Is(err, io.EOF)
			return r, err
		}
	}
}

// Missing returns those of the identifiers that no record has. It is known once
// all have been read; until then it is none.
func (f *Filter) Missing() []string {
	if !f.ended {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.IDs), func(id string) bool { return f.found[id] })
}

// Untimed returns how many records were left out because they have no time and
// one is asked for.
func (f *Filter) Untimed() int64 { return f.untimed }

// Seen returns how many records were looked at.
func (f *Filter) Seen() int64 { return f.seen }

// Met returns how many records met all conditions but Percent. After Next it is
// the number of the record among these, from 1.
func (f *Filter) Met() int64 { return f.met }

func (f *Filter) meets(r *recording.Request) bool {
	f.seen++
	if f.began == 0 {
		f.began = r.TimeNS
	}
	spread := place(r, f.seen)
	if len(r.ID) == 0 {
		f.number = strconv.AppendInt(append(f.number[:0], 'n'), f.seen, 10)
		r.ID = f.number
	}
	if len(f.IDs) > 0 && !f.isAskedFor(r.ID) {
		return false
	}
	switch {
	case r.TimeNS == 0 && (f.Since.Given() || f.Until.Given()):
		f.untimed++
		return false
	case len(f.Methods) > 0 && !slices.ContainsFunc(f.Methods, func(m string) bool { return m == string(r.Method) }),
		len(f.Paths) > 0 && !slices.ContainsFunc(f.Paths, func(g Glob) bool { return g.match(path(r.URI)) }),
		f.Since.Given() && r.TimeNS < f.Since.after(f.began),
		f.Until.Given() && r.TimeNS >= f.Until.after(f.began):
		return false
	}
	f.met++
	if f.Percent != nil && f.Session != nil {
		if name, ok := f.Session(r); ok {
			spread = spreadOf([]byte(name))
		}
	}
	return f.Percent.Takes(spread)
}

func (f *Filter) isAskedFor(id []byte) bool {
	for _, asked := range f.IDs {
		if asked == string(id) {
			if f.found == nil {
				f.found = make(map[string]bool)
			}
			f.found[asked] = true
			return true
		}
	}
	return false
}

// path returns the path of a target, without the query, and without the server
// that a request to a proxy names.
func path(target []byte) []byte {
	p, _, _ := bytes.Cut(http1.OriginForm(target), []byte("?"))
	return p
}

// place returns where a record is among all, made of its identifier or else of
// its method, target and number.
func place(r *recording.Request, number int64) uint64 {
	if len(r.ID) > 0 {
		return spreadOf(r.ID)
	}
	return spreadOf(r.Method, r.URI, strconv.AppendInt(nil, number, 10))
}

// spreadOf returns a number spread evenly over all of uint64's.
func spreadOf(texts ...[]byte) uint64 {
	h := fnv.New64a()
	for _, text := range texts {
		h.Write(text)
	}
	// the last bytes of a text reach only the lower bits of its FNV sum
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

// Glob is a pattern in which * stands for any bytes, / included, and ? for one.
type Glob string

// match tries each * with nothing and then with one byte more whenever what
// follows it doesn't match; only the last * has to be tried again.
func (g Glob) match(text []byte) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(g) && g[p] == '*':
			star, mark = p, t
			p++
		case p < len(g) && (g[p] == '?' || g[p] == text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(string(g[p:]), "*") == ""
}

// Moment is a time, or a time since the first record.
type Moment struct {
	at    time.Time
	since time.Duration
	set   bool
}

// ParseMoment reads an RFC 3339 time, or a duration since the first record.
func ParseMoment(text string) (Moment, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return Moment{at: at, set: true}, nil
	}
	if d, err := units.ParseDuration(text); err == nil && d >= 0 {
		return Moment{since: d, set: true}, nil
	}
	return Moment{}, fmt.Errorf("'%s' is not a time: expected one like 2026-11-30T14:35:00Z, or a duration since the first record like 90s", text)
}

// Given reports whether there is a moment.
func (m Moment) Given() bool { return m.set }

// Fixed returns the time in nanoseconds since 1970, unless it depends on the first
// record or there is none.
func (m Moment) Fixed() (ns int64, ok bool) {
	if m.at.IsZero() {
		return 0, false
	}
	return m.at.UnixNano(), true
}

// after returns the moment in nanoseconds since 1970.
func (m Moment) after(began int64) int64 {
	if m.at.IsZero() {
		if began > math.MaxInt64-int64(m.since) {
			return math.MaxInt64
		}
		return began + int64(m.since)
	}
	return m.at.UnixNano()
}
