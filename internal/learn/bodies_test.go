// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// TestBodies holds which bodies of one status are learned, where they are kept,
// and that what is secret in them is not.
func TestBodies(t *testing.T) {
	long := strings.Repeat("a long page ", 30)
	files := &Files{Folder: "__files"}
	for _, test := range []struct {
		name string
		body func(i int) string
		want []string // lines of the Caddyfile
		none string
		kept map[string]string
	}{
		{"two", func(i int) string { return []string{"red", "blue", "blue", "blue"}[i%4] }, []string{"body `blue`", "percent 25", "body `red`"}, "", nil},
		{
			"in files", func(i int) string { return fmt.Sprint(i%4/3, " <", long) },
			[]string{"body_file __files/get_a.txt", "percent 25", "body_file __files/get_a_2.txt"},
			"",
			map[string]string{"get_a.txt": "0 <" + long, "get_a_2.txt": "1 <" + long},
		},
		{
			"secrets", func(i int) string { return fmt.Sprintf(`{"n": %d, "token": "s3cr3t%d", "text": %q}`, i%2, i%5, long) },
			[]string{"body_file __files/get_a.json", "percent 50", "body_file __files/get_a_2.json"},
			"s3cr3t",
			map[string]string{"get_a.json": fmt.Sprintf(`{"n": 0, "token": "xxxxxxx", "text": %q}`, long), "get_a_2.json": fmt.Sprintf(`{"n": 1, "token": "xxxxxxx", "text": %q}`, long)},
		},
		{"binary", func(i int) string { return "\x00\xff" + string(rune('a'+i%2)) }, []string{"body_file __files/get_a.bin", "body_file __files/get_a_2.bin"}, "random", nil},
		{"many", func(i int) string { return fmt.Sprint("page ", max(0, i%100-50)) }, []string{"body `page 0`", "outcome 200 p50"}, "percent", nil},
		{"many binary ones, even", func(i int) string { return "\x00" + fmt.Sprint(i) + strings.Repeat("x", 1000+i) }, []string{"random_content 1"}, "percent", nil},
		{
			"many binary ones, most small", func(i int) string { return fmt.Sprintf("\x00%03d", i) + strings.Repeat("x", 96+max(0, i%5-3)*9900) },
			[]string{"percent 20", "body <<100b>>", "body <<10000b>>"},
			"", nil,
		},
		{"each once", func(i int) string { return fmt.Sprint(i) }, []string{"body `0`"}, "percent", nil},
	} {
		var all []*recording.Request
		for i := range 400 {
			all = append(all, exchange(time.Duration(i)*time.Millisecond, "GET", "/a", "", 200, time.Millisecond, "", test.body(i)))
		}
		files.Content = nil
		text := string(learned(t, usual, all).Caddyfile("shop", files))
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s is missing in\n%s", test.name, want, text)
			}
		}
		if test.none != "" && strings.Contains(text+fmt.Sprintf("%s", files.Content), test.none) {
			t.Errorf("%s: %s is in\n%s\n%s", test.name, test.none, text, files.Content)
		}
		for name, want := range test.kept {
			if got := string(files.Content[name]); got != want {
				t.Errorf("%s: %s is %q, want %q", test.name, name, got, want)
			}
		}
		recipe := string(learned(t, usual, all).Recipe(files))
		if strings.Contains(text, "body_file") != strings.Contains(recipe, "body_file") {
			t.Errorf("%s: the recipe is\n%s", test.name, recipe)
		}
	}
}
