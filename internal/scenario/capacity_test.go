// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// holdAtMost makes the room for contents smaller.
func holdAtMost(t *testing.T, size int64) {
	before := capacity
	capacity = size
	t.Cleanup(func() { capacity = before })
}

// TestContentsHaveARoom holds for recipes that are posted one after the other:
// what does not fit beside the others changes nothing, what takes the place of
// another does fit.
func TestContentsAreBounded(t *testing.T) {
	holdAtMost(t, 104<<10)
	s := play(t, `{"route":"/a","body":"<<40kb>>","stages":[{"body":"<<20kb>>"}]}`)
	for _, tc := range []struct{ recipes, want string }{
		{`{"route":"/b","body":"<<30kb>>","stages":[{}]}`, ""},
		{`{"route":"/c","body":"<<14kb>>","stages":[{}]}`, "body: "},
		{`{"route":"/c","stages":[{"body":"<<14kb>>"}]}`, "stages: "},
		{`{"route":"/c","random_content":"1gb","stages":[{"body":"<<14kb>>"}]}`, "stages: "},
		{`[{"route":"/c","body":"<<7kb>>","stages":[{}]},{"route":"/d","body":"<<8kb>>","stages":[{}]}]`, "recipes[1].body: "},
		{`{"route":"/c","headers":{"x":"` + strings.Repeat("x", 2<<10) + `"},"stages":[{},{"at":1},{"at":2},{"at":3},{"at":4},{"at":5},{"at":6}]}`, "headers: "},
		{`{"route":"/b","body":"<<40kb>>","stages":[{}]}`, ""},
		{`{"route":"/c","random_content":"1gb","stages":[{}]}`, ""},
	} {
		before := len(s.Recipes())
		err := s.Add(t.Context(), parse(t, tc.recipes))
		if tc.want == "" && err != nil {
			t.Errorf("%s: got error %v", tc.recipes, err)
		}
		if tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want) || len(s.Recipes()) != before) {
			t.Errorf("%s: got error %v and %d recipes", tc.recipes, err, len(s.Recipes()))
		}
	}
}

// TestFilesAndOriginsNeedRoom holds for those of a configuration too.
func TestFilesAndOriginsCount(t *testing.T) {
	holdAtMost(t, 100<<10)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, make([]byte, 30<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	var recipes []string
	for i := range 4 {
		recipes = append(recipes, fmt.Sprintf(`{"route":"/%d","body_file":%q,"stages":[{}]}`, i, file))
	}
	_, err := New(t.Name(), parse(t, "["+strings.Join(recipes, ",")+"]"), Defaults{})
	if err == nil || !strings.HasPrefix(err.Error(), "recipes[3].body_file: ") {
		t.Errorf("got error %v", err)
	}
	other := file + "2"
	if err := os.WriteFile(other, make([]byte, 80<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	outcomes := func(second string) string {
		return fmt.Sprintf(`{"stages":[{"body_file":%q},{"at":1,"body_file":%[1]q},{"at":2,"body_file":%[1]q},{"at":3,"body_file":%q}]}`, file, second)
	}
	if s, err := New(t.Name(), parse(t, outcomes(file)), Defaults{}); err != nil {
		t.Errorf("outcomes do not share a file: %v", err)
	} else if err := s.Destruct(); err != nil {
		t.Error(err)
	}
	if _, err := New(t.Name(), parse(t, outcomes(other)), Defaults{}); err == nil || !strings.HasPrefix(err.Error(), "stages[3].body_file: ") {
		t.Errorf("got error %v", err)
	}
	url, _ := origin(t)
	list := parse(t, `[{"route":"/o","origin":"`+url+`/page","stages":[{}]},{"route":"/b","body":"<<1kb>>","stages":[{}]}]`)
	holdAtMost(t, list[0].Size()+list[1].Size()+10)
	s, err := New(t.Name(), list, Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Destruct() })
	err = s.Add(t.Context(), parse(t, `{"route":"/p","origin":"`+url+`/page","stages":[{}]}`))
	if err == nil || !strings.HasPrefix(err.Error(), "origin: ") {
		t.Errorf("got error %v", err)
	}
	if err := s.Begin(zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return strings.Contains(bodyOf(ask(t, s, "/o")), recipe.ErrTooLarge.Error()) })
}
