// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"sync"
	"time"
)

// Observer is notified of what becomes of records and files. Its methods are called
// from several goroutines and must not wait.
type Observer interface {
	// Recorded counts records that are on disk, with their size before and
	// after compression.
	Recorded(records int, raw, disk int64)

	// Dropped counts records that are lost.
	Dropped(reason Reason, records int)

	// Failed counts something that did not work.
	Failed(operation Operation)

	// Finished is called for a file that is whole, with its size in bytes.
	Finished(path string, size int64)

	// Adopted is called for a file that a crash left behind and that is whole
	// now, without the bytes of a half-written end.
	Adopted(path string, lost int64)

	// Deleted is called for a file that is gone, with its size in bytes and why.
	Deleted(path string, size int64, why string)

	// Report is called with trouble for the log: at once, then every minute that
	// it lasts.
	Report(trouble Trouble)
}

// Reason is why a record was dropped.
type Reason string

// The reasons for which records are dropped.
const (
	MemoryFull   Reason = "memory"      // with on_overflow drop
	NotWritten   Reason = "write"       // the disk did not take it
	ClientLeft   Reason = "client"      // the client left while its request waited for memory
	StopInHaste  Reason = "stopping"    // the process ends and the disk does not take what waits
	NotEncodable Reason = "size"        // larger than any record can be
	Unsupported  Reason = "unsupported" // an exchange that is not recorded, like an upgrade
)

// Reasons are all of them.
var Reasons = []Reason{MemoryFull, NotWritten, ClientLeft, StopInHaste, NotEncodable, Unsupported}

// Operation is what did not work.
type Operation string

// The operations that can fail.
const (
	CreateFile Operation = "create" // a new file
	WriteFile  Operation = "write"  // to a file
	FinishFile Operation = "finish" // close and rename a file
	LostFile   Operation = "lost"   // a file that was being written was moved or deleted
	AdoptFile  Operation = "adopt"  // a file left behind
	DeleteFile Operation = "delete" // what retention lets go
	ReadKey    Operation = "key"    // by which values are hashed, or make one
	TakeMemory Operation = "memory" // for a record, or the record is larger than any can be
)

// Operations are all of them.
var Operations = []Operation{CreateFile, WriteFile, FinishFile, LostFile, AdoptFile, DeleteFile, ReadKey, TakeMemory}

// Trouble is what went wrong since the last report of the same operation.
type Trouble struct {
	Operation Operation
	Err       error // the last one
	Times     int
	Lost      int // records
}

// reportEvery is the least time between two reports of the same operation.
const reportEvery = time.Minute

// troubles gathers what goes wrong so that a log gets a line a minute.
type troubles struct {
	observer Observer
	mu       sync.Mutex
	of       map[Operation]*pending
}

type pending struct {
	Trouble
	reported time.Time
}

func newTroubles(o Observer) *troubles {
	return &troubles{observer: o, of: make(map[Operation]*pending)}
}

// failed counts a failure and the records lost by it.
func (t *troubles) failed(operation Operation, err error, reason Reason, lost int) {
	t.observer.Failed(operation)
	if lost > 0 {
		t.observer.Dropped(reason, lost)
	}
	t.mu.Lock()
	p := t.of[operation]
	if p == nil {
		p = &pending{Trouble: Trouble{Operation: operation}}
		t.of[operation] = p
	}
	p.Err = err
	p.Times++
	p.Lost += lost
	t.mu.Unlock()
	t.report(false)
}

// report sends the reports that are due, or all that are not sent.
func (t *troubles) report(all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for _, p := range t.of {
		if p.Times > 0 && (all || now.Sub(p.reported) >= reportEvery) {
			t.observer.Report(p.Trouble)
			p.Trouble = Trouble{Operation: p.Operation}
			p.reported = now
		}
	}
}
