// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package learn makes a simulator of a recording: it finds which requests are
// of one kind, what they were answered, how long that took and when it changed,
// and writes it down for people and for the simulator to read.
//
// A recording is read twice. A Survey sees every exchange and plans the routes;
// a Learner sees them again and makes the Model, which can be written in
// several forms. All that is kept is bounded, whatever the recording, and what
// is left out is counted. The same recording always makes the same model.
package learn
