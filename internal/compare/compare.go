// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"slices"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
)

// Comparer compares one pair of responses after the other and keeps its
// buffers, so it is for one goroutine at a time.
type Comparer struct {
	// Large, unless nil, is called before a comparison takes more than some MiB of
	// memory, perhaps more than once. It may wait until there is room.
	Large func()

	rules    *Rules
	result   Result
	known    map[string]*knownField
	round    uint64
	unpacker coding.Unpacker

	oldFields, newFields []field
	path                 []byte // of the place that is looked at
	name                 []byte
	arena                []byte // values that stand nowhere in the responses
	left, right          []byte // unescaped texts, digits

	oldBody, newBody   []byte
	model              model // of old bodies
	oldDoc, newDoc     document
	oldInner, newInner document // of JSON within a string
	oldText, newText   []byte
	list               []uint32
	index              []entry
	aligner            aligner
	oldTime, newTime   int64 // when the requests were sent, 0: unknown
}

// knownField is a field's name, kept so that it is made only once.
type knownField struct {
	name  string
	round uint64 // of the comparison that saw it last
	kinds []Kind // seen in it
}

const (
	maxKnown       = 4096      // names that a Comparer keeps
	maxDifferences = 256       // of one comparison
	maxName        = 128       // bytes of a name; a longer one is a value
	maxPlace       = 512       // bytes of a path, with which it does not get longer
	largeBody      = 128 << 10 // bytes
)

// NewComparer returns a Comparer for one goroutine.
func NewComparer(rules *Rules) *Comparer {
	return &Comparer{rules: rules, known: make(map[string]*knownField)}
}

// Compare returns what differs. The result is valid until the next call.
func (c *Comparer) Compare(old, new *Response) *Result {
	c.begin(old, new)
	if c.unequal() {
		c.result.Unequal = true
		return &c.result
	}
	if old.Error != new.Error {
		c.at("error")
		c.differ(kindOf(textOf(old.Error), textOf(new.Error)), textOf(old.Error), textOf(new.Error))
	}
	if old.Status == 0 || new.Status == 0 {
		c.partial(Broken)
		return &c.result
	}
	if old.Status != new.Status {
		c.at("status")
		c.differ(Changed, c.number(old.Status), c.number(new.Status))
	}
	same := false
	switch {
	case old.Status/100 != new.Status/100:
		c.partial(ClassOf)
	case old.Error != "" || new.Error != "":
		c.partial(Broken)
	default:
		same = c.compareBody(old, new)
	}
	if !old.logged() {
		c.compareFields(c.oldFields, c.newFields, "header", same)
	}
	if len(old.Trailer) > 0 || len(new.Trailer) > 0 {
		c.oldFields = appendFields(c.oldFields[:0], old.Trailer)
		c.newFields = appendFields(c.newFields[:0], new.Trailer)
		c.compareFields(c.oldFields, c.newFields, "trailer", same)
	}
	return &c.result
}

// Shrink releases large buffers and the memory of unpacking. The result of the
// last comparison keeps only its fields and kinds.
func (c *Comparer) Shrink() {
	c.unpacker = coding.Unpacker{}
	c.trim()
}

func (c *Comparer) trim() {
	c.arena, c.oldBody, c.newBody = trim(c.arena), trim(c.oldBody), trim(c.newBody)
	c.left, c.right, c.oldText, c.newText = trim(c.left), trim(c.right), trim(c.oldText), trim(c.newText)
	c.oldDoc.reset()
	c.newDoc.reset()
	c.oldInner.reset()
	c.newInner.reset()
	c.list, c.index = trim(c.list), trim(c.index)
	c.aligner.reset()
}

func (c *Comparer) begin(old, new *Response) {
	c.round++
	c.result = Result{Differences: c.result.Differences[:0]}
	c.trim()
	c.oldFields = appendFields(c.oldFields[:0], old.Header)
	c.newFields = appendFields(c.newFields[:0], new.Header)
	c.oldTime, c.newTime = 0, 0
	if !old.Time.IsZero() && !new.Time.IsZero() {
		c.oldTime, c.newTime = old.Time.UnixMilli(), new.Time.UnixMilli()
	}
}

// trim empties a buffer, and releases a large one.
func trim[T any](buffer []T) []T {
	if cap(buffer) > keptSize {
		return nil
	}
	return buffer[:0]
}

func textOf(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// unequal reports whether the header field that must be equal isn't.
func (c *Comparer) unequal() bool {
	name := c.rules.requireEqual
	return name != "" && !bytes.Equal(value(c.oldFields, name), value(c.newFields, name))
}

func (c *Comparer) partial(why string) {
	if c.result.Partial == "" {
		c.result.Partial = why
	}
}

func (c *Comparer) at(place string) { c.path = append(c.path[:0], place...) }

// leftOutMark is what recordings have in place of a value that they leave out.
const leftOutMark = "REDACTED"

// leftOut reports whether a value is one that a recording has left out, as text
// or as JSON.
func leftOut(value []byte) bool {
	return string(value) == leftOutMark || string(value) == `"`+leftOutMark+`"`
}

// differ notes a difference at c.path, unless one of its kind is noted there. A
// value that was left out is no sign of what was sent.
func (c *Comparer) differ(kind Kind, old, new []byte) {
	if leftOut(old) != leftOut(new) && (kind == Changed || kind == Type) {
		c.result.Ignored++
		return
	}
	f, ok := c.known[string(c.path)]
	if !ok {
		if len(c.known) >= maxKnown {
			clear(c.known)
		}
		f = &knownField{name: string(c.path)}
		c.known[f.name] = f
	}
	if f.round != c.round {
		f.round, f.kinds = c.round, f.kinds[:0]
	}
	if slices.Contains(f.kinds, kind) {
		return
	}
	if len(c.result.Differences) == maxDifferences {
		c.partial(TooMany)
		return
	}
	f.kinds = append(f.kinds, kind)
	d := Difference{Field: f.name, Kind: kind, Old: old, New: new}
	if kind == Changed {
		d.Generated = generated(old, new, c.oldTime, c.newTime)
	}
	c.result.Differences = append(c.result.Differences, d)
}
