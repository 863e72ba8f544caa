// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stomp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// frame is one of STOMP's frames. Of a header that is there twice the first counts.
type frame struct {
	command string
	headers []header
	body    []byte
	sized   bool // it says how long its body is
}

type header struct{ name, value string }

// Limits of what a broker may send.
const (
	longestLine = 64 << 10
	mostHeaders = 1000
	largestBody = 128 << 20
)

func (f *frame) get(name string) string {
	value, _ := f.lookUp(name)
	return value
}

func (f *frame) lookUp(name string) (value string, ok bool) {
	for _, h := range f.headers {
		if h.name == name {
			return h.value, true
		}
	}
	return "", false
}

func (f *frame) add(name, value string) { f.headers = append(f.headers, header{name, value}) }

// Escapes are the same in names and values. Those of CONNECT and CONNECTED have none.
var (
	escaper = strings.NewReplacer("\\", "\\\\", "\r", "\\r", "\n", "\\n", ":", "\\c")
	plain   = strings.NewReplacer()
)

func escaperOf(command string) *strings.Replacer {
	if command == "CONNECT" || command == "CONNECTED" {
		return plain
	}
	return escaper
}

// appendFrame writes a frame to the end of a buffer.
func appendFrame(buffer []byte, f *frame) []byte {
	escape := escaperOf(f.command)
	buffer = append(append(buffer, f.command...), '\n')
	for _, h := range f.headers {
		buffer = append(append(buffer, escape.Replace(h.name)...), ':')
		buffer = append(append(buffer, escape.Replace(h.value)...), '\n')
	}
	if f.sized {
		buffer = append(buffer, "content-length:"...)
		buffer = strconv.AppendInt(buffer, int64(len(f.body)), 10)
		buffer = append(buffer, '\n')
	}
	buffer = append(buffer, '\n')
	return append(append(buffer, f.body...), 0)
}

// readFrame reads the next frame; nil for a heart-beat.
func readFrame(r *bufio.Reader) (*frame, error) {
	command, err := readLine(r)
	if err != nil || command == "" {
		return nil, err
	}
	f := &frame{command: command}
	for {
		line, err := readLine(r)
		if err != nil {
			return nil, unexpected(err)
		}
		if line == "" {
			break
		}
		if len(f.headers) == mostHeaders {
			return nil, fmt.Errorf("a frame %s has more than %d headers", command, mostHeaders)
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("a frame %s has a header without a colon", command)
		}
		if command != "CONNECTED" {
			if name, err = unescape(name); err != nil {
				return nil, err
			}
			if value, err = unescape(value); err != nil {
				return nil, err
			}
		}
		f.add(name, value)
	}
	return f, f.readBody(r)
}

func (f *frame) readBody(r *bufio.Reader) (err error) {
	length, sized := f.lookUp("content-length")
	if !sized {
		f.body, err = readUntil(r, 0, largestBody)
		return unexpected(err)
	}
	f.sized = true
	n, err := strconv.ParseInt(strings.TrimSpace(length), 10, 64)
	if err != nil || n < 0 || n > largestBody {
		return fmt.Errorf("a frame %s has the content-length '%.32s'", f.command, length)
	}
	var body bytes.Buffer // grows with what comes, not with what is said
	if _, err := io.CopyN(&body, r, n); err != nil {
		return unexpected(err)
	}
	f.body = body.Bytes()
	end, err := r.ReadByte()
	if err != nil {
		return unexpected(err)
	}
	if end != 0 {
		return fmt.Errorf("a frame %s goes on behind its body", f.command)
	}
	return nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readLine reads a line without its end.
func readLine(r *bufio.Reader) (string, error) {
	line, err := readUntil(r, '\n', longestLine)
	return string(bytes.TrimSuffix(line, []byte("\r"))), err
}

// readUntil reads up to a byte, which is left out, and at most a number of bytes.
func readUntil(r *bufio.Reader, end byte, most int) (data []byte, err error) {
	for {
		part, err := r.ReadSlice(end)
		if len(data)+len(part) > most {
			return nil, fmt.Errorf("more than %d bytes", most)
		}
		data = append(data, part...)
		switch {
		case err == nil:
			return data[:len(data)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// unescape returns a name or value as it is meant.
func unescape(text string) (string, error) {
	if !strings.Contains(text, "\\") {
		return text, nil
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out.WriteByte(text[i])
			continue
		}
		if i++; i == len(text) {
			return "", errors.New("a header ends in a backslash")
		}
		switch text[i] {
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 'c':
			out.WriteByte(':')
		case '\\':
			out.WriteByte('\\')
		default:
			return "", fmt.Errorf("there is no escape \\%c", text[i])
		}
	}
	return out.String(), nil
}
