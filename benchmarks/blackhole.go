// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// randomPosts has wrk send 2,000 random bytes, the worst case for compression,
// from a set that is made once so that the generator itself stays cheap.
const randomPosts = `
local bodies, next = {}, 0
function init(args)
	math.randomseed(42)
	for i = 1, 64 do
		local bytes = {}
		for j = 1, 2000 do
			bytes[j] = string.char(math.random(0, 255))
		end -- of the bytes
		bodies[i] = wrk.format("POST", nil, {["Content-Type"] = "application/octet-stream"}, table.concat(bytes))
	end
end
function request()
	next = next % 64 + 1
	return bodies[next]
end
`

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
			contenders = append(contenders, underWrk(c.name, wrk{connections: 50, script: script}, s, "/"))
		}
		if err := l.compare("POST of 2 kB of random bytes, 50 connections, "+path+" path", contenders...); err != nil {
			return err
		}
		l.stopServers()
	}
	return nil
}
