// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
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
