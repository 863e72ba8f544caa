// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
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

// start begins to send files, those first that are in the directory.
func (u *uploads) start() {
	u.begin.Do(func() { go u.run() })
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
