// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"hash/fnv"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const (
	maxBodies = 64       // different ones of an answer that are told apart
	maxBody   = 1 << 20  // bytes of one that is kept
	maxKept   = 32 << 20 // bytes of all that are kept
	maxSizes  = 2_000    // that are kept of an answer's bodies

	maxDistinct = 8 // bodies of an answer that become an outcome each
	leastTimes  = 5 // how often each of them comes on average
)

// Content is a body.
type Content struct {
	Text   []byte
	Random [2]int // sizes of random text in place of a text, in bytes
	name   string // of the file that has it, where there are files
}

func (c *Content) isRandom() bool { return c.Text == nil && c.Random[1] > 0 }

// hole returns the body of an outcome that is random text in place of this one.
func (c *Content) hole() string {
	return "<<" + strconv.Itoa(max(c.Random[1], len(c.Text))) + "b>>"
}

// body is one of the bodies of an answer.
type body struct {
	n       int
	content []byte
	whole   bool // and kept
}

// bodies keeps those of all answers, within a limit.
type bodies struct {
	room     int // bytes
	unpacker coding.Unpacker
}

// add takes the body of a response in, and returns its number among those of
// the answer, -1 if there are too many.
func (b *bodies) add(a *answer, r *recording.Response, size int) int32 {
	content := b.unpacked(r)
	hash := fnv.New64a()
	_, _ = hash.Write(content)
	i, known := a.bodies[hash.Sum64()]
	if !known {
		if len(a.list) >= maxBodies {
			a.other++
			return -1
		}
		i = int32(len(a.list)) //nolint:gosec // there are few
		one := &body{whole: !r.Truncated() && a.fault == ""}
		if len(content) <= maxBody && len(content) <= b.room {
			one.content = bytes.Clone(content)
			b.room -= len(content)
		} else {
			one.whole = false
		}
		a.bodies[hash.Sum64()] = i
		a.list = append(a.list, one)
	}
	a.list[i].n++
	return i
}

// unpacked returns the body without a coding that is known.
func (b *bodies) unpacked(r *recording.Response) []byte {
	for name, value := range recording.EachField(r.Headers) {
		if strings.EqualFold(string(name), "Content-Encoding") {
			if plain, err := b.unpacker.Unpack(nil, r.Body, value, maxBody); err == nil {
				return plain
			}
		}
	}
	return r.Body
}

// contents are the bodies that are written of an answer.
type contents struct {
	most     *Content   // the commonest, or random text of sizes as there were
	each     []*Content // by the numbers of bodies, if each becomes an outcome
	first    []int32    // in whose place a body is written, as one before is the same without its secrets
	bands    []*Content // of random text, if one range of sizes is not as they were; equally many have each
	replaced []string   // what looks secret in them
	partial  int        // responses whose bodies were not recorded whole, if none was
}

// contents returns the bodies that are written of an answer.
func (a *answer) contents() *contents {
	c := new(contents)
	masked := make([]*Content, len(a.list))
	c.first = make([]int32, len(a.list))
	distinct, whole := 0, a.other == 0
	for i, b := range a.list {
		text, replaced := maskBody(b.content)
		if text == nil {
			text = []byte{}
		}
		c.first[i] = int32(i) //nolint:gosec // there are few
		for j := range i {
			if bytes.Equal(masked[j].Text, text) && a.list[j].whole == b.whole {
				c.first[i] = int32(j) //nolint:gosec // there are few
				break
			}
		}
		if masked[i] = (&Content{Text: text}); c.first[i] == int32(i) { //nolint:gosec // there are few
			distinct++
		}
		whole = whole && b.whole
		for _, name := range replaced {
			if !slices.Contains(c.replaced, name) {
				c.replaced = append(c.replaced, name)
			}
		}
	}
	n := make([]int, len(a.list))
	best := -1
	for i := range a.list {
		first := c.first[i]
		n[first] += a.list[i].n
	}
	for i := range n {
		if a.list[i].whole && n[i] > 0 && (best < 0 || n[i] > n[best]) {
			best = i
		}
	}
	several := whole && hasBody(a.status) && distinct > 1 && distinct <= maxDistinct && a.n >= leastTimes*distinct
	if best < 0 || !several && 2*n[best] < a.n && !isText(masked[best].Text) {
		if c.most, c.bands = a.sizes.content(); best < 0 && a.fault == "" && c.most.isRandom() {
			c.partial = a.n
		}
		return c
	}
	c.most = masked[best]
	if several {
		c.each = masked
	}
	return c
}

func isText(content []byte) bool { return utf8.Valid(content) && !slices.Contains(content, 0) }

// tell returns a reply without the number of its body, unless bodies of its
// answer are told apart.
func tell(all []*contents) func(reply) reply {
	return func(r reply) reply {
		if c := all[r.answer]; c.each != nil && r.body >= 0 {
			return reply{r.answer, c.first[r.body]}
		}
		return reply{r.answer, -1}
	}
}

// sizes are those of an answer's bodies, or every second, fourth and so on.
type sizes struct {
	n, stride int
	list      []int
}

func (s *sizes) add(size int) {
	if s.n++; s.n%s.stride != 0 {
		return
	}
	if s.list = append(s.list, size); len(s.list) >= maxSizes {
		for i := range len(s.list) / 2 {
			s.list[i] = s.list[2*i+1]
		}
		s.list = s.list[:len(s.list)/2]
		s.stride *= 2
	}
}

// content returns random text of sizes as there were: of one size, of a range
// over which they are spread evenly, or of the mean of each fifth of them.
func (s *sizes) content() (*Content, []*Content) {
	const (
		near  = 0.05 // of the largest size: that is one size
		even  = 0.1  // distance from a range that is spread evenly
		bands = 5
	)
	list := slices.Sorted(slices.Values(s.list))
	n := len(list)
	if n == 0 || list[n-1] == 0 {
		return &Content{Text: []byte{}}, nil
	}
	lower, upper := max(1, list[n/20]), max(1, list[n-1-n/20])
	whole := &Content{Random: [2]int{lower, upper}}
	if float64(upper-lower) <= near*float64(upper) || n < 2*bands {
		return whole, nil
	}
	off := 0.0
	for i, size := range list {
		expected := min(1, max(0, float64(size-lower)/float64(upper-lower)))
		off = max(off, math.Abs(expected-(float64(i)+0.5)/float64(n)))
	}
	if off <= even {
		return whole, nil
	}
	var parts []*Content
	for i := range bands {
		part := list[i*n/bands : (i+1)*n/bands]
		sum := 0
		for _, size := range part {
			sum += size
		}
		mean := max(1, (sum+len(part)/2)/len(part))
		parts = append(parts, &Content{Random: [2]int{mean, mean}})
	}
	return whole, parts
}

// Files are where bodies are kept that stand beside a form of the model. Without
// a folder all stands in the form itself.
type Files struct {
	Folder  string // as the form names it
	Content map[string][]byte
}

// add keeps a body and returns how the form names its file.
func (f *Files) add(c *Content) string {
	ending := ".txt"
	switch trimmed := bytes.TrimSpace(c.Text); {
	case !isText(c.Text):
		ending = ".bin"
	case bytes.HasPrefix(trimmed, []byte("{")), bytes.HasPrefix(trimmed, []byte("[")):
		ending = ".json"
	case bytes.HasPrefix(trimmed, []byte("<")):
		ending = ".html"
	}
	if f.Content == nil {
		f.Content = make(map[string][]byte)
	}
	f.Content[c.name+ending] = c.Text
	return path.Join(f.Folder, c.name+ending)
}
