// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// simulatorBesideRespond measures the normal path, without express: the same
// body from Caddy's own respond and from simulators without latency, of one
// outcome and of three.
func simulatorBesideRespond(l *lab) error {
	body := strings.Repeat("x", 100)
	respond, err := l.startCaddy("respond", "respond "+body)
	if err != nil {
		return err
	}
	simulator, err := l.startCaddy("simulator", fmt.Sprintf("simulator {\nbody %s\nstage 0 200\n}", body))
	if err != nil {
		return err
	}
	outcomes, err := l.startCaddy("outcomes", fmt.Sprintf("simulator {\nbody %s\nstage 0 {\noutcome 201 {\nfirst 2\n}\noutcome 202 {\npercent 3\n}\noutcome 200\n}\n}", body))
	if err != nil {
		return err
	}
	load := wrk{connections: 50}
	return l.compare("100 B, 50 connections", l.underWrk("respond", load, respond, "/"), l.underWrk("simulator", load, simulator, "/"),
		l.underWrk("three outcomes", load, outcomes, "/"))
}
