// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
)

// wire is a connection whose frames are looked at before the library decodes them. It
// does so on goroutines of its own, and panics over maps whose keys Go cannot hash
// and over values within values without an end: whoever may put a message into a
// queue could end the process.
type wire struct {
	net.Conn
	in    *bufio.Reader
	frame []byte            // is used again for the next one
	left  []byte            // of what has been looked at
	parts map[uint64]*parts // of messages that come in several frames, by channel and handle
}

const (
	largestFrame   = 1 << 20
	largestMessage = 128 << 20
	deepest        = 64 // values within values
)

// nothing is a message without anything: what takes the place of one that cannot be
// decoded. As it does not say where to reply to, it is unanswerable.
var nothing = []byte{0, 0x53, 0x77, 0x40}

func newWire(conn net.Conn) *wire {
	return &wire{Conn: conn, in: bufio.NewReaderSize(conn, 64<<10), parts: make(map[uint64]*parts)}
}

// Read implements net.Conn.
func (w *wire) Read(to []byte) (int, error) {
	for len(w.left) == 0 {
		if err := w.next(); err != nil {
			return 0, err
		}
	}
	n := copy(to, w.left)
	w.left = w.left[n:]
	return n, nil
}

// next reads a frame.
func (w *wire) next() error {
	head, err := w.in.Peek(8)
	if err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head)
	if string(head[:4]) == "AMQP" { // the header of a protocol
		size = 8
	}
	if size < 8 || size > largestFrame {
		return fmt.Errorf("the broker sends a frame of %d bytes", size)
	}
	w.frame = slices.Grow(w.frame[:0], int(size))[:size]
	if _, err := io.ReadFull(w.in, w.frame); err != nil {
		return err
	}
	w.left, err = w.check(w.frame)
	return err
}

var errFrame = errors.New("the broker sends a frame that is not well formed")

// check returns a frame as it can be decoded, behind those that were held back until it
// came; nothing if it is held back itself.
func (w *wire) check(frame []byte) ([]byte, error) {
	start := 4 * int(frame[4])
	if len(frame) == 8 || string(frame[:4]) == "AMQP" {
		return frame, nil // it only says that somebody is there
	}
	if start < 8 || start > len(frame) {
		return nil, errFrame
	}
	body := frame[start:]
	payload, ok := skip(body, 0)
	if !ok {
		return nil, errFrame
	}
	if len(body) < 4 || body[0] != 0 || body[1] != 0x53 {
		return nil, errFrame // the library wants its descriptor to be one short number
	}
	channel := uint64(binary.BigEndian.Uint16(frame[6:]))
	switch body[2] {
	case 0x11, 0x12, 0x16, 0x17: // a session or its link begins or ends
		frame = behind(w.release(channel, nil), frame)
		maps.DeleteFunc(w.parts, func(key uint64, _ *parts) bool { return key>>32 == channel })
		return frame, nil
	case 0x14: // a message, or a part of it
	default:
		return behind(w.release(channel, nil), frame), nil
	}
	handle, more, aborted := transferOf(body)
	key := channel<<32 | uint64(handle)
	p := w.parts[key]
	before := w.release(channel, p)
	switch {
	case aborted:
		delete(w.parts, key)
		before = append(before, p.release()...)
	case more && p == nil:
		p = new(parts)
		w.parts[key] = p
		fallthrough
	case p != nil:
		if !more {
			delete(w.parts, key)
		}
		var err error
		if frame, err = p.add(frame, payload, more); err != nil {
			return nil, err
		}
	case !wellFormed(payload):
		frame = withPayload(frame, len(payload), nothing)
	}
	return behind(before, frame), nil
}

// transferOf returns the handle of a transfer, whether more of its message comes, and
// whether what came of it is of no matter.
func transferOf(body []byte) (handle uint32, more, aborted bool) {
	var fields []byte // which are well formed, or the whole would not be
	switch body[3] {
	case 0xc0:
		fields = body[6 : 5+int(body[4])]
	case 0xd0:
		fields = body[12 : 8+binary.BigEndian.Uint32(body[4:])]
	}
	for i := 0; i <= 9 && len(fields) > 0; i++ {
		code := fields[0]
		yes := code == 0x41 || code == 0x56 && fields[1] == 1
		switch {
		case i == 0 && code == 0x52:
			handle = uint32(fields[1])
		case i == 0 && code == 0x70:
			handle = binary.BigEndian.Uint32(fields[1:])
		case i == 5:
			more = yes
		case i == 9:
			aborted = yes
		}
		fields, _ = skip(fields, 0)
	}
	return handle, more, aborted
}

// wellFormed reports whether data are whole values that can be decoded.
func wellFormed(data []byte) bool {
	ok := true
	for ok && len(data) > 0 {
		data, ok = skip(data, 0)
	}
	return ok
}

// skip returns what follows the value at the begin of data; false if it cannot be
// decoded.
func skip(data []byte, depth int) (rest []byte, ok bool) {
	if len(data) == 0 || depth > deepest {
		return nil, false
	}
	code, data := data[0], data[1:]
	if code == 0 { // a value with a descriptor before it
		if data, ok = skip(data, depth+1); !ok {
			return nil, false
		}
		return skip(data, depth+1)
	}
	kind := code >> 4
	switch {
	case kind == 4:
		return data, true
	case kind >= 5 && kind <= 9:
		return after(data, 1<<(kind-5))
	case kind < 0xa:
		return nil, false
	}
	width := 1 + 3*int(kind&1) // of sizes and counts
	size, data, ok := number(data, width)
	if !ok || uint64(size) > uint64(len(data)) {
		return nil, false
	}
	inside, rest := data[:size], data[size:]
	if kind < 0xc {
		return rest, true
	}
	count, inside, ok := number(inside, width)
	if !ok || uint64(count) > uint64(len(inside)) {
		return nil, false
	}
	if kind >= 0xe { // an array: values of one kind, which here are plain ones
		return rest, len(inside) > 0 && inside[0]>>4 >= 4 && inside[0]>>4 < 0xc
	}
	isMap := code&0xf == 1
	for i := range count {
		if isMap && i%2 == 0 && !isKey(inside) {
			return nil, false
		}
		if inside, ok = skip(inside, depth+1); !ok {
			return nil, false
		}
	}
	return rest, len(inside) == 0 && (!isMap || count%2 == 0)
}

// isKey reports whether a value can be the key of a map: neither bytes nor anything
// that has values within.
func isKey(data []byte) bool {
	if len(data) == 0 {
		return false
	}
	switch code := data[0]; code >> 4 {
	case 0xa, 0xb:
		return code&0xf != 0
	case 4, 5, 6, 7, 8, 9:
		return code != 0x45 // a list of nothing
	}
	return false
}

func after(data []byte, n int) ([]byte, bool) {
	if n > len(data) {
		return nil, false
	}
	return data[n:], true
}

// number reads a number of one or four bytes.
func number(data []byte, width int) (n uint32, rest []byte, ok bool) {
	if len(data) < width {
		return 0, nil, false
	}
	if width == 1 {
		return uint32(data[0]), data[1:], true
	}
	return binary.BigEndian.Uint32(data), data[4:], true
}
