// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/follow"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// params is what the flags say.
type params struct {
	selection
	shard *shard // nil: all is sent from here
	comparing
	timing
	conversing
	requesting
	connecting
	pacing
	seeking
	flags *pflag.FlagSet

	targets []send.Target

	connections int
	duration    time.Duration
	loop        bool

	host         string
	set          []send.Field
	remove       []string
	timeout      time.Duration
	insecure     bool
	http2        bool
	noKeepAlive  bool
	redirects    int
	stopAtErrors bool

	by         report.By
	reports    []output
	conditions []report.Condition
	baseline   *report.Report
	quiet      bool
	live       bool
	record     string // the folder of what is recorded

	dryRun    bool
	test      bool
	extract   string
	extractIn bool   // adobe's -f
	outputDir string // and its -o
}

// selection is which records are meant.
type selection struct {
	requests int64
	methods  []string
	paths    []source.Glob
	ids      []string
	since    source.Moment
	until    source.Moment
	percent  *units.Percent
	assign   func() follow.Sessions // to sessions, of which percent is a share; nil: of records
}

func (p *params) define(flags *pflag.FlagSet) {
	p.flags = flags
	flags.Var(several(&p.targets, "[NAME=]URL", send.ParseTarget), "to", "Target; repeat it to compare targets, which then all get the same requests")
	flags.VarP(several(&p.targets, "HOST:PORT", parseTargetNotField), "target-host-port", "H", "The same as --to")

	p.requesting.define(flags)

	p.pacing.define(flags)
	p.seeking.define(flags)
	flags.VarP(single(&p.connections, "N", parseFew).or("50"), "connections", "c", "Most connections to each target")
	flags.VarP(single(&p.connections, "N", parseFew), "threads", "t", "The same as --connections")
	flags.Var(single(&p.duration, "DURATION", parseDuration), "duration", "Start requests for no longer than this")
	flags.BoolVar(&p.loop, "loop", false, "Start over at the end of the recording, until --requests or --duration or Ctrl-C")

	flags.Var(single(&p.host, "preserve|target|VALUE", parseText).or(hostPreserve), "host", "Host field: as recorded, the target's, or this value")
	flags.Var(several(&p.set, "'NAME: VALUE'", send.ParseField), "header", "Set this header field in every request (repeatable)")
	flags.Var(several(&p.remove, "NAME", parseFieldName), "remove-header", "Leave this header field out of every request (repeatable)")

	p.selection.define(flags)
	flags.Var(single(&p.percent, "P", parsePercent), "percent", "Send this share of the records, always the same ones; with --links, of the sessions")

	flags.Var(single(&p.shard, "I/N|auto", parseShard), "shard", "Send only this part, like 2/4, of what this command sends on N machines; auto: as Kubernetes' indexed jobs have it")

	flags.Var(single(&p.timeout, "DURATION", parseDuration).or("10s"), "timeout", "Time limit of each request, connecting and the whole answer included")
	flags.BoolVar(&p.insecure, "insecure", false, "Accept any TLS certificate")
	p.connecting.define(flags)
	flags.BoolVar(&p.http2, "http2", false, "Speak HTTP/2; without TLS by prior knowledge (h2c)")
	flags.BoolVar(&p.noKeepAlive, "no-keepalive", false, "Open a new connection for each request")
	flags.Var(single(&p.redirects, "N", parseRedirects), "redirects", "Follow up to this many redirects of a request (default 0: a redirect is an answer)")

	p.comparing.define(flags)
	p.timing.define(flags)
	p.conversing.define(flags)

	flags.Var(single(&p.by, "path|method|status", report.ParseBy).once(), "by", "Report classes of requests as well")
	defineReports(flags, report.FormNames(true), &p.reports, &p.conditions, &p.baseline)
	flags.BoolVarP(&p.stopAtErrors, "exit-on-error", "x", false, "Stop at the first request without an answer")
	flags.BoolVar(&p.live, "live", false, "Draw running percentiles, rate and errors on the terminal, in place of the progress bar; a line every 10 s where that is none")
	flags.BoolVarP(&p.quiet, "quiet", "q", false, "Print only errors, and the reports that --report asks for")

	flags.Var(single(&p.record, "FOLDER", parseText), "record", "Record what each target answers, in a folder of its own in this one")

	flags.BoolVar(&p.dryRun, "dry-run", false, "Send nothing: say what would be sent, and for how long")
	flags.BoolVar(&p.test, "test", false, "Send nothing: check that the recordings are whole")
	flags.Var(single(&p.extract, "FOLDER", parseText), "extract", "Send nothing: write each request to a file of its own in this folder")
	flags.BoolVarP(&p.extractIn, "extract-to-file", "f", false, "The same as --extract with the folder of --output-directory")
	flags.VarP(single(&p.outputDir, "FOLDER", parseText).or("."), "output-directory", "o", "Folder for --extract-to-file")
}

// define adds the flags that choose among the records.
func (s *selection) define(flags *pflag.FlagSet) {
	flags.VarP(single(&s.requests, "N", parseCount), "requests", "n", "Take this many requests and no more")
	flags.VarP(single(&s.requests, "N", parseCount), "reqs", "r", "The same as --requests")
	flags.Var(words(&s.methods, "METHOD", parseText), "method", "Only requests with this method (repeatable)")
	flags.Var(several(&s.paths, "GLOB", parseGlob), "path", "Only requests whose path matches, like '/api/*' (repeatable)")
	flags.VarP(words(&s.ids, "ID", parseText), "id", "i", "Only the request with this identifier (repeatable)")
	flags.Var(single(&s.since, "TIME", source.ParseMoment), "since", "Only from this time on: RFC 3339, or a duration since the first record")
	flags.Var(single(&s.until, "TIME", source.ParseMoment), "until", "Only before this time")
}

const (
	hostPreserve = "preserve"
	hostTarget   = "target"
)

// parseTargetNotField reads a target for -H, which is another tool's flag for a
// header field.
func parseTargetNotField(text string) (send.Target, error) {
	target, err := send.ParseTarget(text)
	if _, errField := send.ParseField(text); err != nil && errField == nil && strings.Contains(text, ": ") {
		return target, fmt.Errorf("'%s' is a header field, and -H a target: expected --header '%[1]s'", text)
	}
	return target, err
}

func parsePercent(text string) (*units.Percent, error) {
	percent, err := units.ParsePercent(text)
	return &percent, err
}

func parseGlob(text string) (source.Glob, error) { return source.Glob(text), nil }

func parseFieldName(text string) (string, error) { return text, send.CheckName(text) }

func parseRedirects(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("'%s' is not a number from 0 to %d", text, math.MaxUint16)
	}
	return int(n), nil
}
