// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/spf13/cobra"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// shard is which part of a run is sent from here, the others from other machines.
type shard struct{ index, count int } // index from 1

// The variables that --shard auto reads: the first is that of Kubernetes' indexed
// jobs.
const (
	shardAuto     = "auto"
	indexVariable = "JOB_COMPLETION_INDEX" // from 0
	countVariable = "REHEARSAL_SHARDS"
)

// parseShard reads a shard like 2/4, or auto.
func parseShard(text string) (*shard, error) {
	if text == shardAuto {
		return shardOfEnvironment(os.Getenv(indexVariable), os.Getenv(countVariable))
	}
	i, n, found := strings.Cut(text, "/")
	index, errIndex := parseFew(i)
	count, errCount := parseFew(n)
	if !found || errIndex != nil || errCount != nil || index > count {
		return nil, fmt.Errorf("'%s' is not a shard: expected one like 2/4, the second of four, or auto", text)
	}
	return &shard{index, count}, nil
}

func shardOfEnvironment(index, count string) (*shard, error) {
	i, err := strconv.ParseUint(index, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("auto needs the variable %s: '%s' is not a number from 0", indexVariable, index)
	}
	n, err := parseFew(count)
	if err != nil {
		return nil, fmt.Errorf("auto needs the variable %s: %v", countVariable, err)
	}
	if int(i) >= n {
		return nil, fmt.Errorf("auto: %s is %d, of %s %d: expected one that is less", indexVariable, i, countVariable, n)
	}
	return &shard{int(i) + 1, n}, nil
}

// shards returns how many machines send what is asked for.
func (p *params) shards() float64 {
	if p.shard == nil {
		return 1
	}
	return float64(p.shard.count)
}

// checkShard checks what --shard and other flags say together.
func (p *params) checkShard() error {
	if p.shard == nil {
		return nil
	}
	if given := p.given("find-rate", "test", "extract", "extract-to-file"); len(given) > 0 {
		return fmt.Errorf("%s is about all requests: expected it without --shard", given[0])
	}
	if p.links == linksAuto {
		return errors.New("--links auto finds sessions in answers, which all shards have to know alike: expected --links FILE, as 'caddy replay links -o FILE' writes it")
	}
	return nil
}

// shardFilter decides which records a shard sends: whole sessions where they are known,
// else by identifiers. It needs no word of the other shards.
type shardFilter struct {
	shard
	session func(*recording.Request) (name string, ok bool) // nil: by identifiers
	read    int64
}

// newShardFilter returns what decides for this shard, nil if all is sent from here.
// Conversations that are followed know the sessions.
func (p *params) newShardFilter(c *changing) *shardFilter {
	if p.shard == nil {
		return nil
	}
	f := &shardFilter{shard: *p.shard}
	switch {
	case c.follows():
		f.session = func(r *recording.Request) (string, bool) { return c.follow.Session(r, c.pass()) }
	case p.followed != nil:
		f.session = p.newSessions().Of
	case len(p.sessions) > 0:
		sessions := conversation.NewSessions(p.sessions, nil)
		f.session = func(r *recording.Request) (string, bool) {
			return sessions.Of(&recording.Request{Headers: r.Headers, Remote: r.Remote}) // what else a record has is of no use
		}
	}
	return f
}

// has reports whether the next record is the shard's.
func (f *shardFilter) has(r *recording.Request) bool {
	f.read++
	if f.session != nil {
		if name, ok := f.session(r); ok {
			return f.takes(xxhash.Sum64String(name))
		}
	}
	if len(r.ID) > 0 {
		return f.takes(xxhash.Sum64(r.ID))
	}
	var number [20]byte
	return f.takes(xxhash.Sum64(strconv.AppendInt(number[:0], f.read, 10)))
}

func (f *shardFilter) takes(hash uint64) bool { return int(hash%uint64(f.count)) == f.index-1 }

// ownFlags are those that shards of one run may have each of its own.
var ownFlags = []string{"shard", "start-at", "report", "record", "save", "quiet", "live"}

// sharded returns what the report says of the shard, nil if all was sent from
// here.
func (p *params) sharded(cmd *cobra.Command, records *records) *report.Shard {
	if p.shard == nil {
		return nil
	}
	return &report.Shard{
		Index: p.shard.index, Count: p.shard.count, Recording: records.fingerprint(), Command: commandLine(cmd, nil, ownFlags...),
	}
}

// fingerprint returns what the recordings of shards of one run have in common,
// wherever each machine keeps them: the names of the files and their sizes.
func (r *records) fingerprint() string {
	if r.url != nil {
		return withoutCredentials(r.url.String())
	}
	var files []string
	for _, file := range r.files {
		files = append(files, fmt.Sprintf("%s %d", filepath.Base(file.Name), file.Size))
	}
	slices.Sort(files)
	return fmt.Sprintf("%016x", xxhash.Sum64String(strings.Join(files, "\n")))
}
