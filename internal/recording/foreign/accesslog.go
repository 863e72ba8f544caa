// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// accessLine is a line of the common or the combined log, perhaps with a virtual
// host before it and with more behind it: client, identity, user, time, request,
// status, size, and in quotes the referrer and the user agent.
var accessLine = regexp.MustCompile(
	`^(?:(\S+) )?(\S+) (\S+) \S+ \[([^\]]{20,40})\] "((?:[^"\\]|\\.)*)" (\d{3}|-) (\d+|-)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?`)

const accessTime = "02/Jan/2006:15:04:05 -0700"

func beginsAccessLog(line []byte) bool { return len(line) <= maxAccessLine && accessLine.Match(line) }

// maxAccessLine is the most bytes of a line of these logs.
const maxAccessLine = 256 << 10

func newAccessLog(r io.Reader, _ bool) Decoder {
	return &lineDecoder{lines: newLines(r), parse: parseAccessLine}
}

func parseAccessLine(d *draft, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	if len(line) > maxAccessLine {
		return fmt.Errorf("it is longer than %d KiB", maxAccessLine>>10)
	}
	parts := accessLine.FindSubmatch(line)
	if parts == nil {
		return fmt.Errorf("'%s' is not of the common or combined log's form", shorten(string(line)))
	}
	at, err := time.Parse(accessTime, string(parts[4]))
	if err != nil {
		return fmt.Errorf("'%s' is not a time: expected one like 02/Jan/2006:15:04:05 +0000", parts[4])
	}
	words := strings.Split(unescapeLog(parts[5]), " ")
	if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/") {
		return fmt.Errorf("'%s' is not a request line", shorten(string(parts[5])))
	}
	d.TimeNS = at.UnixNano()
	d.Method, d.URI, d.Proto = []byte(words[0]), []byte(words[1]), []byte(words[2])
	host, client := parts[1], parts[2]
	if string(client) == "-" && len(host) > 0 { // the user's name has a space
		host, client = nil, host
	}
	if len(host) > 0 && string(host) != "-" {
		d.Host = bytes.Clone(host)
	}
	d.Remote = bytes.Clone(client)
	for i, name := range []string{"Referer", "User-Agent"} {
		if value := unescapeLog(parts[8+i]); value != "" && value != "-" {
			d.field(name, value)
		}
	}
	status, err := strconv.Atoi(string(parts[6]))
	if err != nil || status < 100 {
		return nil
	}
	answer := d.answer(status)
	if size, err := strconv.ParseUint(string(parts[7]), 10, 62); err == nil {
		answer.BodySize = size
	}
	return nil
}

// unescapeLog decodes what nginx and Apache escape in quotes: \x22, \u0022, \" and
// \n and the like.
func unescapeLog(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' || i+1 == len(text) {
			out = append(out, c)
			continue
		}
		i++
		switch text[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'v':
			out = append(out, '\v')
		case 'f':
			out = append(out, '\f')
		case 'x':
			if n, ok := hexAt(text, i+1, 2); ok {
				out = append(out, byte(n))
				i += 2
				continue
			}
			out = append(out, '\\', 'x')
		case 'u':
			if n, ok := hexAt(text, i+1, 4); ok {
				out = append(out, string(rune(n))...)
				i += 4
				continue
			}
			out = append(out, '\\', 'u')
		default:
			out = append(out, text[i])
		}
	}
	return string(out)
}

func hexAt(text []byte, at, digits int) (uint64, bool) {
	if at+digits > len(text) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[at:at+digits]), 16, 32)
	return n, err == nil
}
