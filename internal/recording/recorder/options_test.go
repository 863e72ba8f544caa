// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestDefaults(t *testing.T) {
	got, err := json.Marshal(Options{Dir: "/x"}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"dir":"/x","prefix":"requests","rotate_size":"256MiB","rotate_every":600000000000,` +
		`"flush_every":1000000000,"max_body":"16MiB","memory":"64MiB","on_overflow":"block","mode":"0600"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	full := Options{
		Dir: "/x", Prefix: "p", RotateSize: 1, RotateEvery: 2, FlushEvery: 3, MaxBody: 4, Memory: 5, Mode: 0o640,
		Compression: Compression{none: true}, OnOverflow: Drop, Redact: []string{"A"}, Keep: []Keep{{files: 1}},
	}
	if got := full.WithDefaults(); !reflect.DeepEqual(got, full) {
		t.Errorf("got %+v, want %+v", got, full)
	}
}

func TestDurationsInJSON(t *testing.T) {
	for text, want := range map[string]time.Duration{`"1m30s"`: 90 * time.Second, `"7d"`: 7 * 24 * time.Hour, `5000000000`: 5 * time.Second} {
		var got Duration
		if err := json.Unmarshal([]byte(text), &got); err != nil || time.Duration(got) != want {
			t.Errorf("%s: got %s, error %v", text, time.Duration(got), err)
		}
	}
	for _, text := range []string{`"5"`, `"soon"`, `1.5`, `{}`} {
		var got Duration
		if json.Unmarshal([]byte(text), &got) == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func TestCheckNamesTheOption(t *testing.T) {
	if o := testOptions("/x"); o.Check() != nil {
		t.Errorf("got error %v for good options", o.Check())
	}
	for want, spoil := range map[string]func(*Options){
		"prefix: 'a/b'": func(o *Options) { o.Prefix = "a/b" },
		"prefix: ''":    func(o *Options) { o.Prefix = "" },
		"rotate_size":   func(o *Options) { o.RotateSize = 0 },
		"rotate_every":  func(o *Options) { o.RotateEvery = -1 },
		"flush_every":   func(o *Options) { o.FlushEvery = 0 },
		"max_body":      func(o *Options) { o.MaxBody = MaxBody + 1 },
		"memory":        func(o *Options) { o.Memory = -1 },
	} {
		o := testOptions("/x")
		spoil(&o)
		if err := o.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got error %v, want one of %s", err, want)
		}
	}
}

func TestTextForms(t *testing.T) {
	for _, text := range []string{"lz4", "lz4 1", "lz4 9", "none"} {
		c, err := ParseCompression(text)
		if again, _ := c.MarshalText(); err != nil || string(again) != text {
			t.Errorf("%s: got %s, error %v", text, again, err)
		}
	}
	for text, want := range map[string]string{"100": "100", "7d": "168h0m0s", "1d12h": "36h0m0s", "90m": "1h30m0s", "50GiB": "53687091200B", "1000B": "1000B"} {
		k, err := ParseKeep(text)
		again, _ := k.MarshalText()
		var same Keep
		if err != nil || string(again) != want || same.UnmarshalText(again) != nil || same != k {
			t.Errorf("%s: got %s, error %v", text, again, err)
		}
	}
	for _, text := range []string{"block", "drop"} {
		o, err := ParseOverflow(text)
		if again, _ := o.MarshalText(); err != nil || string(again) != text {
			t.Errorf("%s: got %s, error %v", text, again, err)
		}
	}
	for text, want := range map[string]string{"0600": "0600", "640": "0640", "0777": "0777"} {
		m, err := ParseMode(text)
		if again, _ := m.MarshalText(); err != nil || string(again) != want {
			t.Errorf("%s: got %s, error %v", text, again, err)
		}
	}
	for _, text := range []string{"", "gzip", "lz4 0", "lz4 10", "lz4 x", "lz4  3", "lz49", "none 1"} {
		if new(Compression).UnmarshalText([]byte(text)) == nil {
			t.Errorf("compression '%s' was accepted", text)
		}
	}
	for _, text := range []string{"", "never", "0", "-1", "0d", "0s", "-3h", "0GiB", "7d7d", "d", "9999999999999999999GiB"} {
		if new(Keep).UnmarshalText([]byte(text)) == nil {
			t.Errorf("keep '%s' was accepted", text)
		}
	}
	for _, text := range []string{"", "wait"} {
		if new(Overflow).UnmarshalText([]byte(text)) == nil {
			t.Errorf("on_overflow '%s' was accepted", text)
		}
	}
	for _, text := range []string{"", "0999", "01777", "0", "rw", "-600", "0400", "0440", "0266", "0077"} {
		if new(Mode).UnmarshalText([]byte(text)) == nil {
			t.Errorf("mode '%s' was accepted", text)
		}
	}
}

func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, good := range []string{dir, filepath.Join(dir, "a", "b")} {
		if err := CheckDir(good); err != nil {
			t.Errorf("%s: got error %v", good, err)
		}
	}
	bad := map[string]string{file: "is not a directory", filepath.Join(file, "below"): "not a directory"}
	if runtime.GOOS == "linux" { // where nobody can make a file, whatever his rights
		bad["/proc/none"] = "/proc is not writable"
	}
	for path, want := range bad {
		if err := CheckDir(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v", path, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the check left %v behind (%v)", entries, err)
	}
}
