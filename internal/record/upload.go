// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// inFlight has the files that are being sent, by path: while a configuration is
// replaced two recorders may have one directory.
var inFlight sync.Map

// send sends a file, and reports whether it need not be sent again.
func (u *uploads) send(w *waiting) (ok bool) {
	if _, taken := inFlight.LoadOrStore(w.path, true); taken {
		return true // and found again by the next look, if it is still there
	}
	defer inFlight.Delete(w.path)
	defer func() {
		if p := recover(); p != nil {
			u.failed(w.path, fmt.Errorf("panic: %v", p))
			ok = u.ended(w, "")
		}
	}()
	u.mu.Lock()
	w.sent = true
	u.mu.Unlock()
	result, err := u.upload(w)
	switch {
	case errors.Is(err, fs.ErrNotExist): // sent by another recorder, or moved away
		u.mu.Lock()
		delete(u.pending, w.path)
		gone := w.gone
		u.mu.Unlock()
		if gone {
			u.observer.lost(w.path, w.size)
		}
		return true
	case errors.Is(err, recorder.ErrStrange):
		u.mu.Lock()
		delete(u.pending, w.path)
		u.strange[w.path] = true
		u.mu.Unlock()
		u.failed(w.path, err)
		return true
	case err != nil && u.ctx.Err() == nil:
		u.failed(w.path, err)
	}
	return u.ended(w, result)
}

// ended notes how a try ended, with no result if it failed.
func (u *uploads) ended(w *waiting, result string) bool {
	u.mu.Lock()
	w.sent = false
	if result == "" {
		w.failed++
		u.inARow++
	} else {
		u.inARow = 0
	}
	gone := w.gone
	if result != "" || gone {
		delete(u.pending, w.path)
	}
	u.mu.Unlock()
	switch {
	case result != "":
		u.observer.uploaded(w.path, w.size, result)
	case gone:
		u.observer.lost(w.path, w.size)
	}
	return result != ""
}

// upload puts a file into the store and then removes it.
func (u *uploads) upload(w *waiting) (result string, err error) {
	if err := recorder.CheckRecording(w.path); err != nil {
		return "", err
	}
	if w.size >= objects.Large {
		if err := u.acquire(u.large); err != nil {
			return "", err
		}
		defer func() { <-u.large }()
	}
	bucket, err := u.open()
	if err != nil {
		return "", err
	}
	file, err := os.Open(w.path)
	if err != nil {
		return "", err
	}
	put, err := bucket.Upload(u.ctx, path.Join(u.folder, filepath.Base(w.path)), file)
	file.Close()
	if err != nil {
		return "", err
	}
	if err := os.Remove(w.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if put.Present {
		return resultPresent, nil
	}
	return resultUploaded, nil
}

// open returns the bucket, which is opened with the first file: some stores are
// asked for something then.
func (u *uploads) open() (*objects.Bucket, error) {
	if err := u.acquire(u.opening); err != nil {
		return nil, err
	}
	defer func() { <-u.opening }()
	if u.bucket != nil {
		return u.bucket, nil
	}
	bucket, err := u.address.Open(u.ctx)
	if err != nil {
		return nil, err
	}
	u.bucket = bucket
	return bucket, nil
}

// acquire waits until a channel of one has room, for what nobody else may do at the
// same time.
func (u *uploads) acquire(room chan<- struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-u.ctx.Done():
		return context.Canceled
	}
}

// close closes the bucket when nothing is sent.
func (u *uploads) close() {
	u.opening <- struct{}{}
	defer func() { <-u.opening }()
	if u.bucket != nil {
		u.bucket.Close()
		u.bucket = nil
	}
}

// failed counts a failure, and logs one a minute.
func (u *uploads) failed(path string, err error) {
	u.observer.uploads.WithLabelValues(resultFailed).Inc()
	if held, ok := u.throttle.Allow(); ok {
		u.observer.logger.Load().Warn("uploading recording failed, and is tried again",
			zap.String("file", path), zap.Stringer("store", u.address), zap.Error(err), zap.Int64("failures_not_logged", held))
	}
}
