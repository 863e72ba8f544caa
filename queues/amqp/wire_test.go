// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/Azure/go-amqp"
)

// described returns a value with a descriptor and what is inside a list or map of it.
func described(descriptor, code byte, count int, inside string) string {
	return string([]byte{0, 0x53, descriptor, code, byte(len(inside) + 1), byte(count)}) + inside
}

// annotated returns a message with a map of annotations.
func annotated(count int, inside string) string {
	return described(0x72, 0xc1, count, inside) + "\x00\x53\x77\xa1\x01x"
}

func frameOf(channel uint16, body string) string {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)) //nolint:gosec // short
	return string(binary.BigEndian.AppendUint16(append(head, 2, 0), channel)) + body
}

// transfer returns a frame with a part of a message.
func transfer(channel uint16, handle, more byte, payload string) string {
	return frameOf(channel, described(0x14, 0xc0, 6, string([]byte{0x52, handle, 0x43, 0xa0, 1, 7, 0x43, 0x42, more}))+payload)
}

const (
	lastPart = 0x42
	morePart = 0x41
)

// through returns what the library gets to read of what a broker sends.
func through(data string) (string, error) {
	ours, theirs := net.Pipe()
	go func() {
		_, _ = theirs.Write([]byte(data))
		theirs.Close()
	}()
	defer ours.Close()
	got, err := io.ReadAll(newWire(ours))
	return string(got), err
}

// TestWire passes on what can be decoded as it is.
func TestWire(t *testing.T) {
	good := annotated(2, "\xa3\x01a\x41")
	half := len(good) / 2
	data := "AMQP\x03\x01\x00\x00AMQP\x00\x01\x00\x00" + "\x00\x00\x00\x08\x02\x00\x00\x00" +
		frameOf(0, described(0x10, 0xc0, 1, "\xa1\x01a")) + transfer(1, 2, lastPart, good) +
		transfer(1, 2, morePart, good[:half]) + transfer(1, 3, lastPart, good) + transfer(1, 2, lastPart, good[half:]) +
		transfer(1, 2, morePart, good[:half]) + frameOf(1, described(0x17, 0xc0, 0, "")) + transfer(1, 2, lastPart, good)
	if got, err := through(data); err != nil || got != data {
		t.Errorf("got %q %v\nwant %q", got, err, data)
	}
}

// TestUnreadable has messages over which the library panics: each is one without
// anything, and the next one is what it was.
func TestUnreadable(t *testing.T) {
	good := transfer(1, 2, lastPart, annotated(2, "\xa3\x01a\x41"))
	for name, bad := range map[string]string{
		"a list as a key":     annotated(2, "\x45\x41"),
		"a map as a key":      annotated(2, "\xc1\x01\x00\x41"),
		"bytes as a key":      annotated(2, "\xa0\x01a\x41"),
		"an array as a key":   annotated(2, "\xe0\x02\x00\x41\x41"),
		"a described key":     annotated(2, "\x00\x53\x01\x45\x41"),
		"a key far inside":    annotated(2, "\xa3\x01a\xc0\x06\x01\xc1\x03\x02\x45\x41"),
		"a key without value": annotated(1, "\xa3\x01a"),
		"values in values":    "\x00\x53\x77" + strings.Repeat("\x00", 10_000),
		"too many values":     "\x00\x53\x77\xd0\x00\x00\x00\x05\x7f\xff\xff\xff\x41",
		"an array of all":     "\x00\x53\x77\xf0\x00\x00\x00\x05\x7f\xff\xff\xff\x41",
		"the end within":      "\x00\x53\x77\xb1\x00\x00\x00\x05x",
		"an unknown kind":     "\x00\x53\x77\x10",
	} {
		got, err := through(transfer(1, 2, lastPart, bad) + good)
		if want := transfer(1, 2, lastPart, string(nothing)) + good; err != nil || got != want {
			t.Errorf("%s: got %q %v", name, got, err)
		}
	}
	part := transfer(1, 2, morePart, "\x00\x53\x72\xc1\x03")
	for count, want := range map[int]string{
		1:              transfer(1, 2, morePart, string(nothing)) + transfer(1, 2, lastPart, ""),
		3:              transfer(1, 2, morePart, string(nothing)) + strings.Repeat(transfer(1, 2, morePart, ""), 2) + transfer(1, 2, lastPart, ""),
		2*mostHeld + 1: "",
	} {
		got, err := through(strings.Repeat(part, count) + transfer(1, 2, lastPart, "\x02\x45\x41") + good)
		if want == "" {
			if err == nil || got != strings.Repeat(part, count) {
				t.Errorf("%d parts: got %d bytes, error %v", count, len(got), err)
			}
		} else if err != nil || got != want+good {
			t.Errorf("%d parts: got %q %v", count, got, err)
		}
	}
	m := new(amqp.Message)
	if err := m.UnmarshalBinary(nothing); err != nil {
		t.Fatal(err)
	}
	if d := deliveryOf(address, m); d.ReplyTo != "" || len(d.Body) > 0 {
		t.Errorf("got %+v", d)
	}
}

