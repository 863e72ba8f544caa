// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package response

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestParts asks for parts of the same ten bytes in memory, in pieces and in a
// file.
func TestParts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ten")
	if err := os.WriteFile(file, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, content := range map[string]Content{
		"memory": Shared([]byte("0123456789")),
		"pieces": {Parts: [][]byte{[]byte("01"), []byte("234"), []byte("5678"), []byte("9")}, Size: 10},
		"file":   {File: file, Size: 7}, // it has grown
	} {
		m := NewMessage(200, []Field{NewField("Etag", `"v1"`), NewField("Last-Modified", "Mon, 30 Nov 2026 16:31:35 GMT")}, content)
		for _, tc := range []struct{ asked, condition, want string }{
			{"bytes=0-0", "", "206 bytes 0-0/10 0"},
			{"bytes=1-5", "", "206 bytes 1-5/10 12345"},
			{"bytes=2-4", "", "206 bytes 2-4/10 234"},
			{"bytes=4-", "", "206 bytes 4-9/10 456789"},
			{"bytes=-3", "", "206 bytes 7-9/10 789"},
			{"bytes=-30", "", "206 bytes 0-9/10 0123456789"},
			{"bytes=8-100", "", "206 bytes 8-9/10 89"},
			{"bytes= 8-9 ", "", "206 bytes 8-9/10 89"},
			{"bytes=10-", "", "416 bytes */10 "},
			{"bytes=99-100", "", "416 bytes */10 "},
			{"bytes=-0", "", "416 bytes */10 "},
			{"bytes=5-1", "", "whole"},
			{"bytes=0-1,4-5", "", "whole"},
			{"bytes=", "", "whole"},
			{"bytes=-", "", "whole"},
			{"bytes=a-b", "", "whole"},
			{"bytes=+1-2", "", "whole"},
			{"bytes=1--2", "", "whole"},
			{"bytes=99999999999999999999-", "", "whole"},
			{"lines=1-2", "", "whole"},
			{"bytes=1-2", `"v1"`, "206 bytes 1-2/10 12"},
			{"bytes=1-2", "Mon, 30 Nov 2026 16:31:35 GMT", "206 bytes 1-2/10 12"},
			{"bytes=1-2", `"v2"`, "whole"},
			{"bytes=1-2", `W/"v1"`, "whole"},
			{"bytes=1-2", "Tue, 01 Dec 2026 16:31:35 GMT", "whole"},
		} {
			if got := partOf(t, m, tc.asked, tc.condition); got != tc.want {
				t.Errorf("%s, %q if %q: got %q, want %q", kind, tc.asked, tc.condition, got, tc.want)
			}
		}
	}
	if m := NewMessage(200, nil, Content{}); m.Part("bytes=0-1", "") != nil {
		t.Error("an empty body has a part")
	}
}

func partOf(t *testing.T, m *Message, asked, condition string) string {
	t.Helper()
	part := m.Part(asked, condition)
	if part == nil {
		return "whole"
	}
	body, size, err := part.Content.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, size))
	if err != nil || part.Length != fmt.Sprint(len(text)) {
		t.Errorf("%q: %q of %d bytes, length %s, error %v", asked, text, size, part.Length, err)
	}
	return fmt.Sprintf("%d %s %s", part.Status, part.Fields[len(part.Fields)-1].Values[0], text)
}
