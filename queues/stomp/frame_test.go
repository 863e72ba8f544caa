// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stomp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func readerOf(text string) *bufio.Reader {
	return bufio.NewReaderSize(strings.NewReader(text), 16) // so that lines come in parts
}

// TestReadFrame reads what brokers may send, all that there is.
func TestReadFrame(t *testing.T) {
	for name, tc := range map[string]struct {
		text    string
		headers []header
		body    string
		sized   bool
		rest    string // what is left to read
	}{
		"a body up to NUL":              {"MESSAGE\na:b\n\nhello\x00\n", []header{{"a", "b"}}, "hello", false, "\n"},
		"a body with NUL":               {"MESSAGE\ncontent-length:3\n\na\x00b\x00", []header{{"content-length", "3"}}, "a\x00b", true, ""},
		"a body of no bytes":            {"MESSAGE\ncontent-length:0\n\n\x00x", []header{{"content-length", "0"}}, "", true, "x"},
		"spaces around a length":        {"MESSAGE\ncontent-length: 1 \n\na\x00", []header{{"content-length", " 1 "}}, "a", true, ""},
		"lines that end in CR LF":       {"MESSAGE\r\na:b\r\n\r\nhello\x00", []header{{"a", "b"}}, "hello", false, ""},
		"escapes":                       {"MESSAGE\n\\c\\n:\\r\\\\:\n\n\x00", []header{{":\n", "\r\\:"}}, "", false, ""},
		"none in CONNECTED":             {"CONNECTED\na:\\x\n\n\x00", []header{{"a", "\\x"}}, "", false, ""},
		"a colon in a value":            {"MESSAGE\nqueue:amqp://a:1\n\n\x00", []header{{"queue", "amqp://a:1"}}, "", false, ""},
		"a header without a name":       {"MESSAGE\n:a\n\n\x00", []header{{"", "a"}}, "", false, ""},
		"a header twice, the first one": {"MESSAGE\ncontent-length:1\ncontent-length:9\n\na\x00", []header{{"content-length", "1"}, {"content-length", "9"}}, "a", true, ""},
		"no headers":                    {"ERROR\n\n\x00", nil, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := readerOf(tc.text)
			f, err := readFrame(in)
			if err != nil {
				t.Fatal(err)
			}
			rest, _ := io.ReadAll(in)
			if !slices.Equal(f.headers, tc.headers) || string(f.body) != tc.body || f.sized != tc.sized || string(rest) != tc.rest {
				t.Errorf("got %+v, and %q is left", f, rest)
			}
		})
	}
}

// TestHeartBeatsAreNoFrames reads the ends of lines between frames.
func TestHeartBeatsAreNoFrames(t *testing.T) {
	in := readerOf("\n\r\nRECEIPT\nreceipt-id:1\n\n\x00\n")
	for i, want := range []string{"", "", "RECEIPT", ""} {
		f, err := readFrame(in)
		if err != nil || (f == nil) != (want == "") || f != nil && f.command != want {
			t.Errorf("%d: got %+v %v, want %q", i, f, err, want)
		}
	}
	if f, err := readFrame(in); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %+v %v at the end", f, err)
	}
}

// endless is a frame's begin and then the same for ever: whoever reads on without a
// limit never ends.
type endless struct {
	begin io.Reader
	line  []byte
	given int
}

func (e *endless) Read(to []byte) (int, error) {
	if n, err := e.begin.Read(to); err == nil {
		return n, nil
	}
	n := 0
	for n < len(to) {
		n += copy(to[n:], e.line[(e.given+n)%len(e.line):])
	}
	e.given += n
	return n, nil
}

// TestLimits has a broker send without an end.
func TestLimits(t *testing.T) {
	for name, tc := range map[string]struct {
		begin, line string
		most        int // bytes that may be read of it
		want        string
	}{
		"a command": {"", "x", 2 * longestLine, "more than 65536 bytes"},
		"a header":  {"MESSAGE\n", "x", 2 * longestLine, "more than 65536 bytes"},
		"headers":   {"MESSAGE\n", "a:b\n", 4*mostHeaders + 1<<17, "more than 1000 headers"},
		"a body":    {"MESSAGE\n\n", strings.Repeat("x", 1<<16), largestBody + 1<<17, "more than 134217728 bytes"},
	} {
		in := &endless{begin: strings.NewReader(tc.begin), line: []byte(tc.line)}
		_, err := readFrame(bufio.NewReaderSize(in, 64<<10))
		if err == nil || !strings.Contains(err.Error(), tc.want) || in.given > tc.most {
			t.Errorf("%s: got %v after %d bytes, want %s", name, err, in.given, tc.want)
		}
	}
}

