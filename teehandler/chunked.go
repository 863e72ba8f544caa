// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import "strconv"

// appendChunked ends a header that announces trailers, and writes the body as
// one chunk with the trailers behind it.
func appendChunked(head []byte, copied *snapshot) []byte {
	head = head[:len(head)-len("\r\n")]
	head = append(head, "Transfer-Encoding: chunked\r\n"...)
	for name := range copied.trailer {
		head = appendField(head, "Trailer", name)
	}
	head = append(head, "\r\n"...)
	if len(copied.body) > 0 {
		head = strconv.AppendInt(head, int64(len(copied.body)), 16)
		head = append(head, "\r\n"...)
		head = append(head, copied.body...)
		head = append(head, "\r\n"...)
	}
	head = append(head, "0\r\n"...)
	head = appendFields(head, copied.trailer, nil)
	return append(head, "\r\n"...)
}
