// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
)

func TestIsURL(t *testing.T) {
	for text, want := range map[string]bool{
		"s3://bucket/x": true, "azblob://c": true, "a+b://c": true, "http://a": false, "https://a": false, "recordings": false,
		`C:\recordings`: false, "://x": false, "./s3://x": false, "S3://x": false, "-": false,
	} {
		if got := IsURL(text); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

// TestErrorsHaveNoSignatures has the errors of a driver with a URL whose query
// gives access.
func TestErrorsHaveNoSignatures(t *testing.T) {
	cause := &url.Error{Op: "Put", URL: "https://shop.blob.example/c/k?sv=1&sig=hidden%3D", Err: io.ErrUnexpectedEOF}
	err := failure{"azblob://c/k", errors.Join(errors.New("first\n  line"), cause)}
	if got := err.Error(); strings.Contains(got, "hidden") || got != `azblob://c/k: first line Put "https://shop.blob.example/c/k?...": unexpected EOF` {
		t.Errorf("got %s", got)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
}