// TestBrokenFrames has a broker send what is no frame. None of it is taken for one.
func TestBrokenFrames(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"the end in a command":         {"MESS", "EOF"},
		"the end in a header":          {"MESSAGE\na:", "unexpected EOF"},
		"the end before the body":      {"MESSAGE\na:b\n\n", "unexpected EOF"},
		"the end in a body":            {"MESSAGE\n\nhel", "unexpected EOF"},
		"the end in a body of a size":  {"MESSAGE\ncontent-length:5\n\nhel", "unexpected EOF"},
		"the end before NUL":           {"MESSAGE\ncontent-length:3\n\nhel", "unexpected EOF"},
		"a body that goes on":          {"MESSAGE\ncontent-length:3\n\nhello\x00", "goes on behind its body"},
		"a size that is no number":     {"MESSAGE\ncontent-length:three\n\nhel\x00", "content-length 'three'"},
		"a size below zero":            {"MESSAGE\ncontent-length:-1\n\n\x00", "content-length '-1'"},
		"a size that is too large":     {"MESSAGE\ncontent-length:134217729\n\n\x00", "content-length '134217729'"},
		"a size that no number holds":  {"MESSAGE\ncontent-length:99999999999999999999999999999999999999\n\n\x00", "content-length '99999999999999999999999999999999'"},
		"a header without a colon":     {"MESSAGE\nabc\n\n\x00", "without a colon"},
		"an escape that there is none": {"MESSAGE\na:\\t\n\n\x00", `no escape \t`},
		"half an escape":               {"MESSAGE\na:b\\\n\n\x00", "ends in a backslash"},
		"half an escape in a name":     {"MESSAGE\na\\:b\n\n\x00", "ends in a backslash"},
	} {
		if f, err := readFrame(readerOf(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %+v %v, want %s", name, f, err, tc.want)
		}
	}
}

// TestSizeIsNotBelieved has a broker announce a large body and send none: nothing is
// set aside for it.
func TestSizeIsNotBelieved(t *testing.T) {
	in := readerOf("MESSAGE\ncontent-length:" + strconv.Itoa(largestBody) + "\n\nx")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readFrame(in)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; err == nil || allocated > 1<<20 {
		t.Errorf("got %v, and %d bytes were allocated", err, allocated)
	}
}

// TestWritten holds that no header that is written becomes two.
func TestWritten(t *testing.T) {
	f := &frame{command: "SEND", body: []byte("a\x00b"), sized: true}
	f.add("kind", "x:y\r\nreceipt:7\\n")
	f.add("a:b\n", "")
	want := "SEND\nkind:x\\cy\\r\\nreceipt\\c7\\\\n\na\\cb\\n:\ncontent-length:3\n\na\x00b\x00"
	if got := string(appendFrame([]byte("before"), f)); got != "before"+want {
		t.Errorf("got %q", got)
	}
	hello := &frame{command: "CONNECT"}
	hello.add("passcode", `a\b:c`)
	if got := string(appendFrame(nil, hello)); got != "CONNECT\npasscode:a\\b:c\n\n\x00" {
		t.Errorf("got %q", got)
	}
}

// FuzzReadFrame holds that whatever a broker sends becomes frames or errors, and that
// a frame which is written is the same when it is read again.
func FuzzReadFrame(f *testing.F) {
	for _, seed := range []string{
		"MESSAGE\na:b\n\nhello\x00\n", "MESSAGE\ncontent-length:3\n\na\x00b\x00", "CONNECTED\r\nversion:1.2\r\n\r\n\x00",
		"ERROR\nmessage:no\\c such\nreceipt-id:1\n\nlong\nlines\x00", "\n\n", "RECEIPT\nreceipt-id:7\n\n\x00", "MESSAGE\ncontent-length:9\n\na\x00", "A\n\\:\n\n\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 2*mostHeaders {
			return // what is written may then have more than may be read
		}
		in := bufio.NewReaderSize(bytes.NewReader(data), 16)
		for {
			read, err := readFrame(in)
			if err != nil {
				break
			}
			if read == nil {
				continue
			}
			_ = errorOf(read)
			d := deliveryOf("/queue/a", read)
			if again, err := readFrame(bufio.NewReader(bytes.NewReader(appendFrame(nil, encode(&d.Message))))); err != nil || !bytes.Equal(again.body, read.body) {
				t.Fatalf("%q is written and read again as %+v: %v", data, again, err)
			}
			if strings.HasPrefix(read.command, "CONNECT") || strings.Contains(read.command, "\r") {
				continue // which have no escapes, so that not all of them can be written
			}
			read.headers = slices.DeleteFunc(read.headers, func(h header) bool { return h.name == "content-length" })
			read.sized = true
			again, err := readFrame(bufio.NewReader(bytes.NewReader(appendFrame(nil, read))))
			read.add("content-length", strconv.Itoa(len(read.body)))
			if err != nil || again.command != read.command || !bytes.Equal(again.body, read.body) || !slices.Equal(again.headers, read.headers) {
				t.Fatalf("%+v is written and read again as %+v: %v", read, again, err)
			}
		}
	})
}
