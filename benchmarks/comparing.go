// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// items2k has nginx respond with 2 kB of JSON whose first member is what is
// given, which may have variables of nginx.
func items2k(member string) string {
	var items strings.Builder
	for i := range 24 {
		fmt.Fprintf(&items, `,{"id":%d,"name":"article number %d","price":%d.50,"stock":%d,"tags":["a","b"]}`, i+1, i+1, 10+i, i*7)
	}
	body := `{` + member + `,"currency":"EUR","items":[` + items.String()[1:] + `]}`
	return `location / { default_type application/json; return 200 '` + body + `'; }`
}

// noisy is another number in nearly every response.
const noisy = `"queue":$connection_requests`

// replayThatCompares measures what comparing costs a replay that is as fast as
// it can be, and how many comparisons it has no time for.
func replayThatCompares(l *lab) error {
	var targets []string
	for _, name := range []string{"old", "new"} {
		s, err := l.startNginx(name, items2k(noisy))
		if err != nil {
			return err
		}
		targets = append(targets, "--to", name+"="+s.url(""))
	}
	file := filepath.Join(l.dir, "items.fbf")
	if err := writeItems(file, 10_000); err != nil {
		return err
	}
	ways := []struct {
		name  string
		flags []string
		shed  []float64 // percent of the pairs, by round
	}{{name: "caddy replay --max"}, {name: "with --compare=old", flags: []string{"--compare=old"}}}
	contenders := make([]contender, len(ways))
	for i := range ways {
		way := &ways[i]
		contenders[i] = contender{name: way.name, load: func(d time.Duration) (turn, error) {
			command := append([]string{
				l.caddy, "replay", file, "--loop", "--max", "-c", "25", "--duration", d.String(), "--report", "json", "-q",
			}, targets...)
			return l.generate(func(out string) (turn, error) {
				t, shed, err := comparedReport(out)
				way.shed = append(way.shed, shed)
				return t, err
			}, append(command, way.flags...)...)
		}}
	}
	title := "GET of 2 kB of JSON, of which one member differs, from two nginx, 25 connections each, as fast as possible; " +
		"requests are of both, CPU and memory the generator's"
	if err := l.compare(title, contenders...); err != nil {
		return err
	}
	fmt.Fprintf(l.out, "\nNot compared for want of time: %.2f %% of the pairs in the worst round.\n", max(0, maxOf(ways[1].shed)))
	return nil
}

func maxOf(values []float64) (most float64) {
	for _, v := range values {
		most = max(most, v)
	}
	return most
}

// comparedReport returns the figures of all targets as one, and which percent
// of the pairs was shed.
func comparedReport(out string) (turn, float64, error) {
	report, err := decodeReplay(out)
	if err != nil {
		return turn{}, 0, err
	}
	var t turn
	for _, target := range report.Targets {
		t.requests += target.Requests
		t.rate += target.Rate
		t.errors += target.Errors
		t.p50, t.p99 = max(t.p50, milliseconds(target.Service.P50)), max(t.p99, milliseconds(target.Service.P99))
	}
	shed := 0.0
	for _, c := range report.Comparisons {
		if n := c.Partial["shed"]; n > 0 {
			shed = max(shed, 100*float64(n)/float64(n+c.Pairs))
		}
	}
	return t, shed, nil
}

// writeItems writes a recording of GETs, each of another item.
func writeItems(name string, n int) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	var encoder recording.Encoder
	for i := range n {
		record := encoder.Append(nil, &recording.Request{
			ID: fmt.Append(nil, i), Method: []byte("GET"), URI: fmt.Appendf(nil, "/items/%d?currency=EUR", i),
			Headers: []byte("Host: shop.test\r\nAccept: application/json\r\n\r\n"), Host: []byte("shop.test"), TimeNS: int64(1 + i),
		})
		if _, err := out.Write(record); err != nil {
			return err
		}
	}
	return out.Flush()
}

// teeThatKeeps measures what recording and comparing cost a tee, beside one that
// only copies, and whether clients feel it.
func teeThatKeeps(l *lab) error {
	primary, err := l.startBackend("primary", "set $price 100;\n"+items2k(`"price":$price`))
	if err != nil {
		return err
	}
	// 26 of the 256 values that two digits have
	shadow, err := l.startBackend("shadow", "set $price 100;\nif ($request_id ~ \"^(0|1[0-9])\") { set $price 110; }\n"+items2k(`"price":$price`))
	if err != nil {
		return err
	}
	proxy := "reverse_proxy " + primary.addr
	record := fmt.Sprintf("record %s {\nrotate_size 64MiB\nkeep 256MiB\n}", filepath.Join(l.dir, "kept"))
	var (
		contenders []contender
		servers    []*server
	)
	for _, c := range []struct{ name, directives string }{
		{"tee, one shadow", fmt.Sprintf("tee %s\n%s", shadow.url(""), proxy)},
		{"tee that records", fmt.Sprintf("tee {\n%s\n}\n%s", record, proxy)},
		{"tee that compares", fmt.Sprintf("tee %s {\ncompare\n}\n%s", shadow.url(""), proxy)},
	} {
		s, err := l.startCaddy(c.name, c.directives)
		if err != nil {
			return err
		}
		contenders = append(contenders, l.underWrk(c.name, wrk{connections: 50}, s, "/"))
		servers = append(servers, s)
	}
	turns, title, err := l.measure("GET of 2 kB of JSON, 50 connections, primary and shadow are nginx; in 10 % of the pairs a member differs", contenders)
	if err != nil {
		return err
	}
	l.print(title, contenders, turns)
	half := median(turns[len(turns)-1], func(t turn) float64 { return t.rate }) / 2
	return l.feltByClients(half, contenders, servers)
}

// feltByClients prints what clients wait at one rate, which all servers can
// bear: what is asked as fast as possible waits longer wherever there is more to
// do, and asks less.
func (l *lab) feltByClients(rate float64, contenders []contender, servers []*server) error {
	for i, s := range servers {
		contenders[i].load = func(length time.Duration) (turn, error) {
			t, err := l.replay(s.url("/"), 50, "--rate", fmt.Sprintf("%.0f/s", rate), "--duration", length.String())
			return turn{rate: t.Rate, p50: milliseconds(t.Latency.P50), p99: milliseconds(t.Latency.P99), errors: t.Errors}, err
		}
	}
	turns, title, err := l.measure(fmt.Sprintf("The same at %.0f/s, half of what the last one bears", rate), contenders)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "\n%s\n\n| contender | requests/s | p50 | × | p99 | × | errors |\n|---|--:|--:|--:|--:|--:|--:|\n", title)
	p50, p99 := func(t turn) float64 { return float64(t.p50) }, func(t turn) float64 { return float64(t.p99) }
	for i, c := range contenders {
		fmt.Fprintf(l.out, "| %s | %.0f | %s | %.2f | %s | %.2f | %d |\n", c.name, median(turns[i], func(t turn) float64 { return t.rate }),
			short(time.Duration(median(turns[i], p50))), ratio(turns[i], turns[0], p50),
			short(time.Duration(median(turns[i], p99))), ratio(turns[i], turns[0], p99), sum(turns[i], func(t turn) int64 { return t.errors }))
	}
	return nil
}
