// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
)

// randomPosts has wrk send what compression makes least of.
//
//go:embed scripts/random-posts.lua
var randomPosts string

// blackholeRecording measures what recording costs beside only acknowledging.
func blackholeRecording(l *lab) error {
	for _, path := range []string{"normal", "express"} {
		var contenders []contender
		for _, c := range []struct{ name, record string }{
			{"not recording", ""},
			{"recording, lz4", "compression lz4"},
			{"recording, uncompressed", "compression none"},
		} {
			name := strings.ReplaceAll(path+", "+c.name, " ", "-")
			var options []string
			if c.record != "" {
				// What was recorded goes soon: the disk is not what is measured, nor how a
				// virtual machine gets memory for ever more of a file.
				options = append(options, fmt.Sprintf("record %s {\n%s\nrotate_size 64MiB\nkeep 256MiB\n}", filepath.Join(l.dir, name, "recordings"), c.record))
			}
			if path == "express" {
				options = append(options, "express")
			}
			s, err := l.startCaddy(name, "blackhole {\n"+strings.Join(options, "\n")+"\n}")
			if err != nil {
				return err
			}
			script, err := l.file("random-posts.lua", randomPosts)
			if err != nil {
				return err
			}
			contenders = append(contenders, l.underWrk(c.name, wrk{connections: 50, script: script}, s, "/"))
		}
		if err := l.compare("POST of 2 kB of random bytes, 50 connections, "+path+" path", contenders...); err != nil {
			return err
		}
		l.stopServers()
	}
	return nil
}
