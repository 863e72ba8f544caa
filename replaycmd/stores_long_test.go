// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long && external && linux

package replaycmd

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// TestMemoryOfAStoreIsThatOfFiles replays 5 GB, of two hosts, from folders and from
// a bucket of versitygw, which has the same files: as processes of their own, whose
// memory at most is compared.
func TestMemoryOfAStoreIsThatOfFiles(t *testing.T) {
	const files, size, body = 20, 5_000_000_000 / 20, 16 << 10
	store := caddytest.RunVersitygw(t)
	random := rand.NewChaCha8([32]byte{1})
	content := make([]byte, 1<<20)
	_, _ = random.Read(content)
	records := int64(0)
	var folders []string
	for host := range 2 {
		folder := filepath.Join(store.Folder, "shop", fmt.Sprintf("web-%d", host))
		folders = append(folders, folder)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
		for f := range files / 2 {
			begun := time.Unix(0, origin).Add(time.Duration(f) * time.Minute).UTC()
			file, err := os.Create(filepath.Join(folder, fmt.Sprintf("requests_%s_000000-%08x.fbf", begun.Format("20060102T150405Z"), host)))
			if err != nil {
				t.Fatal(err)
			}
			out := bufio.NewWriterSize(file, 1<<20)
			var e recording.Encoder
			var record []byte
			for written := 0; written < size; written += len(record) {
				at := int(records*4099) % (len(content) - body)
				record = e.Append(record[:0], &recording.Request{
					ID: fmt.Appendf(nil, "r%d", records), Method: []byte("POST"), URI: fmt.Appendf(nil, "/%d", records), TimeNS: begun.UnixNano() + int64(written),
					Headers: fmt.Appendf(nil, "Host: shop.test\r\nContent-Length: %d\r\n\r\n", body), Body: content[at : at+body], BodySize: body,
				})
				if _, err := out.Write(record); err != nil {
					t.Fatal(err)
				}
				records++
			}
			if err := out.Flush(); err != nil {
				t.Fatal(err)
			}
			file.Close()
		}
	}
	var arrived atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived.Add(1)
	}))
	defer target.Close()
	memory := func(args ...string) int64 {
		arrived.Store(0)
		began := time.Now()
		cmd := caddytest.Command(t, append([]string{"replay", "--max", "-c", "20", "-q", "--to", target.URL}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if got := arrived.Load(); got != records {
			t.Errorf("%d requests arrived, want %d", got, records)
		}
		most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		t.Logf("%d records in %s, with %d MiB at most", records, time.Since(began).Round(time.Second), most>>20)
		return most
	}
	local := memory(folders...)
	stored := memory(store.URL("shop"))
	if ratio := float64(stored) / float64(local); ratio > 1.2 {
		t.Errorf("a store takes %.2f times the memory of files", ratio)
	}
}
