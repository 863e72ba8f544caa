// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/pierrec/lz4/v4"
)

// TestFilesOfAdobeBlackhole reads seven requests that adobe/blackhole recorded.
func TestFilesOfAdobeBlackhole(t *testing.T) {
	const common = "Host: 127.0.0.1:8301\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n"
	want := map[string]struct{ id, headers, body string }{
		"GET /news?page=2&q=a%2Fb;c": {headers: common + "X-Tag: one\r\nX-Tag: two\r\nAccept-Language: en\r\n"},
		"POST /orders": {
			id:      "order-17",
			headers: common + "Content-Type: application/json\r\nX-Request-ID: order-17\r\nContent-Length: 33\r\n",
			body:    `{"id":17,"items":["cup","spoon"]}`,
		},
		"PUT /files//a%20b":   {headers: common + "Content-Type: application/octet-stream\r\nContent-Length: 1500\r\n", body: "1500 bytes"},
		"DELETE /orders/17":   {headers: common + "Authorization: Bearer example-token\r\n"},
		"POST /big":           {body: "26668 bytes"},
		"HEAD /health":        {headers: common},
		"POST /real/path?x=1": {headers: common + "X-Original-URI: /real/path?x=1\r\nContent-Length: 7\r\nContent-Type: application/x-www-form-urlencoded\r\n", body: "a=1&b=2"},
	}
	files, _ := filepath.Glob("testdata/adobe/*.fbf.lz4")
	if len(files) != 5 {
		t.Fatalf("got %d files, want 5", len(files))
	}
	got := make(map[string]bool)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range mustReadAll(t, f) {
			line := string(r.Method) + " " + string(r.URI)
			expected, ok := want[line]
			if !ok || got[line] {
				t.Errorf("unexpected request %s", line)
			}
			got[line] = true
			if expected.id != "" && string(r.ID) != expected.id || expected.id == "" && !strings.HasPrefix(string(r.ID), "FH-") {
				t.Errorf("%s: got ID %s", line, r.ID)
			}
			if expected.headers != "" && string(r.Headers) != expected.headers {
				t.Errorf("%s: got headers %q, want %q", line, r.Headers, expected.headers)
			}
			if size := fmt.Sprintf("%d bytes", len(r.Body)); string(r.Body) != expected.body && size != expected.body {
				t.Errorf("%s: got a body of %s, want %s", line, size, expected.body)
			}
			if r.TimeNS != 0 || r.Scheme != nil || r.Response != nil || r.Error != nil || r.Truncated() {
				t.Errorf("%s: has fields that adobe/blackhole does not record", line)
			}
			if line == "POST /big" {
				if _, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(string(r.Body), "\n", "")); err != nil {
					t.Errorf("%s: body came out of order: %v", line, err)
				}
			}
		}
		f.Close()
	}
	if len(got) != len(want) {
		t.Errorf("got %d requests, want %d", len(got), len(want))
	}
}

// fiveFields reads a record as adobe/blackhole does: by the library's own
// access to a table of which only five fields are known.
func fiveFields(record []byte) [5]string {
	var t flatbuffers.Table
	t.Bytes = record
	t.Pos = flatbuffers.GetUOffsetT(record)
	var fields [5]string
	for i := range fields {
		if o := t.Offset(flatbuffers.VOffsetT(4 + 2*i)); o != 0 {
			fields[i] = string(t.ByteVector(flatbuffers.UOffsetT(o) + t.Pos))
		}
	}
	return fields
}

func TestReaderOfFiveFieldsReadsOurRecords(t *testing.T) {
	requests := samples()
	frames := slices.Concat(compress(t, encode(requests[:2]...), lz4.Block64Kb), compress(t, encode(requests[2:]...), lz4.Block64Kb))
	plain, err := io.ReadAll(lz4.NewReader(bytes.NewReader(frames)))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range requests {
		length := binary.LittleEndian.Uint64(plain)
		want := [5]string{string(r.ID), string(r.Method), string(r.URI), string(r.Headers) + "\r\n", string(r.Body)}
		if got := fiveFields(plain[prefixSize : prefixSize+length]); got != want {
			t.Errorf("record %d: got %q, want %q", i, got, want)
		}
		plain = plain[prefixSize+length:]
	}
	if len(plain) != 0 {
		t.Errorf("%d bytes are left", len(plain))
	}
}

// TestFiveFieldsWrittenByHand reads records that the library's builder made
// of five fields, in the order that it likes.
func TestFiveFieldsWrittenByHand(t *testing.T) {
	var plain []byte
	for i := range 3 {
		b := flatbuffers.NewBuilder(0)
		body := b.CreateByteVector(everyByte())
		headers := b.CreateString("Host: h\r\n\r\n"[:9+2*(i%2)]) // with and without the empty line
		uri := b.CreateString("/a%20b?c=" + strings.Repeat("d", i))
		method := b.CreateString("PATCH")
		id := b.CreateString(fmt.Sprint("id-", i))
		b.StartObject(5)
		for slot, at := range []flatbuffers.UOffsetT{id, method, uri, headers, body} {
			b.PrependUOffsetTSlot(slot, at, 0)
		}
		b.Finish(b.EndObject())
		record := b.FinishedBytes()
		plain = binary.LittleEndian.AppendUint64(plain, uint64(len(record)))
		plain = append(plain, record...)
	}
	for i, r := range mustReadAll(t, bytes.NewReader(plain)) {
		if string(r.ID) != fmt.Sprint("id-", i) || string(r.Method) != "PATCH" || string(r.Headers) != "Host: h\r\n" ||
			string(r.URI) != "/a%20b?c="+strings.Repeat("d", i) || sha256.Sum256(r.Body) != sha256.Sum256(everyByte()) {
			t.Errorf("record %d: got %+v", i, r)
		}
	}
}
