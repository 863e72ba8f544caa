// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package recording

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// accessor finds what a reader of the format depends on in the generated
// code: which accessor looks at which place of the vtable. The rest differs
// from one version of flatc to the next.
var accessor = regexp.MustCompile(`(?s)func \(rcv \*(\w+)\) (\w+)\([^)]*\)[^{]*\{\s*o := flatbuffers\.UOffsetT\(rcv\._tab\.Offset\((\d+)\)\)`)

func TestGeneratedCodeIsOfTheSchema(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("flatc", "--go", "-o", dir, "recording.fbs").CombinedOutput(); err != nil {
		t.Fatalf("running flatc: %v\n%s", err, out)
	}
	for _, name := range []string{"fb/Request.go", "fb/Response.go"} {
		var accessors [2][]string
		for i, file := range []string{name, filepath.Join(dir, name)} {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range accessor.FindAllStringSubmatch(string(code), -1) {
				accessors[i] = append(accessors[i], strings.Join(match[1:], " "))
			}
		}
		if len(accessors[0]) < 7 || !slices.Equal(accessors[0], accessors[1]) {
			t.Errorf("%s: run go generate; it has %q, the schema gives %q", name, accessors[0], accessors[1])
		}
	}
}

// TestFlatcReadsOurRecords has the FlatBuffers compiler decode a record.
func TestFlatcReadsOurRecords(t *testing.T) {
	r := samples()[0]
	r.Headers = []byte("Host: shop.test\r\n") // flatc writes JSON, so UTF-8 only
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "record.bin"), encode(r)[prefixSize:], 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("flatc", "--json", "--strict-json", "--raw-binary", "-o", dir, "recording.fbs", "--", filepath.Join(dir, "record.bin")).CombinedOutput()
	if err != nil {
		t.Fatalf("running flatc: %v\n%s", err, out)
	}
	decoded, err := os.ReadFile(filepath.Join(dir, "record.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		ID, URI, Headers, Error string
		Body                    []int
		TimeNS                  int64  `json:"time_ns"`
		BodySize                uint64 `json:"body_size"`
		Response                struct {
			Status     int
			DurationNS int64 `json:"duration_ns"`
		}
	}
	if err := json.Unmarshal(decoded, &got); err != nil {
		t.Fatalf("decoding what flatc wrote: %v\n%s", err, decoded)
	}
	if got.ID != "order-17" || got.URI != string(r.URI) || got.Headers != "Host: shop.test\r\n\r\n" || got.Error != string(r.Error) ||
		len(got.Body) != len(r.Body) || got.Body[255] != 255 || got.TimeNS != r.TimeNS || got.BodySize != r.BodySize ||
		got.Response.Status != 503 || got.Response.DurationNS != 70_000_000 {
		t.Errorf("flatc reads a record as %s", decoded)
	}
}
