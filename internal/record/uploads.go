// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

const (
	// uploadsAtOnce is how many files go up at the same time, of which one may be
	// large and go in parts.
	uploadsAtOnce = 4

	// givesUpAfter is how many files in a row may fail before the store is left
	// alone for a while.
	givesUpAfter = 2 * uploadsAtOnce

	// The pause after a failure, which doubles until the store takes something.
	firstPause   = time.Second
	longestPause = time.Minute

	// lookEvery is how often the directory is looked through for files that
	// nobody has told of.
	lookEvery = time.Minute

	// uploadPatience is how long the end of a recorder waits for the store. What
	// is not there by then is found again by the next recorder.
	uploadPatience = 10 * time.Second
)

// results of an upload, as counted.
const (
	resultUploaded = "uploaded" // the store has confirmed it
	resultPresent  = "present"  // the store had it already, with the same content
	resultFailed   = "failed"   // a try, after which there is another
	resultLost     = "lost"     // keep let the file go before the store had it
)

var results = []string{resultUploaded, resultPresent, resultFailed, resultLost}

// uploads sends the whole files of a directory to a store, and removes each that
// the store has confirmed. One goroutine looks for files and has some others
// send them. What is to be sent is what is in the directory: nothing is lost with
// the process.
type uploads struct {
	address     *objects.Address
	dir, prefix string
	folder      string // of the store
	observer    *observer
	throttle    *metrics.Throttle

	wake      chan struct{}
	ctx       context.Context
	cancel    context.CancelFunc
	begin     sync.Once
	done      chan struct{} // closed when the goroutine has ended
	finishing chan struct{} // closed when the recorder has
	finish    sync.Once

	large   chan struct{} // full while a large file is sent
	opening chan struct{} // full while the bucket is looked at
	bucket  *objects.Bucket

	mu      sync.Mutex          // is never held while anything is waited for
	pending map[string]*waiting // by path
	strange map[string]bool     // files that have a name of ours and are no recordings
	inARow  int                 // failures
	said    int                 // files that were said to be left at the end
}

// waiting is a file that is to be sent.
type waiting struct {
	path   string
	size   int64
	failed int  // tries
	sent   bool // someone sends it
	gone   bool // it was deleted meanwhile
}

// newUploads returns the uploads of a recorder with some options, whose store is
// at an address.
func newUploads(address *objects.Address, options *recorder.Options, o *observer) *uploads {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:gosec // end calls it
	return &uploads{
		address: address, dir: options.Dir, prefix: options.Prefix, observer: o, throttle: metrics.NewThrottle(time.Minute),
		folder: path.Join(address.Path(), hostName(), options.StoreFolder),
		wake:   make(chan struct{}, 1), ctx: ctx, cancel: cancel, done: make(chan struct{}), finishing: make(chan struct{}),
		large: make(chan struct{}, 1), opening: make(chan struct{}, 1),
		pending: make(map[string]*waiting), strange: make(map[string]bool),
	}
}

// hostName returns the name of this machine as a part of a key.
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "unknown-host"
	}
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// start has files sent, from what is in the directory on.
func (u *uploads) start() {
	u.begin.Do(func() { go u.run() })
}

// add has a file sent that is whole.
func (u *uploads) add(path string, size int64) {
	u.mu.Lock()
	if u.pending[path] == nil {
		u.pending[path] = &waiting{path: path, size: size}
	}
	u.mu.Unlock()
	u.wakeUp()
}

func (u *uploads) wakeUp() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// deleted notes that a file is gone which was not sent yet: it is lost, unless
// whoever sends it has it open and succeeds.
func (u *uploads) deleted(path string, size int64) {
	u.mu.Lock()
	w := u.pending[path]
	sent := w != nil && w.sent
	if sent {
		w.gone = true
	} else {
		delete(u.pending, path)
	}
	u.mu.Unlock()
	if !sent {
		u.observer.lost(path, size)
	}
}

// pendingBytes returns the size of all files that wait for the store.
func (u *uploads) pendingBytes() (bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, w := range u.pending {
		bytes += w.size
	}
	return bytes
}

// run sends files until the recorder has ended and all is sent, or there is no
// more time.
func (u *uploads) run() {
	defer close(u.done)
	defer u.close()
	var pause time.Duration
	for u.ctx.Err() == nil {
		failed, sent := u.round()
		switch {
		case failed && sent:
			pause = firstPause
		case failed:
			pause = min(max(firstPause, 2*pause), longestPause)
		default:
			pause = 0
		}
		if !u.rest(pause) {
			return
		}
	}
}

