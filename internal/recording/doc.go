// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package recording is the file format of recorded requests: what a record
// holds, the encoder and the reader.
//
// A recording is a row of records, as it is or within LZ4 frames. A record is
// its length (8 bytes, little-endian) and one FlatBuffer, described in
// recording.fbs. The table starts with the five fields of adobe/blackhole, so
// that either tool reads what the other has recorded.
package recording

//go:generate sh -c "flatc --go -o . recording.fbs && gofmt -w fb"
