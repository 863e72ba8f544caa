// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// requesting is what requests are made of: those for a URL, and the targets of all.
type requesting struct {
	request  string
	data     []string
	template string
	table    string
	seed     uint64
	rewrites []send.Substitution
}

func (r *requesting) define(flags *pflag.FlagSet) {
	flags.VarP(single(&r.request, "METHOD", parseMethod), "request", "X", "Method of the requests for a URL (default GET, with a body POST)")
	flags.Var(several(&r.data, "TEXT|@FILE", parseBody), "data", "Body of the requests for a URL; repeat it for bodies in turn")
	flags.Var(single(&r.template, "TEXT|@FILE", parseText), "data-template", "Body as a Go template: {{.n}} counts, {{random 1 9}}, {{pick \"a\" \"b\"}}, columns of --data-csv")
	flags.Var(single(&r.table, "FILE", parseText), "data-csv", "CSV with the names of columns in its first line, whose rows --data-template takes in turn")
	flags.Var(single(&r.seed, "N", parseSeed).or("1"), "seed", "Where the chance of --data-template begins")
	flags.Var(several(&r.rewrites, "s/REGEXP/REPLACEMENT/", send.ParseSubstitution), "rewrite", "Change the target of every request, as sed does (repeatable)")
}

func parseMethod(text string) (string, error) {
	if !http1.IsToken(text) {
		return "", fmt.Errorf("'%s' is not a method", text)
	}
	return text, nil
}

func parseBody(text string) (string, error) { return text, nil }

func parseSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("'%s' is not a number from 0 on", text)
	}
	return seed, nil
}

// maxBodyFile is the most bytes of a file whose content is a body.
const maxBodyFile = 256 << 20

// use makes the requests for a URL what the flags say.
func (r *requesting) use(u *source.URL) error {
	bodies, err := r.bodies()
	if err != nil {
		return err
	}
	u.Use(r.request, bodies)
	return nil
}

// bodies returns the bodies that the flags ask for, nil for none.
func (r *requesting) bodies() (source.Bodies, error) {
	if r.template != "" {
		text, err := textOrFile(r.template)
		if err != nil {
			return nil, fmt.Errorf("--data-template: %v", err)
		}
		var table io.Reader
		if r.table != "" {
			file, err := os.Open(r.table)
			if err != nil {
				return nil, fmt.Errorf("--data-csv: %v", err)
			}
			defer file.Close()
			table = file
		}
		template, err := source.NewTemplate(string(text), table, r.seed)
		switch _, ofTable := errors.AsType[*source.TableError](err); {
		case ofTable:
			return nil, fmt.Errorf("--data-csv: %s: %v", r.table, err)
		case err != nil:
			return nil, fmt.Errorf("--data-template: %v", err)
		}
		return template, nil
	}
	if len(r.data) == 0 {
		return nil, nil
	}
	texts := make([][]byte, len(r.data))
	for i, data := range r.data {
		text, err := textOrFile(data)
		if err != nil {
			return nil, fmt.Errorf("--data: %v", err)
		}
		texts[i] = text
	}
	return source.NewTexts(texts), nil
}

// textOrFile returns a text, or the content of the file behind its @.
func textOrFile(text string) ([]byte, error) {
	name, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return []byte(text), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxBodyFile+1))
	if err == nil && len(data) > maxBodyFile {
		err = fmt.Errorf("%s is longer than %d MiB", name, maxBodyFile>>20)
	}
	return data, err
}

// checkRequest refuses flags that have nothing to be about.
func (p *params) checkRequest(url bool) error {
	given := p.given("request", "data", "data-template", "data-csv")
	switch {
	case !url && len(given) > 0:
		return fmt.Errorf("%s is about the requests for a URL: recordings have their own (--method chooses among them)", given[0])
	case len(p.data) > 0 && p.template != "":
		return errors.New("--data and --data-template exclude one another")
	case p.table != "" && p.template == "":
		return errors.New("--data-csv is for --data-template: expected both")
	}
	return nil
}
