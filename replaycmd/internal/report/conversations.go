// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Link is what became of the requests at one target that have a value of an
// earlier answer.
type Link struct {
	Consumer  string `json:"consumer"`  // endpoint and place of the requests
	Producer  string `json:"producer"`  // of the answers
	Followed  int64  `json:"followed"`  // sent with the value of the target's answer
	Failed    int64  `json:"failed"`    // not sent: what they follow failed, or was not sent
	Gone      int64  `json:"gone"`      // not sent: the answer has the recorded class of status, but the value is no longer in it
	Kept      int64  `json:"kept"`      // sent as recorded: the value stands where it cannot be replaced
	Elsewhere int64  `json:"elsewhere"` // sent as recorded: no earlier answer of the recording had their value
}

// NotLinked is what might be a link: its values are equal, but so short that this
// may be by chance, and too few sessions have both.
type NotLinked struct {
	Consumer string `json:"consumer"` // endpoint and place of the requests
	Producer string `json:"producer"` // of the answers
	Sessions int    `json:"sessions"` // that have both
}

// Elsewhere is a place in requests whose values differ between sessions and were
// in no answer.
type Elsewhere struct {
	Consumer string `json:"consumer"` // endpoint and place
	Sessions int    `json:"sessions"` // that have it
	Record   string `json:"record"`   // the identifier of a record that has it
}

// Stale is a field that has a signature or digest of recorded bodies, and went with
// others.
type Stale struct {
	Field    string `json:"field"`
	Requests int64  `json:"requests"`
}

// mostLinks is how many links of one target the text lists.
const mostLinks = 30