// TestBrokenWire has brokers that send what are no frames: that ends the connection.
func TestBrokenWire(t *testing.T) {
	good := transfer(1, 2, lastPart, annotated(2, "\xa3\x01a\x41"))
	for name, tc := range map[string]struct{ data, want string }{
		"a frame too small":        {"\x00\x00\x00\x07\x02\x00\x00\x00", "a frame of 7 bytes"},
		"a frame too large":        {"\x7f\x00\x00\x00\x02\x00\x00\x00", "a frame of 2130706432 bytes"},
		"a body before its frame":  {"\x00\x00\x00\x09\x01\x00\x00\x00\x41", "not well formed"},
		"a body behind its frame":  {"\x00\x00\x00\x09\x09\x00\x00\x00\x41", "not well formed"},
		"properties with bad keys": {frameOf(0, described(0x10, 0xc0, 1, "\xc1\x03\x02\x45\x41")), "not well formed"},
		"a bad message between":    {transfer(1, 2, morePart, "\x00\x53\x72\xc1\x03") + transfer(1, 3, lastPart, "") + transfer(1, 2, lastPart, "\x02\x45\x41"), "a message that is not well formed"},
		"the end within":           {good[:len(good)-1], "unexpected EOF"},
	} {
		if got, err := through(good + tc.data); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(got, good) {
			t.Errorf("%s: got %q %v, want %s", name, got, err, tc.want)
		}
	}
	w := newWire(nil)
	part := []byte(transfer(1, 2, morePart, string(make([]byte, largestFrame-64))))
	for range largestMessage/largestFrame + 1 {
		if _, err := w.check(part); err != nil {
			if !strings.Contains(err.Error(), "a message of more than") {
				t.Error(err)
			}
			return
		}
	}
	t.Error("a message may have any size")
}

// FuzzWire holds that what is passed on does not make the library panic.
func FuzzWire(f *testing.F) {
	f.Add([]byte(annotated(2, "\xa3\x01a\x41")))
	f.Add([]byte(annotated(2, "\x45\x41")))
	f.Add([]byte("\x00\x53\x77\xd1\x00\x00\x00\x0a\x00\x00\x00\x02\xa1\x01a\xc0\x01\x00"))
	f.Fuzz(func(_ *testing.T, payload []byte) {
		w := newWire(nil)
		frame, err := w.check([]byte(transfer(1, 2, lastPart, string(payload))))
		if err != nil {
			return
		}
		_ = new(amqp.Message).UnmarshalBinary(frame[len(transfer(1, 2, lastPart, "")):])
	})
}

// FuzzFrames holds that no frame is taken apart beyond its end.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(transfer(1, 2, morePart, annotated(2, "\xa3\x01a\x41"))), []byte(transfer(1, 2, lastPart, "")))
	f.Add([]byte(frameOf(1, "\x00S\x14\xd0\x00\x00\x00\x0c\x00\x00\x00\x06R\x02C\xa0\x01\x07CBB\x40")), []byte(frameOf(1, "\x00S\x14\x45")))
	f.Fuzz(func(_ *testing.T, first, second []byte) {
		w := newWire(nil)
		for _, frame := range [][]byte{first, second} {
			if len(frame) >= 8 {
				_, _ = w.check(frame)
			}
		}
	})
}
