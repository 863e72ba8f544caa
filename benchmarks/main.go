// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Command benchmarks runs Rehearsal beside what it is measured against, in
// turns on the same machine, and prints medians and ratios as Markdown.
//
//	go run ./benchmarks [-short] [-shared] [-rounds 5] [-seconds 5] [comparison...]
//	go run ./benchmarks -list
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"time"
)

// comparison is one question asked of the machine, like "what does the
// simulator cost beside nginx?".
type comparison struct {
	name string
	asks string
	run  func(*lab) error
}

// comparisons in the order in which they run when none is named.
var comparisons = []comparison{
	{"simulator", "What does a simulated answer cost beside Caddy's respond?", simulatorBesideRespond},
	{"nginx", "How does a simulated answer compare with nginx and a file?", simulatorBesideNginx},
	{"latency", "How near to its stage's latency are the answers under load?", latencyUnderLoad},
	{"idle", "What does an idle connection cost beside nginx and Caddy?", idleConnections},
	{"reloads", "Do the clients of express connections feel a reload?", reloadsUnderLoad},
	{"wiremock", "Whose answers to WireMock's mappings come faster?", simulatorBesideWireMock},
	{"tee", "What does a copy cost the proxy that makes it?", teeBesideProxy},
	{"answers", "What does it cost a tee to record or compare?", teeThatKeeps},
	{"shadows", "Do clients feel what a shadow does?", teeWithBadShadows},
	{"blackhole", "What does recording cost beside only acknowledging?", blackholeRecording},
	{"replay", "How much load does one machine bring to a server?", replayBesideGenerators},
	{"differences", "What does it cost a replay to compare?", replayThatCompares},
	{"schedule", "Does a replay at a rate keep to its schedule?", replayOnTime},
	{"compare", "How often is a changed field found, and noise taken for a change?", differencesBesideNoise},
	{"links", "How long does finding links take, and in how much memory?", linksOfRecordings},
	{"shards", "What does a shard spend on the records of others?", othersRecords},
	{"learn", "How long does learning a simulator take, and in how much memory?", learnOfRecordings},
	{"queues", "What does matching cost beside answering whatever comes to a queue?", queuesBesideBareResponder},
	{"memory", "Does a replay need more memory for more to send?", replayMemory},
}

func main() {
	log.SetFlags(0)
	if ran, err := peer(os.Args[1:]); ran {
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	short := flag.Bool("short", false, "one round of a second each: does everything run?")
	rounds := flag.Int("rounds", 5, "rounds; in each, every contender has its turn")
	seconds := flag.Float64("seconds", 5, "length of a turn")
	shared := flag.Bool("shared", false, "let servers and load generators have the same processors, instead of half of them each")
	list := flag.Bool("list", false, "list the comparisons")
	flag.Parse()

	if *list {
		for _, c := range comparisons {
			fmt.Printf("%-12s %s\n", c.name, c.asks)
		}
		return
	}
	turn := time.Duration(*seconds * float64(time.Second))
	if *short {
		*rounds, turn = 1, time.Second
	}
	if err := runAll(flag.Args(), &lab{rounds: *rounds, turn: turn, short: *short, shared: *shared, out: os.Stdout}); err != nil {
		log.Fatal(err)
	}
}

func runAll(names []string, l *lab) error {
	for _, name := range names {
		if !slices.ContainsFunc(comparisons, func(c comparison) bool { return c.name == name }) {
			return fmt.Errorf("there is no comparison '%s'; -list shows them", name)
		}
	}
	defer l.close()
	if err := l.open(); err != nil {
		return err
	}
	fmt.Fprintf(l.out, "Measured %s on %s; %d rounds of %s a turn, medians; %s.\n", time.Now().Format("2006-01-02"), machine(), l.rounds, l.turn, l.split())
	for _, c := range comparisons {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		fmt.Fprintf(l.out, "\n## %s\n\n%s\n", c.name, c.asks)
		if err := c.run(l); err != nil {
			return fmt.Errorf("%s: %v", c.name, err)
		}
		l.stopServers()
	}
	return nil
}
