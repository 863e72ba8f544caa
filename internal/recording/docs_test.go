// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"encoding/hex"
	"os"
	"regexp"
	"testing"
)

// TestRecordInDocs holds the bytes in the description of the format to what
// the encoder writes and the reader makes of them.
func TestRecordInDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/recording-format.md")
	if err != nil {
		t.Fatal(err)
	}
	dump := regexp.MustCompile("(?s)```hex\n(.*?)```").FindSubmatch(page)
	if dump == nil {
		t.Fatal("the page has no record")
	}
	want := encode(&Request{
		ID:       []byte("7f"),
		Method:   []byte("POST"),
		URI:      []byte("/a?b=1"),
		Headers:  []byte("Host: shop.test\r\n"),
		Body:     []byte("hi"),
		TimeNS:   1_796_049_300_000_000_000,
		BodySize: 2,
	})
	if got := hex.Dump(want); got != string(dump[1]) {
		t.Errorf("the page has\n%swhere the encoder writes\n%s", dump[1], got)
	}
	if got := mustReadAll(t, bytes.NewReader(want)); len(got) != 1 || string(got[0].Body) != "hi" {
		t.Errorf("the reader gets %d records of it", len(got))
	}
}
