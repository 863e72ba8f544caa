// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package wiremock answers requests by WireMock's stub mappings.
//
// Load reads the JSON files that WireMock reads. Everything in them is
// compiled then: patterns, JSONPaths, templates, body files. What a mapping
// asks for and this package does not do is an error that names the file, the
// mapping and the field; nothing is left out silently.
//
// A Set finds the mapping for a request by an index of URLs and gives the
// answer as plain data, so that any HTTP server can write it.
package wiremock
