// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	flatbuffers "github.com/google/flatbuffers/go"
)

// decode fills the request from the verified bytes in the buffer.
func (r *Reader) decode() {
	t := &r.table
	t.Init(r.buffer, flatbuffers.GetUOffsetT(r.buffer))
	r.request = Request{
		ID:       t.Id(),
		Method:   t.Method(),
		URI:      t.Uri(),
		Headers:  withoutEmptyLine(t.Headers()),
		Body:     t.BodyBytes(),
		TimeNS:   t.TimeNs(),
		Scheme:   t.Scheme(),
		Host:     t.Host(),
		Proto:    t.Proto(),
		Remote:   t.Remote(),
		BodySize: t.BodySize(),
		Trailers: t.Trailers(),
		Error:    t.Error(),
	}
	answer := t.Response(&r.answer)
	if answer == nil {
		return
	}
	r.response = Response{
		Status:     int(answer.Status()),
		Headers:    withoutEmptyLine(answer.Headers()),
		Body:       answer.BodyBytes(),
		BodySize:   answer.BodySize(),
		Trailers:   answer.Trailers(),
		DurationNS: answer.DurationNs(),
		Error:      answer.Error(),
	}
	r.request.Response = &r.response
}
