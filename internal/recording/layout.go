// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

// layout is where the fields of a table lie within it, by their order in
// recording.fbs. Every record has the same layout, with a field that is not
// there left out of the table's vtable; 8-byte fields lie at 4 + 8n because a
// table starts 4 bytes after a multiple of 8.
type layout struct {
	size  uint16
	slots []uint16
}

// vtable is the size of the vtable, which comes right before the table.
func (l *layout) vtable() int { return (4 + 2*len(l.slots) + 3) &^ 3 }

// padding is how many bytes the vtable is put off if so many of the FlatBuffer
// come before.
func (l *layout) padding(before int) int { return (4 - before - l.vtable()) & 7 }

// end is where a table ends if so many bytes of the FlatBuffer come before it.
func (l *layout) end(before int) int {
	return before + l.padding(before) + l.vtable() + int(l.size)
}

const (
	requestID = iota
	requestMethod
	requestURI
	requestHeaders
	requestBody
	requestTime
	requestScheme
	requestHost
	requestProto
	requestRemote
	requestBodySize
	requestTrailers
	requestResponse
	requestError
)

const (
	responseStatus = iota
	responseHeaders
	responseBody
	responseBodySize
	responseTrailers
	responseDuration
	responseError
)

var (
	requestLayout  = layout{size: 68, slots: []uint16{4, 8, 12, 16, 20, 52, 24, 28, 32, 36, 60, 40, 44, 48}}
	responseLayout = layout{size: 44, slots: []uint16{20, 4, 8, 28, 12, 36, 16}}
)
