// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"
)

// TestTransfersInWhichNothingMovesEnd has one go on for as long as something moves,
// and end two minutes later.
func TestTransfersInWhichNothingMovesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, watch := watched(t.Context())
		defer watch.stop()
		for range 5 {
			time.Sleep(stalledAfter - time.Second)
			watch.moved()
		}
		<-ctx.Done()
		if took := time.Since(began); took != 5*(stalledAfter-time.Second)+stalledAfter {
			t.Errorf("it ended after %s", took)
		}
		if err := watch.cause(context.Canceled); !errors.Is(err, errStalled) {
			t.Errorf("got error %v", err)
		}
	})
	_, watch := watched(t.Context())
	watch.stop()
	if err := watch.cause(context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v for one that was ended", err)
	}
	if err := watch.cause(nil); err != nil {
		t.Errorf("got error %v for one that was not", err)
	}
}

// silent is a store that takes questions and never answers.
type silent struct{ driver.Bucket }

func (silent) Attributes(ctx context.Context, _ string) (*driver.Attributes, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silent) ListPaged(ctx context.Context, _ *driver.ListOptions) (*driver.ListPage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silent) ErrorCode(error) gcerrors.ErrorCode { return gcerrors.Unknown }

func (silent) Close() error { return nil }

// TestQuestionsWithoutAnAnswerEnd asks such a store everything but to take or give
// content: each question ends, so that no file waits for it for ever.
func TestQuestionsWithoutAnAnswerEnd(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(Large); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		bucket := &Bucket{address: &Address{url: &url.URL{Scheme: "s3", Host: "bucket"}}, bucket: blob.NewBucket(silent{})}
		defer bucket.Close()
		for name, ask := range map[string]func() error{
			"find":   func() error { _, err := bucket.Find(t.Context(), "key"); return err },
			"list":   func() error { _, err := bucket.List(t.Context(), "key"); return err },
			"has":    func() error { _, err := bucket.has(t.Context(), "key", "sum", 1); return err },
			"upload": func() error { _, err := bucket.Upload(t.Context(), "key", file); return err },
		} {
			began := time.Now()
			if err := ask(); !errors.Is(err, errStalled) || time.Since(began) != stalledAfter {
				t.Errorf("%s: got error %v after %s", name, err, time.Since(began))
			}
		}
	})
}
