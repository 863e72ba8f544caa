// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

// A layout says where the fields of a table lie within it, by their order in
// recording.fbs. Every record has the same layout, with a field that is not
// there left out of the table's vtable; 8-byte fields lie at 4 + 8n because a
// table starts 4 bytes after a multiple of 8.
type layout struct {
	size  uint16
	slots []uint16
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
