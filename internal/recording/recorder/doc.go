// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package recorder writes recordings to rotating files.
//
// A request fills a Draft and adds it. Adding encodes the record into a batch
// in memory and returns; one goroutine has the batches compressed, some at the
// same time and each into an LZ4 frame of its own, and appends them to the file.
// A file is therefore whole after every write, whatever happens next.
//
// A file ends in .tmp and is locked while it is written, and is renamed when it
// is whole. What a crash leaves behind is repaired and renamed by the next
// recorder that is started on the directory.
package recorder
