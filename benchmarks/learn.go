// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// learnOfRecordings measures how long learning takes beside only reading the
// recording, and whether its memory grows: with what is recorded, and with how
// much of it differs.
func learnOfRecordings(l *lab) error {
	large, paths := int64(1e9), 100_000
	if l.short {
		large, paths = 30e6, 10_000
	}
	conversations := func(size int64) func(string) (int, error) {
		return func(file string) (int, error) { return writeConversations(file, size) }
	}
	fmt.Fprintln(l.out, "\nThe conversations of `links`, and requests of which no two have the same path, field, parameter or answer. Learned is with the grade, which reads a third time")
	fmt.Fprintln(l.out)
	fmt.Fprintln(l.out, "| recording | requests | CPU of `--test`, which only reads | CPU of `learn` | MB per CPU second | time | peak memory | × |")
	fmt.Fprintln(l.out, "|---|--:|--:|--:|--:|--:|--:|--:|")
	var yardstick int64
	for _, recorded := range []struct {
		name  string
		write func(file string) (int, error)
	}{
		{"conversations", conversations(10e6)},
		{"conversations", conversations(large)},
		{"all different", func(file string) (int, error) { return writeDifferent(file, paths) }},
		{"all different", func(file string) (int, error) { return writeDifferent(file, 10*paths) }},
	} {
		file := filepath.Join(l.dir, "recorded.fbf")
		requests, err := recorded.write(file)
		if err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		read, err := measured(l.caddy, "replay", "--test", file)
		if err != nil {
			return err
		}
		learned, err := measured(l.caddy, "replay", "learn", "-o", filepath.Join(l.dir, "Caddyfile"), file)
		if err != nil {
			return err
		}
		if yardstick == 0 {
			yardstick = learned.memory
		}
		fmt.Fprintf(l.out, "| %s, %d MB | %d | %.2f s | %.2f s | %.0f | %.1f s | %s | %.2f |\n", recorded.name, info.Size()/1e6, requests, read.cpu.Seconds(), learned.cpu.Seconds(),
			float64(info.Size())/1e6/learned.cpu.Seconds(), learned.took.Seconds(), mebibytes(learned.memory), float64(learned.memory)/float64(yardstick))
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// writeDifferent writes a recording of requests that have nothing in common.
func writeDifferent(name string, requests int) (int, error) {
	file, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	var encoder recording.Encoder
	var record []byte
	now := time.Now().UnixNano()
	for i := range requests {
		word := fmt.Sprintf("%c%x", 'g'+random.IntN(20), random.Uint32())
		record = encoder.Append(record[:0], &recording.Request{
			ID: fmt.Appendf(nil, "%032x", i), Method: []byte("GET"), URI: fmt.Appendf(nil, "/%s/%c%x?like=%s", word, 'g'+i%20, random.Uint32(), word),
			Headers: fmt.Appendf(nil, "Host: shop.test\r\nX-Trace: %s\r\nCookie: sid=%s\r\n", word, word), TimeNS: now + int64(i)*int64(time.Millisecond), Host: []byte("shop.test"),
			Response: &recording.Response{
				Status: 200 + random.IntN(5), Headers: fmt.Appendf(nil, "Content-Type: application/json\r\nX-Trace: %s\r\n", word),
				Body: fmt.Appendf(nil, `{"word": "%s", "%s": 1}`, word, word), BodySize: 40, DurationNS: int64(1e6 + random.IntN(1e6)),
			},
		})
		if _, err := out.Write(record); err != nil {
			return 0, err
		}
	}
	return requests, out.Flush()
}
