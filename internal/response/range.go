// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package response

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The statuses of a part of a body, and of one that is not there.
const (
	StatusPartial        = 206
	StatusNotSatisfiable = 416
)

// Part returns the response to a request for a part of the message's body: of
// status 206, or 416 if there is no such part. It returns nil where the whole
// message is the response: to what is not a single range of bytes, and if the
// condition of If-Range, empty if there is none, does not hold.
func (m *Message) Part(asked, condition string) *Message {
	size := m.Content.now()
	ranges, ok := strings.CutPrefix(asked, "bytes=")
	if !ok || size == 0 || condition != "" && !m.isVersion(condition) {
		return nil
	}
	first, last, ok := parseRange(strings.TrimSpace(ranges), size)
	if !ok {
		return nil
	}
	if first >= size {
		fields := m.with(NewField("Content-Range", fmt.Sprintf("bytes */%d", size)))
		return NewMessage(StatusNotSatisfiable, fields, Content{})
	}
	fields := m.with(NewField("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, size)))
	return NewMessage(StatusPartial, fields, m.Content.slice(first, last-first+1))
}

// with returns the fields and one more.
func (m *Message) with(field Field) []Field { return append(slices.Clone(m.Fields), field) }

// isVersion reports whether a value of If-Range is the message's strong entity
// tag or its date.
func (m *Message) isVersion(condition string) bool {
	for _, field := range m.Fields {
		if (field.Name == "Etag" || field.Name == "Last-Modified") && len(field.Values) == 1 && field.Values[0] == condition {
			return !strings.HasPrefix(condition, "W/")
		}
	}
	return false
}

// parseRange reads one range of bytes: `0-99`, `100-` or `-50`. What lies behind
// the end of the body is left out of it.
func parseRange(text string, size int64) (first, last int64, ok bool) {
	from, to, ok := strings.Cut(text, "-")
	if !ok || from == "" && to == "" {
		return 0, 0, false
	}
	if from == "" {
		n, ok := parseDigits(to)
		return max(0, size-n), size - 1, ok // of the last 0 bytes the first one is behind the end
	}
	first, ok = parseDigits(from)
	if to == "" || !ok {
		return first, size - 1, ok
	}
	last, ok = parseDigits(to)
	return first, min(last, size-1), ok && first <= last
}

func parseDigits(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil
}
