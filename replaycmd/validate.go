// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// validate checks what the flags say together.
func (p *params) validate(args []string) error {
	if len(args) == 0 {
		return errors.New("nothing to send: expected a recording, a folder, a pattern, a URL or -")
	}
	for _, check := range []func() error{
		p.checkPace, p.checkSeeking, p.checkDuplicates, p.checkTargets, p.checkReports, p.checkHost,
		func() error { return p.checkSources(args) },
		func() error { return p.checkRequest(source.IsURL(args[0])) },
		func() error { return p.checkVersion(source.IsURL(args[0]), args[0]) },
		func() error { return p.checkComparison(args) },
		func() error { return p.checkTiming(args) },
		func() error { return p.checkConversing(args) },
		p.checkShard,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// only reports whether something else than sending is asked for.
func (p *params) only() bool { return p.dryRun || p.test || p.extract != "" }

func (p *params) checkDuplicates() error {
	for _, same := range [][2]string{{"connections", "threads"}, {"requests", "reqs"}} {
		if given := p.given(same[0], same[1]); len(given) > 1 {
			return fmt.Errorf("%s mean the same: expected one of them", strings.Join(given, " and "))
		}
	}
	if p.extractIn {
		if p.extract != "" {
			return errors.New("--extract and --extract-to-file mean the same: expected one of them")
		}
		p.extract = p.outputDir
	} else if len(p.given("output-directory")) > 0 {
		return errors.New("--output-directory is for --extract-to-file: expected both, or --extract FOLDER")
	}
	if given := p.given("dry-run", "test", "extract", "extract-to-file"); len(given) > 1 {
		return fmt.Errorf("%s exclude one another", strings.Join(given, " and "))
	} else if p.record != "" && len(given) > 0 {
		return fmt.Errorf("--record records answers, and with %s nothing is sent", given[0])
	}
	return nil
}

func (p *params) checkTargets() error {
	for i, target := range p.targets {
		for _, other := range p.targets[:i] {
			if target.Name == other.Name {
				return fmt.Errorf("parsing --to: two targets are called %s: name them, like a=%s", target.Name, target.URL)
			}
		}
	}
	return nil
}

func (p *params) checkReports() error {
	if p.live && p.quiet {
		return errors.New("--live and --quiet exclude one another")
	}
	return cmp.Or(checkOutputs(p.reports), checkBaseline(p.conditions, p.baseline))
}

// checkConditions refuses conditions for which nothing else is asked for.
func (p *params) checkConditions(about func(report.Condition) bool, what string) error {
	for flag, conditions := range map[string][]report.Condition{"fail": p.conditions, "find-rate": p.findRate} {
		for _, c := range conditions {
			if about(c) {
				return fmt.Errorf("--%s '%s' is about %s", flag, c, what)
			}
		}
	}
	return nil
}

func (p *params) checkHost() error {
	if !httpguts.ValidHostHeader(p.host) {
		return fmt.Errorf("parsing --host: '%s' is not preserve, target or a host", p.host)
	}
	return nil
}

func (p *params) checkSources(args []string) error {
	if !slices.ContainsFunc(args, source.IsURL) {
		if len(p.targets) == 0 && !p.only() {
			return errNoTarget(args)
		}
		return nil
	}
	if len(args) > 1 {
		return errors.New("a URL stands alone: expected one URL, or recordings")
	}
	if p.test || p.extract != "" {
		return errors.New("a URL is no recording: there is nothing to test or extract")
	}
	if given := p.given("speed", "loop", "method", "path", "id", "since", "until", "percent"); len(given) > 0 {
		choose := "choose"
		if len(given) == 1 {
			choose = "chooses"
		}
		return fmt.Errorf("%s %s among recorded requests, of which a URL has none", strings.Join(given, " and "), choose)
	}
	if p.requests == 0 && p.duration == 0 {
		return errors.New("a URL has no end: expected --requests or --duration")
	}
	return nil
}

// given returns which of the flags were given.
func (p *params) given(names ...string) []string {
	var given []string
	for _, name := range names {
		if p.flags.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}

// errNoTarget also helps those who give a URL without its scheme.
func errNoTarget(args []string) error {
	for _, arg := range args {
		_, err := os.Stat(arg)
		if scheme, _, found := strings.Cut(arg, "://"); found && err != nil {
			return fmt.Errorf("'%s' is not a URL that can be replayed: expected http:// or https:// instead of %s://", arg, scheme)
		}
		if err != nil && strings.Contains(arg, ":") {
			return fmt.Errorf("no target: expected --to, like --to http://localhost:8080, or a URL instead of '%[1]s', like http://%[1]s", arg)
		}
	}
	return errors.New("no target: expected --to, like --to http://localhost:8080")
}
