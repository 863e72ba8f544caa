// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// provenance returns in words what is run, where and with what.
func (p *params) provenance(cmd *cobra.Command, args []string, records *records) report.Run {
	run := report.Run{Command: commandLine(cmd, args), Version: version(), Machine: machine()}
	if records.url != nil {
		run.Sent = []string{withoutCredentials(records.url.String())}
		return run
	}
	for _, arg := range args {
		run.Sent = append(run.Sent, withoutCredentials(arg))
	}
	return run
}

// secret are the flags whose values reports do not show, of --header all behind
// the name of the field.
var secret = map[string]func(string) string{
	"header": func(text string) string {
		name, _, _ := strings.Cut(text, ":")
		return name + ": " + hidden
	},
	"data":          withoutText,
	"data-template": withoutText,
}

// withoutText hides a body, and not the name of its file.
func withoutText(text string) string {
	if strings.HasPrefix(text, "@") {
		return text
	}
	return hidden
}

const hidden = "…"

// commandLine returns a command as a shell takes it, without what is secret and
// without some flags.
func commandLine(cmd *cobra.Command, args []string, without ...string) string {
	words := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(without, f.Name) {
			return
		}
		for _, text := range given(f) {
			if hide := secret[f.Name]; hide != nil {
				text = hide(text)
			}
			switch {
			case f.NoOptDefVal == "":
				words = append(words, "--"+f.Name, quote(withoutCredentials(text)))
			case text == f.NoOptDefVal:
				words = append(words, "--"+f.Name)
			default:
				words = append(words, "--"+f.Name+"="+quote(text))
			}
		}
	})
	for _, arg := range args {
		words = append(words, quote(withoutCredentials(arg)))
	}
	return strings.Join(words, " ")
}

// given returns the texts of a flag, each time that it was given.
func given(f *pflag.Flag) []string {
	switch v := f.Value.(type) {
	case interface{ Given() []string }:
		return v.Given()
	case pflag.SliceValue:
		return v.GetSlice()
	}
	return []string{f.Value.String()}
}

var (
	plainWord   = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)
	credentials = regexp.MustCompile(`://[^/?#\s]*@`)
)

// quote returns a word as a POSIX shell takes it.
func quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func withoutCredentials(text string) string {
	return credentials.ReplaceAllString(text, "://"+hidden+"@")
}

// modulePath is that of this module in what a binary knows of its build.
const modulePath = "github.com/caddy-rehearsal/rehearsal"

// version returns those of this module, of Caddy and of Go.
func version() string {
	ours := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Path == modulePath {
			ours = cmp.Or(info.Main.Version, ours)
		}
		for _, dependency := range info.Deps {
			if dependency.Path == modulePath {
				ours = dependency.Version
			}
		}
	}
	simple, _ := caddy.Version()
	return fmt.Sprintf("Rehearsal %s, Caddy %s, %s", ours, simple, runtime.Version())
}

func machine() string {
	processors := fmt.Sprintf("%d processors", runtime.NumCPU())
	if runtime.NumCPU() == 1 {
		processors = "1 processor"
	}
	host, err := os.Hostname()
	if err != nil {
		host = "a machine without a name"
	}
	return fmt.Sprintf("%s, %s/%s, %s", host, runtime.GOOS, runtime.GOARCH, processors)
}
