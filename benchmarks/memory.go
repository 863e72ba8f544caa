// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// replayMemory measures whether the memory of a replay grows with what it
// replays: a recording of 10 MB, and one of 10 GB; of conversations one of 1 GB.
func replayMemory(l *lab) error {
	target, err := l.startNginx("target", "client_max_body_size 1m;\n"+static100)
	if err != nil {
		return err
	}
	sizes := []int64{10e6, 10e9}
	if l.short {
		sizes = []int64{10e6, 100e6}
	}
	compared := []string{"--to", "again=" + target.url(""), "--compare", "--noise", "self"}
	for _, way := range [][]string{nil, compared} {
		title := "POSTs of 64 kB in one uncompressed recording, sent to nginx with --max" + comparedWords(way)
		if err := l.replayMemoryOf(title, writeRecording, target.url(""), sizes, way); err != nil {
			return err
		}
	}
	target, err = l.startCaddy("shop", shopDirectives) // which is told its own host
	if err != nil {
		return err
	}
	if !l.short {
		sizes = []int64{10e6, 100e6, 1e9}
	}
	write := func(name string, size int64) error {
		_, err := writeConversations(name, size)
		return err
	}
	for _, way := range [][]string{{"--host", "target"}, {"--host", "target", "--links", "auto"}} {
		title := "Sessions of ten requests, a hundred at a time, answers of 2 kB, sent to Caddy with --max"
		if len(way) > 2 {
			title += " and --links auto"
		}
		if err := l.replayMemoryOf(title, write, target.url(""), sizes, way); err != nil {
			return err
		}
	}
	return nil
}

// shopDirectives answer what the recorded conversations follow.
const shopDirectives = `header /login Set-Cookie "sid={http.request.uuid}; HttpOnly"
respond /carts ` + "`" + `{"cart": 4711}` + "`" + `
respond ok`

// replayMemoryOf measures one way of replaying recordings, by its flags.
func (l *lab) replayMemoryOf(title string, write func(name string, size int64) error, url string, sizes []int64, flags []string) error {
	fmt.Fprintf(l.out, "\n%s\n\n", title)
	fmt.Fprintln(l.out, "| recording | requests | time | requests/s | peak memory | × |")
	fmt.Fprintln(l.out, "|--:|--:|--:|--:|--:|--:|")
	var yardstick int64
	for _, size := range sizes {
		file := filepath.Join(l.dir, "recording.fbf")
		if err := write(file, size); err != nil {
			return err
		}
		began := time.Now()
		t, err := l.generate(replayReport, slices.Concat([]string{l.caddy, "replay", file, "--to", url, "--max", "-c", "50", "--report", "json", "-q"}, flags)...)
		if err != nil {
			return err
		}
		took := time.Since(began)
		if yardstick == 0 {
			yardstick = t.memory
		}
		fmt.Fprintf(l.out, "| %d MB | %d | %.1f s | %.0f | %s | %.2f |\n", size/1e6, t.requests, took.Seconds(), t.rate, mebibytes(t.memory), float64(t.memory)/float64(yardstick))
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

func comparedWords(flags []string) string {
	if len(flags) == 0 {
		return ""
	}
	return ", and compared with --noise self"
}

// writeRecording writes a recording of about the given size.
func writeRecording(name string, size int64) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	body := make([]byte, 64<<10)
	random := rand.NewChaCha8([32]byte{42})
	var encoder recording.Encoder
	var record []byte
	began := time.Now().UnixNano()
	for written, n := int64(0), int64(0); written < size; n++ {
		_, _ = random.Read(body[:32]) // so that no two bodies are the same
		record = encoder.Append(record[:0], &recording.Request{
			ID:       fmt.Append(nil, n),
			Method:   []byte("POST"),
			URI:      []byte("/"),
			Headers:  []byte("Host: shop.test\r\nContent-Length: 65536\r\n"),
			Body:     body,
			BodySize: uint64(len(body)),
			TimeNS:   began + n*int64(time.Millisecond),
			Host:     []byte("shop.test"),
		})
		if _, err := out.Write(record); err != nil {
			return err
		}
		written += int64(len(record))
	}
	return out.Flush()
}
