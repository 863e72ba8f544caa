// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long && external

package record

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestTenThousandSmallFiles sends as many to a store that fails one request in a
// hundred: every record is in the bucket once.
func TestTenThousandSmallFiles(t *testing.T) {
	t.Run("in memory", func(t *testing.T) { sendTenThousand(t, caddytest.RunS3(t)) })
	t.Run("versitygw", func(t *testing.T) { sendTenThousand(t, caddytest.RunVersitygw(t)) })
}

func sendTenThousand(t *testing.T, store *caddytest.S3) {
	const files = 10_000
	var puts atomic.Int64
	store.Misbehave(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodPut {
			next.ServeHTTP(w, r)
			return
		}
		switch puts.Add(1) % 300 {
		case 100:
			caddytest.S3Error(w, http.StatusServiceUnavailable, "SlowDown")
		case 200:
			_, _ = io.CopyN(io.Discard, r.Body, 20)
			caddytest.HangUp(w)
		case 0:
			next.ServeHTTP(httptest.NewRecorder(), r)
			caddytest.HangUp(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
	s := openStored(t, store.URL("shop"), nil)
	s.start()
	began := time.Now()
	for at := 0; at < files; at += 500 {
		s.record(t, at, at+500)
		s.Recorder.Recorder.Close()
	}
	for s.uploaded("uploaded")+s.uploaded("present") < files {
		if time.Since(began) > 30*time.Minute {
			t.Fatalf("%d files are in the store after half an hour", s.uploaded("uploaded"))
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%d files in %s, %d tries failed, %d files were there already", files, time.Since(began).Round(time.Second), s.uploaded("failed"), s.uploaded("present"))
	checkOnce(t, store, files)
}