// rest waits for the next round, and reports whether there is one.
func (u *uploads) rest(pause time.Duration) bool {
	wake, finishing, next := u.wake, u.finishing, cmp.Or(pause, lookEvery)
	if pause > 0 {
		wake = nil // the store is left alone
	}
	if u.ends() {
		if pause == 0 && len(u.due()) == 0 {
			return false
		}
		finishing, next = nil, firstPause
	}
	timer := time.NewTimer(next)
	defer timer.Stop()
	select {
	case <-wake:
	case <-timer.C:
	case <-finishing:
	case <-u.ctx.Done():
		return false
	}
	return true
}

// ends reports whether the recorder has ended.
func (u *uploads) ends() bool {
	select {
	case <-u.finishing:
		return true
	default:
		return false
	}
}

// round sends the files that there are, and reports whether some failed and
// whether some were sent.
func (u *uploads) round() (failed, sent bool) {
	defer func() {
		if p := recover(); p != nil {
			u.failed("", fmt.Errorf("panic: %v", p))
			failed = true
		}
	}()
	u.look()
	u.mu.Lock()
	u.inARow = 0
	u.mu.Unlock()
	var anyFailed, anySent atomic.Bool
	var senders sync.WaitGroup
	queue := make(chan *waiting)
	for range uploadsAtOnce {
		senders.Go(func() {
			for w := range queue {
				if u.send(w) {
					anySent.Store(true)
				} else {
					anyFailed.Store(true)
				}
			}
		})
	}
	for _, w := range u.due() {
		if u.ctx.Err() != nil || u.givesUp() {
			break
		}
		queue <- w
	}
	close(queue)
	senders.Wait()
	return anyFailed.Load(), anySent.Load()
}

func (u *uploads) givesUp() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.inARow >= givesUpAfter
}

// look finds the files in the directory.
func (u *uploads) look() {
	known := u.known()
	there, err := recorder.Whole(u.dir, u.prefix)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			u.failed(u.dir, err)
		}
		return
	}
	u.update(known, there)
}

// known returns the files that wait.
func (u *uploads) known() map[string]*waiting {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.pending)
}

// update notes which files are there, and forgets those that are not, of the ones
// that were known before the directory was read: others may have been finished
// since.
func (u *uploads) update(known map[string]*waiting, there []recorder.Stored) {
	u.mu.Lock()
	defer u.mu.Unlock()
	found := make(map[string]bool, len(there))
	for _, file := range there {
		path := filepath.Join(u.dir, file.Name)
		found[path] = true
		if u.pending[path] == nil && !u.strange[path] {
			u.pending[path] = &waiting{path: path, size: file.Size}
		}
	}
	for path, w := range known {
		if !found[path] && u.pending[path] == w && !w.sent {
			delete(u.pending, path)
		}
	}
}

// due returns the files to be sent: the oldest first, but those last that have
// failed, so that none can be in the way of others.
func (u *uploads) due() []*waiting {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := make([]*waiting, 0, len(u.pending))
	for _, w := range u.pending {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *waiting) int {
		return cmp.Or(cmp.Compare(a.failed, b.failed), strings.Compare(a.path, b.path))
	})
	return all
}

// claims are the files that are being sent, by path: while a configuration is
// replaced two recorders may have one directory.
var claims sync.Map

// send sends a file, and reports whether it need not be sent again.
func (u *uploads) send(w *waiting) (ok bool) {
	if _, taken := claims.LoadOrStore(w.path, true); taken {
		return true // and found again by the next look, if it is still there
	}
	defer claims.Delete(w.path)
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

// upload has the store take a file, and then removes it.
func (u *uploads) upload(w *waiting) (result string, err error) {
	if err := recorder.CheckRecording(w.path); err != nil {
		return "", err
	}
	if w.size >= objects.Large {
		if err := u.take(u.large); err != nil {
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
	if err := u.take(u.opening); err != nil {
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

// take waits until a channel of one has room, for what nobody else may do at the
// same time.
func (u *uploads) take(room chan<- struct{}) error {
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

// end waits until all is sent, but not for long, and says what is left. It is
// called when the recorder has written its last file, and again for what was
// written later.
func (u *uploads) end() {
	patience := time.AfterFunc(uploadPatience, u.cancel)
	defer patience.Stop()
	u.finish.Do(func() { close(u.finishing) })
	u.start() // so that it has an end
	select {
	case <-u.done:
		if len(u.due()) > 0 && u.ctx.Err() == nil {
			u.round()
			u.close()
		}
	case <-u.ctx.Done():
	}
	left := len(u.due())
	u.mu.Lock()
	said := left == u.said
	u.said = left
	u.mu.Unlock()
	if left > 0 && !said {
		u.observer.logger.Load().Warn("recordings are not uploaded yet: the next start finds them in the directory",
			zap.Int("files", left), zap.Int64("bytes", u.pendingBytes()), zap.String("dir", u.dir), zap.Stringer("store", u.address))
	}
}
