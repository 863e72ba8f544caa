// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package replaycmd is the command `caddy replay`: it sends recordings to one
// or more targets, measures and judges.
package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// Exit statuses of the command, 0 aside.
const (
	exitNotStarted  = caddy.ExitCodeFailedStartup // nothing was sent
	exitInterrupted = caddy.ExitCodeForceQuit     // interrupted twice
	exitIncomplete  = 3                           // something was not sent, or got no answer
	exitFailed      = 4                           // a condition does not hold
)

const docs = "Documentation:\nhttps://github.com/caddy-rehearsal/rehearsal/blob/main/docs/replay.md"

// usage is cobra's, with lines that fit into 80 columns.
const usage = `Usage:
  {{.UseLine}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}
`

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "replay",
		Usage: "--to <target>... [flags] <recording|folder|pattern|url|->...",
		Short: "Sends recorded requests again, and measures",
		Long: `
Sends the requests of recordings to one or more targets as they were recorded,
measures how they are answered, and judges.

Recordings are files, folders, patterns, standard input (-) or the URL of an
object store like s3://bucket/prefix, as the blackhole handler or
adobe/blackhole write them, or HAR, GoReplay's files, access logs of Caddy,
nginx and Apache, and lists of vegeta or curl: the form shows in the content.
One that is named like a command below is written ./learn. Their
requests are merged in the order of their times. A URL instead stands for
requests for it, GETs or what --request and --data say, as many as --requests or
as long as --duration say; without --to they go to the URL's own host.

Requests are due at their recorded times, scaled by --speed, or at a --rate that
may change, or with --max as soon as a connection is free. Latency counts from
when a request was due, so that a target which stalls doesn't hide what waits;
service time counts from when it was sent. Requests that find all connections
busy are late, never left out. --find-rate finds the highest rate at which
conditions hold.

A target is http://host:port, https://host:port, host:port, with a path if all
others are to be below it, or a socket as unix//path, with a name for the report
before it if you like: new=10.0.0.7:80.

The report goes to standard output, everything else to standard error. A
condition of --fail is a figure, one of < <= > >= = and a limit:

  ` + strings.ReplaceAll(report.ConditionHelp, "\n", "\n  ") + `

The exit status is 0 when all was answered; 1 if nothing could be started; 2
when interrupted twice (the first Ctrl-C ends the run with its report); 3 if
something was not sent or not answered, there was nothing to send, part of a
recording could not be read, or no record has an --id; 4 if a condition of
--fail does not hold, or no rate holds those of --find-rate.

` + docs,
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Example = `  caddy replay --to http://localhost:8080 recordings/
  caddy replay --to old=10.0.0.6 --to new=10.0.0.7 --rate 500/s \
    --fail 'p99<250ms' --fail 'errors<0.1%' recordings/
  caddy replay http://localhost:8080/ -n 10000 -c 20
  caddy replay http://localhost:8080/orders -n 10 --data '{"sku":"cup"}'
  caddy replay --dry-run recordings/
  caddy replay show recordings/
  caddy replay convert -o requests.har recordings/
  caddy replay links recordings/`
			complete(cmd, new(params))
			cmd.AddCommand(reportCommand(), showCommand(), learnCommand(), convertCommand(), linksCommand())
		},
	})
}

// runner is what the flags of a command are read into, and what runs then.
type runner interface {
	define(flags *pflag.FlagSet)
	run(cmd *cobra.Command, args []string) (exitStatus int, err error)
}

// complete returns a command that has its texts with its flags and what they do.
// Its help fits into 80 columns, and an error of a flag says what might have been
// meant.
func complete(cmd *cobra.Command, r runner) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = exiting(r.run)
	cmd.Flags().SortFlags = false
	r.define(cmd.Flags())
	cmd.SetUsageTemplate(usage)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		unknown, ok := errors.AsType[*pflag.NotExistError](err)
		if !ok || len(unknown.GetSpecifiedShortnames()) > 0 {
			return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
		}
		if near := nearest(cmd.Flags(), unknown.GetSpecifiedName()); near != "" {
			return fmt.Errorf("%w: did you mean --%s? (see %s --help)", err, near, cmd.CommandPath())
		}
		return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
	})
	return cmd
}

// begin returns a context that an interrupt ends, and what a command notes on
// standard error.
func begin(cmd *cobra.Command) (ctx context.Context, stop func(), n *notes) {
	ctx, stop = untilInterrupted(cmd.Context(), cmd.ErrOrStderr())
	return ctx, stop, &notes{w: report.Escaping(cmd.ErrOrStderr())}
}

// exiting makes a cobra function of one that returns an exit status. An error
// is one line on standard error.
func exiting(run func(cmd *cobra.Command, args []string) (int, error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		status, err := run(cmd, args)
		if err != nil {
			printError(cmd.ErrOrStderr(), err)
			cmd.SilenceErrors = true
		}
		if status == caddy.ExitCodeSuccess {
			return nil
		}
		if status == exitNotStarted {
			return err
		}
		cmd.SilenceErrors = true
		return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return status, nil })(cmd, args)
	}
}

// printError prints an error, some of whose words may come from a recording, a
// certificate or a server.
func printError(w io.Writer, err error) { fmt.Fprintln(report.Escaping(w), "Error:", err) }

// nearest returns the flag whose name is written almost like this one, or is the
// beginning of it, or begins with it. It is empty if there is none.
func nearest(flags *pflag.FlagSet, name string) (near string) {
	best := 3 // edits are too many
	flags.VisitAll(func(f *pflag.Flag) {
		distance := edits(f.Name, name)
		if strings.HasPrefix(f.Name, name) || strings.HasPrefix(name, f.Name) {
			distance = min(distance, 2)
		}
		if distance < best {
			best, near = distance, f.Name
		}
	})
	return near
}

// edits returns how many letters to insert, drop or replace make b of a.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
