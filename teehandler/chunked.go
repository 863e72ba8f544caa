// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import "strconv"

// appendChunkedStart ends a header that announces trailers, and begins the body
// as one chunk.
func appendChunkedStart(head []byte, copied *snapshot) []byte {
	head = append(head, "Transfer-Encoding: chunked\r\n"...)
	for name := range copied.trailer {
		head = appendField(head, "Trailer", name)
	}
	head = append(head, "\r\n"...)
	if len(copied.body) > 0 {
		head = strconv.AppendInt(head, int64(len(copied.body)), 16)
		head = append(head, "\r\n"...)
	}
	return head
}

// chunkedEnd is what follows the body: the last chunk and the trailers.
func chunkedEnd(copied *snapshot) []byte {
	var end []byte
	if len(copied.body) > 0 {
		end = append(end, "\r\n"...)
	}
	end = append(end, "0\r\n"...)
	end = appendFields(end, copied.trailer, nil)
	return append(end, "\r\n"...)
}
