// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import "strings"

// segments finds mappings by the parts of their path templates, so that it does not
// matter how many templates there are beside those that match.
type segments struct {
	ranks []int                // of the mappings whose template ends here
	plain map[string]*segments // by a part that is plain text
	named *segments            // behind a part in braces
}

// add puts a mapping behind the parts of its template. Ranks come in their order.
func (s *segments) add(parts []string, rank int) {
	if len(parts) == 0 {
		s.ranks = append(s.ranks, rank)
		return
	}
	next := s.named
	if isName(parts[0]) {
		if next == nil {
			next = new(segments)
			s.named = next
		}
	} else if next = s.plain[parts[0]]; next == nil {
		if s.plain == nil {
			s.plain = make(map[string]*segments)
		}
		next = new(segments)
		s.plain[parts[0]] = next
	}
	next.add(parts[1:], rank)
}

// find appends the lists of the mappings whose templates match a path.
func (s *segments) find(path string, lists [][]int) [][]int {
	if s.plain == nil && s.named == nil {
		return lists
	}
	part, rest, more := strings.Cut(path, "/")
	for _, next := range [...]*segments{s.plain[part], s.named} {
		switch {
		case next == nil || next == s.named && part == "":
		case more:
			lists = next.find(rest, lists)
		case next.ranks != nil:
			lists = append(lists, next.ranks)
		}
	}
	return lists
}
