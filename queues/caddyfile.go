// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/words"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

func init() { httpcaddyfile.RegisterGlobalOption("queue_simulator", parseGlobal) }

// protocols are the modules by the schemes of their URLs.
var protocols = map[string]string{"amqp": "amqp", "amqps": "amqp", "stomp": "stomp", "stomps": "stomp"}

// parseGlobal reads the global option `queue_simulator`. Syntax:
//
//	queue_simulator {
//	    broker <name> <url> { ... }
//	    service <address> {
//	        name         <name>
//	        broker       <name>
//	        concurrency  <n>
//	        match        property <name> [<operator>] <value>
//	        match        body <operator> <value>
//	        mappings     <file-or-dir>...
//	        body         <text>
//	        body_file    <path>
//	        header       <property> <value>
//	        stage        <at> [<latency>] { ... }
//	        loop         [<period>]
//	        start        <RFC 3339 time>
//	        seed         <n>
//	        reply_to     <address>
//	        body_type    preserve|text|bytes
//	        correlation  auto|correlation_id|message_id
//	        unmatched    discard|reject|dead_letter <address>
//	        unanswerable discard|reject|dead_letter <address>
//	        grace_period <duration>
//	    }
//	}
//
// Package internal/words has the words of stages and outcomes.
func parseGlobal(d *caddyfile.Dispenser, before any) (any, error) {
	if before != nil {
		return nil, d.Err("queue_simulator already specified")
	}
	d.Next() // consume the name of the option
	if err := words.Flag(d); err != nil {
		return nil, err
	}
	app := &App{BrokersRaw: make(map[string]json.RawMessage)}
	err := words.Options{
		"broker":  app.parseBroker,
		"service": app.parseService,
	}.Block(d, "queue_simulator", "broker", "service")
	if err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: "queue_simulator", Value: caddyconfig.JSON(app, nil)}, nil
}

// parseBroker has the protocol of the URL read the option.
func (a *App) parseBroker(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) != 2 {
		return d.ArgErr()
	}
	name := args[0]
	if a.BrokersRaw[name] != nil {
		return d.Errf("there are two brokers '%s'", name)
	}
	protocol, known := protocols[broker.SchemeOf(args[1])]
	if !known {
		return d.Errf("parsing broker: expected a URL that begins with amqp://, amqps://, stomp:// or stomps://")
	}
	module, err := caddy.GetModule(broker.Namespace + "." + protocol)
	if err != nil {
		return d.WrapErr(err)
	}
	value := module.New()
	reader, ok := value.(interface {
		UnmarshalBroker(url string, d *caddyfile.Dispenser) error
	})
	if !ok {
		return d.Errf("parsing broker: %s cannot be configured in a Caddyfile", module.ID)
	}
	if err := reader.UnmarshalBroker(args[1], d); err != nil {
		return err
	}
	a.BrokersRaw[name] = caddyconfig.JSONModuleObject(value, "protocol", protocol, nil)
	return nil
}

func (a *App) parseService(d *caddyfile.Dispenser) error {
	s := new(Service)
	if !d.AllArgs(&s.Address) {
		return d.ArgErr()
	}
	err := words.Options{
		"name":         words.Value(&s.Name, words.Plain),
		"broker":       words.Value(&s.Broker, words.Plain),
		"concurrency":  words.Value(&s.Concurrency, words.Positive(parseCount)),
		"match":        s.parseMatch,
		"mappings":     words.Files(&s.MappingFiles),
		"body":         words.Optional(&s.Body, words.Plain),
		"body_file":    words.File(&s.BodyFile),
		"header":       words.AddField(s.Headers.Add),
		"stage":        words.MessageStage(&s.Stages),
		"loop":         s.parseLoop,
		"start":        words.Optional(&s.Start, recipe.ParseStart),
		"seed":         words.Optional(&s.Seed, recipe.ParseSeed),
		"reply_to":     words.Value(&s.ReplyTo, words.Plain),
		"body_type":    words.Value(&s.BodyType, parseBodyType),
		"correlation":  words.Value(&s.Correlation, parseCorrelation),
		"unmatched":    parseDisposal(&s.Unmatched),
		"unanswerable": parseDisposal(&s.Unanswerable),
		"grace_period": words.Value(&s.GracePeriod, words.Positive(words.ParseDuration)),
	}.Block(d, "service", "match", "mappings", "header", "stage")
	if err != nil {
		return err
	}
	checked := *s
	if err := checked.check(); err != nil {
		return d.Errf("parsing service: %v", err)
	}
	a.Services = append(a.Services, s)
	return nil
}

// parseMatch reads what a request has to be like.
func (s *Service) parseMatch(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	var c Condition
	switch {
	case len(args) >= 3 && args[0] == "property":
		c.Property, args = args[1], args[2:]
		if len(args) == 1 && args[0] != "absent" {
			args = []string{"equal_to", args[0]}
		}
	case len(args) >= 2 && args[0] == "body":
		args = args[1:]
	default:
		return d.Errf("parsing match: expected 'property <name> <value>', 'property <name> <operator> <value>' or 'body <operator> <value>'")
	}
	c.Operator = args[0]
	if len(args) > 2 || (len(args) == 1) != (c.Operator == "absent") {
		return d.Errf("parsing match: expected an operator and a value, or absent")
	}
	if len(args) == 2 {
		c.Value = args[1]
	}
	if _, err := c.compile(); err != nil {
		return d.Errf("parsing match: %v", err)
	}
	s.Match = append(s.Match, c)
	return nil
}

func (s *Service) parseLoop(d *caddyfile.Dispenser) (err error) {
	s.Loop = new(recipe.Loop)
	if d.CountRemainingArgs() > 0 {
		s.Loop.Period, err = words.Arg(d, recipe.ParsePeriod)
	}
	return err
}

func parseDisposal(to **Disposal) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		option, args := d.Val(), d.RemainingArgs()
		if len(args) < 1 || len(args) > 2 {
			return d.ArgErr()
		}
		*to = &Disposal{How: args[0]}
		if len(args) == 2 {
			(*to).Address = args[1]
		}
		if err := (*to).check(); err != nil {
			return d.Errf("parsing %s: %v", option, err)
		}
		return nil
	}
}

func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("'%s' is not a whole number", text)
	}
	return n, nil
}
