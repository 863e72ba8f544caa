// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	_ "github.com/caddy-rehearsal/rehearsal/stores/s3"
)

// TestRecordingsOfATeeGoToAStore has conversations in one folder of a bucket, and
// the two sides of saved pairs in folders of their own.
func TestRecordingsOfATeeGoToAStore(t *testing.T) {
	store := caddytest.RunS3(t)
	primary, shadow := newUpstream(t, sayJSON(`{"a":1}`)), newUpstream(t, sayJSON(`{"a":2}`))
	conversations, pairs := t.TempDir(), t.TempDir()
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.addr(), "record "+conversations+" {\nstore "+store.URL("live")+"\n}\n"+
			"admin\ncompare {\nsave "+pairs+" {\nflush_every 10ms\nstore "+store.URL("pairs")+"\n}\n}")
	})
	for i := range 5 {
		get(t, oneShot, fmt.Sprintf("http://%s/?i=%d", addr, i))
	}
	table(t, addr, 5)
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three files in the store", func() (string, bool) {
		var folders []string
		for key := range store.Objects() {
			parts := strings.Split(key, "/")
			folders = append(folders, strings.Join(slices.Delete(parts, 1, 2)[:len(parts)-2], "/"))
		}
		slices.Sort(folders)
		return fmt.Sprint(folders), slices.Equal(folders, []string{"live", "pairs/new", "pairs/old"})
	})
}
