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

	"github.com/caddyserver/caddy/v2"

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
	flags.SortFlags = false
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

// value is a flag whose text has a parser.
type value[T any] struct {
	to    func(T)
	parse func(string) (T, error)
	kind  string
	text  string
	texts []string // all that were given
	limit bool     // it may be given once only
}

// single is a flag that is given once.
func single[T any](to *T, kind string, parse func(string) (T, error)) *value[T] {
	return &value[T]{to: func(v T) { *to = v }, parse: parse, kind: kind}
}

// several is a flag that may be repeated.
func several[T any](to *[]T, kind string, parse func(string) (T, error)) *value[T] {
	return &value[T]{to: func(v T) { *to = append(*to, v) }, parse: parse, kind: kind}
}

// lists is a flag of several values that may be repeated.
func lists[T any](to *[]T, kind string, parse func(string) ([]T, error)) *value[[]T] {
	return &value[[]T]{to: func(v []T) { *to = append(*to, v...) }, kind: kind, parse: parse}
}

// words is a flag of words between commas that may be repeated.
func words[T any](to *[]T, kind string, parse func(string) (T, error)) *value[[]T] {
	return lists(to, kind, func(text string) ([]T, error) {
		var all []T
		for word := range strings.SplitSeq(text, ",") {
			v, err := parse(strings.TrimSpace(word))
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return all, nil
	})
}

// once refuses the flag the second time: the last one doesn't replace the first.
func (v *value[T]) once() *value[T] {
	v.limit = true
	return v
}

// or sets the flag to its default, which the help shows.
func (v *value[T]) or(text string) *value[T] {
	if err := v.Set(text); err != nil {
		panic(err)
	}
	v.texts = nil // which nobody has given
	return v
}

// Set parses the text of the flag.
func (v *value[T]) Set(text string) error {
	if v.limit && v.text != "" {
		return fmt.Errorf("it is given twice: expected one of '%s' and '%s'", v.text, text)
	}
	parsed, err := v.parse(text)
	if err != nil {
		return err
	}
	v.to(parsed)
	v.text, v.texts = text, append(v.texts, text)
	return nil
}

// String returns the text of the flag.
func (v *value[T]) String() string { return v.text }

// Given returns the texts of the flag, each time that it was given.
func (v *value[T]) Given() []string { return v.texts }

// Type returns what the flag takes.
func (v *value[T]) Type() string { return v.kind }

func parseText(text string) (string, error) {
	if text == "" {
		return "", fmt.Errorf("expected a text that is not empty")
	}
	return text, nil
}

// parseDuration reads a duration above zero.
func parseDuration(text string) (time.Duration, error) {
	d, err := caddy.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("'%s' is not a duration above 0: expected one like 10s", text)
	}
	return d, nil
}

// parseDelay reads a duration that may be zero; a bare number is milliseconds.
func parseDelay(text string) (time.Duration, error) {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Millisecond, nil
	}
	d, err := caddy.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("'%s' is not a delay: expected a duration like 50ms, or milliseconds", text)
	}
	return d, nil
}

// parseCount reads a number above zero.
func parseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("'%s' is not a number above 0", text)
	}
	return n, nil
}

// parseFew reads a number from 1 up to what one machine can hold of anything.
func parseFew(text string) (int, error) {
	n, err := parseCount(text)
	if err != nil || n > math.MaxUint16 {
		return 0, fmt.Errorf("'%s' is not a number from 1 to %d", text, math.MaxUint16)
	}
	return int(n), nil
}

func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("'%s' is not a time: expected one like 2026-11-30T14:35:00Z", text)
	}
	return at, nil
}
