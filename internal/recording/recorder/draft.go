// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Draft is a request, perhaps with its response, on its way to becoming a
// record. Fill the request with Text, AddField, AddTrailer and ReadBody, whose
// memory the draft owns; if there is a response, Respond and what follows it may
// come at any time before Add. Release ends the use of a draft in any case.
//
// A draft is not for concurrent use.
type Draft struct {
	recording.Request
	response recording.Response // Request.Response once Respond was called

	recorder  *Recorder
	encoder   recording.Encoder
	text      []byte
	names     []string
	reserved  int64
	borrowing bool
	lost      bool
}

// Begin starts a draft.
func (r *Recorder) Begin() *Draft {
	r.enter()
	d := r.drafts.Get().(*Draft)
	d.recorder = r
	return d
}

// Release ends the use of the draft and of all that its request holds.
func (d *Draft) Release() {
	r := d.recorder
	d.giveBack()
	*d = Draft{
		Request:  recording.Request{Headers: d.Headers[:0], Trailers: d.Trailers[:0], Body: reusable(d.Body)},
		response: recording.Response{Headers: d.response.Headers[:0], Trailers: d.response.Trailers[:0], Body: reusable(d.response.Body)},
		text:     d.text[:0],
		names:    d.names[:0],
	}
	r.drafts.Put(d)
	r.leave()
}

// reusable returns the memory of a body for another, unless it is too large.
func reusable(body []byte) []byte {
	if cap(body) > freeBody {
		return nil
	}
	return body[:0]
}

// Respond starts the record's response, with a status. It replaces an earlier one.
func (d *Draft) Respond(status int) {
	d.response = recording.Response{
		Status:  status,
		Headers: d.response.Headers[:0], Trailers: d.response.Trailers[:0], Body: d.response.Body[:0],
	}
	d.Response = &d.response
}

// AddResponseField adds a header field of the response like AddField.
func (d *Draft) AddResponseField(name, value string) {
	d.response.Headers = d.addField(d.response.Headers, name, value)
}

// AddResponseTrailer adds a trailer field of the response like AddField.
func (d *Draft) AddResponseTrailer(name, value string) {
	d.response.Trailers = d.addField(d.response.Trailers, name, value)
}

// EndResponse notes how long after the arrival of the request the response was
// complete.
func (d *Draft) EndResponse(duration time.Duration) { d.response.DurationNS = int64(duration) }

// Text copies s into the draft.
func (d *Draft) Text(s string) []byte {
	start := len(d.text)
	d.text = append(d.text, s...)
	return d.text[start:len(d.text):len(d.text)]
}

// OriginalURI returns the name of the header field that has the target, or "".
func (d *Draft) OriginalURI() string { return d.recorder.options.OriginalURI }

// Redacts reports whether the value of a header field is left out or hashed.
func (d *Draft) Redacts(name string) bool {
	return contains(d.recorder.redaction.fields, name) || contains(d.recorder.redaction.hashedFields, name)
}

// NewID returns an ID that no other record has.
func (d *Draft) NewID() []byte {
	start := len(d.text)
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64())
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	d.text = hex.AppendEncode(d.text, id[:])
	return d.text[start:len(d.text):len(d.text)]
}

// Sorted returns the names of header fields in their order, in memory that is
// valid until the next call.
func (d *Draft) Sorted(fields map[string][]string) []string {
	d.names = slices.AppendSeq(d.names[:0], maps.Keys(fields))
	slices.Sort(d.names)
	return d.names
}

// AddField adds a header field, without its value if that is redacted, or with
// its hash.
func (d *Draft) AddField(name, value string) { d.Headers = d.addField(d.Headers, name, value) }

// AddTrailer adds a trailer field like AddField.
func (d *Draft) AddTrailer(name, value string) { d.Trailers = d.addField(d.Trailers, name, value) }

func (d *Draft) addField(lines []byte, name, value string) []byte {
	return http1.AppendField(lines, name, d.recorder.redaction.value(name, value))
}

// Record adds a record that is whole. It only reads the record and keeps nothing
// of it; of what Options.Redact names nothing is left out. It waits and counts
// like Draft.Add.
func (r *Recorder) Record(ctx context.Context, record *recording.Request) {
	d := r.Begin()
	d.Request = *record
	d.Add(ctx)
	d.Request = recording.Request{} // its memory is not the draft's
	d.Release()
}

// giveBack ends the draft's claim on memory.
func (d *Draft) giveBack() {
	if d.reserved > 0 {
		d.recorder.budget.release(d.reserved)
		d.reserved = 0
	}
	if d.borrowing {
		d.recorder.budget.repay(d)
		d.borrowing = false
	}
}

// lose drops the record, counts it by the error's reason, and frees its memory at
// once, since its client may still send for long.
func (d *Draft) lose(err error) {
	d.lost = true
	d.Body, d.response.Body = nil, nil
	d.giveBack()
	reason := ClientLeft
	switch {
	case errors.Is(err, errFull):
		reason = MemoryFull
	case errors.Is(err, errStopping):
		reason = StopInHaste
	}
	d.recorder.troubles.failed(TakeMemory, err, reason, 1)
}

// Add hands the record over to be written. It waits only for memory, and no
// longer than ctx lets it. A record that is lost is counted, so there is no error.
func (d *Draft) Add(ctx context.Context) {
	if d.lost {
		return
	}
	if d.redact(ctx); d.lost {
		return
	}
	size := int64(recording.Size(&d.Request))
	if size > recording.MaxRecord {
		d.lost = true
		d.recorder.troubles.failed(TakeMemory, fmt.Errorf("a record of %d bytes is too large", size), NotEncodable, 1)
		return
	}
	lacks := max(0, size-d.reserved)
	if err := d.recorder.budget.complete(ctx, size, lacks); err != nil {
		d.lose(err)
		return
	}
	d.reserved += lacks
	d.recorder.put(d, size)
}
