// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// linksOfRecordings measures how long finding links takes beside only reading
// the recording, and whether its memory grows.
func linksOfRecordings(l *lab) error {
	sizes := []int64{10e6, 100e6, 1e9}
	if l.short {
		sizes = []int64{10e6, 30e6}
	}
	fmt.Fprintln(l.out, "\nSessions of ten requests, answers in JSON of 2 kB, a hundred sessions at a time, one uncompressed recording")
	fmt.Fprintln(l.out)
	fmt.Fprintln(l.out, "| recording | requests | CPU of `--test`, which only reads | CPU of `links` | MB per CPU second | time | peak memory | × |")
	fmt.Fprintln(l.out, "|--:|--:|--:|--:|--:|--:|--:|--:|")
	var yardstick int64
	for _, size := range sizes {
		file := filepath.Join(l.dir, "conversations.fbf")
		requests, err := writeConversations(file, size)
		if err != nil {
			return err
		}
		read, err := measured(l.caddy, "replay", "--test", file)
		if err != nil {
			return err
		}
		found, err := measured(l.caddy, "replay", "links", file)
		if err != nil {
			return err
		}
		if yardstick == 0 {
			yardstick = found.memory
		}
		fmt.Fprintf(l.out, "| %d MB | %d | %.2f s | %.2f s | %.0f | %.1f s | %s | %.2f |\n", size/1e6, requests, read.cpu.Seconds(), found.cpu.Seconds(),
			float64(size)/1e6/found.cpu.Seconds(), found.took.Seconds(), mebibytes(found.memory), float64(found.memory)/float64(yardstick))
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// cost is what one run of a command took.
type cost struct {
	took, cpu time.Duration
	memory    int64 // at its peak
}

// measured runs a command.
func measured(name string, args ...string) (cost, error) {
	cmd := exec.Command(name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	peak := peakMemory(cmd.Process.Pid)
	err := cmd.Wait()
	c := cost{took: time.Since(began), memory: peak()}
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, &out)
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return c, nil
}

// writeConversations writes a recording of sessions that log in, list, choose and
// order, a hundred at a time.
func writeConversations(name string, size int64) (requests int, err error) {
	file, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	token := func() string {
		var b [16]byte
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return hex.EncodeToString(b[:])
	}
	var encoder recording.Encoder
	var record []byte
	var written int64
	now := time.Now().UnixNano()
	add := func(cookie, method, target, set, body string) error {
		requests++
		now += int64(time.Millisecond)
		headers := "Host: shop.test\r\nAccept: */*\r\nUser-Agent: browser\r\n"
		if cookie != "" {
			headers += "Cookie: lang=en; sid=" + cookie + "\r\n"
		}
		record = encoder.Append(record[:0], &recording.Request{
			ID: fmt.Appendf(nil, "%032x", requests), Method: []byte(method), URI: []byte(target), Headers: []byte(headers), TimeNS: now, Host: []byte("shop.test"),
			Response: &recording.Response{
				Status: 200, Headers: []byte("Content-Type: application/json\r\n" + set), Body: []byte(body), BodySize: uint64(len(body)), DurationNS: 1e6,
			},
		})
		written += int64(len(record))
		_, err := out.Write(record)
		return err
	}
	list := func() string {
		var text strings.Builder
		text.WriteString(`{"status": "ok", "items": [`)
		for i := range 20 {
			fmt.Fprintf(&text, `{"id": %d, "name": "thing %d", "price": {"amount": %d, "currency": "EUR"}, "stock": %d},`, 1000+i, i, random.IntN(1000), random.IntN(10))
		}
		return text.String() + `{"id": 1}]}`
	}
	const atOnce = 100
	for written < size {
		var sids, carts [atOnce]string
		for step := range 10 {
			for i := range atOnce {
				var err error
				switch step {
				case 0:
					sids[i] = token()
					err = add("", "POST", "/login", "Set-Cookie: sid="+sids[i]+"; HttpOnly\r\n", `{"user": "`+token()+`"}`)
				case 1:
					carts[i] = fmt.Sprint(1000 + random.IntN(9000))
					err = add(sids[i], "POST", "/carts", "", `{"cart": `+carts[i]+`, "token": "`+token()+`"}`)
				case 9:
					err = add(sids[i], "POST", "/carts/"+carts[i]+"/order", "", `{"order": "`+token()+`"}`)
				default:
					err = add(sids[i], "GET", fmt.Sprintf("/carts/%s/items?page=%d&like=%d", carts[i], step, random.IntN(50)), "", list())
				}
				if err != nil {
					return 0, err
				}
			}
		}
	}
	return requests, out.Flush()
}
