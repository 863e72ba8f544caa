// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

// Observer learns what becomes of records and files. Its methods are called
// from several goroutines and must not wait.
type Observer interface {
	// Recorded counts records that are on disk, with their size before and
	// after compression.
	Recorded(records int, raw, disk int64)

	// Dropped counts records that are lost.
	Dropped(reason Reason, records int)

	// Failed counts something that did not work.
	Failed(operation Operation)

	// Finished tells of a file that is whole.
	Finished(path string, size int64)

	// Adopted tells of a file that a crash left behind and that is whole now,
	// without the bytes of a half-written end. If nothing else was in it, the
	// file is gone.
	Adopted(path string, lost int64)

	// Report tells of trouble for the log: at once, then every minute that it lasts.
	Report(trouble Trouble)
}

// Reason is why a record was dropped.
type Reason string

// The reasons for which records are dropped.
const (
	MemoryFull   Reason = "memory"   // with on_overflow drop
	NotWritten   Reason = "write"    // the disk did not take it
	ClientLeft   Reason = "client"   // the client left while its request waited for memory
	StopInHaste  Reason = "stopping" // the process ends and the disk does not take what waits
	NotEncodable Reason = "size"     // larger than any record can be
)

// Reasons are all of them.
var Reasons = []Reason{MemoryFull, NotWritten, ClientLeft, StopInHaste, NotEncodable}

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
	TakeMemory Operation = "memory" // for a record, or the record is larger than any can be
)

// Operations are all of them.
var Operations = []Operation{CreateFile, WriteFile, FinishFile, LostFile, AdoptFile, DeleteFile, TakeMemory}

// Trouble is what went wrong since the last report of the same operation.
type Trouble struct {
	Operation Operation
	Err       error // the last one
	Times     int
	Lost      int // records
}
