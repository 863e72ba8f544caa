// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"encoding/binary"
	"io"
)

// Values as they are on the wire.
func uintValue(n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{0x70}, n) }

func boolValue(is bool) []byte {
	if is {
		return []byte{0x41}
	}
	return []byte{0x42}
}

func bytesValue(code byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{code}, uint32(len(text))), text...) //nolint:gosec // short
}

var null = []byte{0x40}

func described(code byte, fields ...[]byte) []byte {
	var body []byte
	for _, f := range fields {
		body = append(body, f...)
	}
	out := binary.BigEndian.AppendUint32([]byte{0, 0x53, code, 0xd0}, uint32(len(body)+4)) //nolint:gosec // short
	return append(binary.BigEndian.AppendUint32(out, uint32(len(fields))), body...)        //nolint:gosec // few
}

func failure(text string) []byte {
	return described(0x1d, bytesValue(0xb3, "amqp:not-found"), bytesValue(0xb1, text))
}

// read returns the value at the begin of data, lists as []any and what is described
// as its value, and what follows.
func read(data []byte) (value any, rest []byte) {
	code := data[0]
	data = data[1:]
	if code == 0 {
		_, data = read(data) // the descriptor
		return read(data)
	}
	number := func(size int) uint64 {
		var n uint64
		for _, b := range data[:size] {
			n = n<<8 | uint64(b)
		}
		return n
	}
	switch code >> 4 {
	case 4:
		switch code {
		case 0x40:
			return nil, data
		case 0x45:
			return []any{}, data
		case 0x43, 0x44:
			return uint64(0), data
		}
		return code == 0x41, data
	case 5:
		if code == 0x56 {
			return data[0] == 1, data[1:]
		}
		return number(1), data[1:]
	case 6:
		return number(2), data[2:]
	case 7:
		return number(4), data[4:]
	case 8:
		return number(8), data[8:]
	case 9:
		return data[:16], data[16:]
	}
	width := 1
	if code>>4&1 == 1 {
		width = 4
	}
	size := number(width)
	body, rest := data[width:width+int(size)], data[width+int(size):] //nolint:gosec // the test's own
	if code>>4 < 0xc {
		return string(body), rest
	}
	if code != 0xc0 && code != 0xd0 {
		return nil, rest // maps and arrays are of no interest
	}
	list := []any{}
	for body = body[width:]; len(body) > 0; {
		var item any
		item, body = read(body)
		list = append(list, item)
	}
	return list, rest
}

func readFrame(in io.Reader) (channel uint16, code byte, body []byte, err error) {
	header := make([]byte, 8)
	if _, err := io.ReadFull(in, header); err != nil {
		return 0, 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(header)-8)
	if _, err = io.ReadFull(in, body); err == nil && len(body) > 3 {
		code = body[2]
	}
	return binary.BigEndian.Uint16(header[6:]), code, body, err
}

func at(fields []any, i int) any {
	if i < len(fields) {
		return fields[i]
	}
	return nil
}
