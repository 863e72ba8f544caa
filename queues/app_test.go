// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestStartsWholeOrNotAtAll has a file vanish between Provision and Start: what had
// begun by then ends, since Caddy does not stop an app that has not started.
func TestStartsWholeOrNotAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := filepath.Join(t.TempDir(), "body")
		if err := os.WriteFile(body, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		b := brokertest.NewMemory()
		a := &App{logger: zap.NewNop(), brokers: map[string]broker.Protocol{t.Name(): b}}
		services, err := json.Marshal([]map[string]any{
			{"address": "a", "stages": []any{map[string]any{"at": 0}}},
			{"address": "b", "stages": []any{map[string]any{"at": 0}}, "body_file": body},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(services, &a.Services); err != nil {
			t.Fatal(err)
		}
		names := make(map[string]bool)
		for _, s := range a.Services {
			if err := a.prepare(s, names); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.group(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(body); err != nil {
			t.Fatal(err)
		}
		if err := a.Start(); err == nil || !strings.Contains(err.Error(), "body_file") {
			t.Errorf("got %v", err)
		}
		if err := a.Cleanup(); err != nil {
			t.Error(err)
		}
		pass(time.Minute)
		if _, now := b.Connections(); now != 0 || b.Receiver("a") != 0 {
			t.Errorf("%d connections are left", now)
		}
	})
}