// conversations writes the links that were not followed, and what was in no
// answer.
func (r *Report) conversations(w io.Writer) error {
	var text strings.Builder
	for i := range r.Targets {
		r.Targets[i].links(&text)
	}
	if len(r.NotLinked) > 0 {
		fmt.Fprintf(&text, "\nnot linked: the values are short, and too few sessions have both\n")
		for _, l := range r.NotLinked[:min(len(r.NotLinked), mostLinks)] {
			fmt.Fprintf(&text, "  %s <- %s, of %s\n", Escape(l.Consumer), Escape(l.Producer), plural(int64(l.Sessions), "session"))
		}
		writeMore(&text, len(r.NotLinked))
	}
	if len(r.Elsewhere) > 0 {
		fmt.Fprintf(&text, "\nin no answer\n")
		for _, e := range r.Elsewhere[:min(len(r.Elsewhere), mostLinks)] {
			fmt.Fprintf(&text, "  %s, of %s, like --id %s\n", Escape(e.Consumer), plural(int64(e.Sessions), "session"), Escape(e.Record))
		}
		writeMore(&text, len(r.Elsewhere))
	}
	if len(r.Stale) > 0 {
		fmt.Fprintf(&text, "\nsigned as it was recorded, with another body\n")
		for _, s := range r.Stale {
			fmt.Fprintf(&text, "  %s, in %s\n", Escape(s.Field), plural(s.Requests, "request"))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// links writes the links that were not followed.
func (t *Target) links(text *strings.Builder) {
	if len(t.Links) == 0 {
		return
	}
	var followed int64
	for _, l := range t.Links {
		followed += l.Followed
	}
	fmt.Fprintf(text, "\n%s: %s, followed %s times%s\n", Escape(t.Name), plural(int64(len(t.Links)), "link"), count(followed), t.brokenText())
}

// brokenText returns the links that were not followed each time in lines, each
// behind a line break.
func (t *Target) brokenText() string {
	var text strings.Builder
	broken := t.brokenLinks()
	for _, l := range broken[:min(len(broken), mostLinks)] {
		fmt.Fprintf(&text, "\n  %s <- %s", Escape(l.Consumer), Escape(l.Producer))
		for _, words := range l.brokenBy() {
			fmt.Fprintf(&text, "\n    %s", words)
		}
	}
	if n := len(broken) - mostLinks; n > 0 {
		fmt.Fprintf(&text, "\n  and %d more", n)
	}
	return text.String()
}

// anyUnlinked reports whether requests were not sent since what they need was in no
// answer.
func (r *Report) anyUnlinked() bool {
	return slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Unlinked > 0 })
}

// classesUnlinked reports the same of the classes of a target.
func (t *Target) classesUnlinked() bool {
	return slices.ContainsFunc(t.By, func(c Class) bool { return c.Unlinked > 0 })
}

// Conversing reports whether conversations were followed, as far as a report of a
// version before Following says.
func (r *Report) Conversing() bool {
	return r.Following || r.anyUnlinked() || slices.ContainsFunc(r.Targets, func(t Target) bool { return len(t.Links) > 0 })
}

// brokenLinks returns the links that were not followed each time, or never met.
func (t *Target) brokenLinks() (broken []Link) {
	for _, l := range t.Links {
		if len(l.brokenBy()) > 0 {
			broken = append(broken, l)
		}
	}
	return broken
}

// brokenBy returns in words, with counts, why a link was not followed each time.
func (l *Link) brokenBy() (all []string) {
	for _, of := range []struct {
		n    int64
		what string
	}{
		{l.Gone, "unlinked: the value is gone from the answer"},
		{l.Failed, "unlinked: what they follow failed"},
		{l.Kept, "sent as recorded: the value cannot be replaced where it stands"},
		{l.Elsewhere, "sent as recorded: the value was in no earlier answer"},
	} {
		if of.n > 0 {
			all = append(all, count(of.n)+" "+of.what)
		}
	}
	if l.Followed == 0 && len(all) == 0 {
		all = append(all, "no request that was sent has it")
	}
	return all
}

// insightLinks is how many broken links of a target are named in sentences.
const insightLinks = 5

// linkInsights returns in sentences what was not followed.
func (r *Report) linkInsights() (all []string) {
	for i := range min(len(r.Targets), maxTargets) {
		t := &r.Targets[i]
		broken := t.brokenLinks()
		for _, l := range broken[:min(len(broken), insightLinks)] {
			all = append(all, fmt.Sprintf("%s: %s <- %s: %s", label(t.Name), Escape(l.Consumer), Escape(l.Producer), strings.Join(l.brokenBy(), ", ")))
		}
		if n := len(broken) - insightLinks; n > 0 {
			all = append(all, fmt.Sprintf("%s: %s more were not followed each time", label(t.Name), plural(int64(n), "link")))
		}
	}
	if n := len(r.NotLinked); n > 0 {
		l := &r.NotLinked[0]
		all = append(all, fmt.Sprintf("not linked, since too few sessions have both: %s, like %s <- %s", plural(int64(n), "pair"), Escape(l.Consumer), Escape(l.Producer)))
	}
	for _, s := range r.Stale {
		all = append(all, fmt.Sprintf("%s was signed as it was recorded, with another body, in %s", Escape(s.Field), plural(s.Requests, "request")))
	}
	return all
}

func writeMore(text *strings.Builder, n int) {
	if n > mostLinks {
		fmt.Fprintf(text, "  and %d more\n", n-mostLinks)
	}
}

// mergeLinks adds up what became of links.
func mergeLinks(parts []targetPart) []Link {
	var all []Link
	number := make(map[[2]string]int)
	for _, p := range parts {
		for _, l := range p.Links {
			key := [2]string{l.Consumer, l.Producer}
			i, known := number[key]
			if !known {
				i = len(all)
				number[key] = i
				all = append(all, Link{Consumer: l.Consumer, Producer: l.Producer})
			}
			sum := &all[i]
			sum.Followed += l.Followed
			sum.Failed += l.Failed
			sum.Gone += l.Gone
			sum.Kept += l.Kept
			sum.Elsewhere += l.Elsewhere
		}
	}
	return all
}

// mergeStale adds up how often each field was stale.
func mergeStale(shards []*Report) []Stale {
	sum := make(map[string]int64)
	for _, r := range shards {
		for _, s := range r.Stale {
			sum[s.Field] += s.Requests
		}
	}
	if len(sum) == 0 {
		return nil
	}
	all := make([]Stale, 0, len(sum))
	for _, field := range slices.Sorted(maps.Keys(sum)) {
		all = append(all, Stale{Field: field, Requests: sum[field]})
	}
	return all
}
