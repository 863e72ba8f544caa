// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
)

// wiremockPackage is WireMock as npm has it: the standalone jar.
const wiremockPackage = "wiremock@3.13.2"

// mappingSet is a set of stub mappings and the two requests that are sent to it.
type mappingSet struct {
	folder, title, script string
}

//go:embed scripts/static.lua
var askStatic string

//go:embed scripts/dynamic.lua
var askDynamic string

// The two sets that Traffic Parrot's makers measured.
var mappingSets = []mappingSet{
	{"static", "22 mappings, two fixed answers", askStatic},
	{"dynamic", "102 mappings, a template and equalToJson with a query", askDynamic},
}

// simulatorBesideWireMock plays the same mapping files with both. Caddy and
// nginx without anything to decide show what is the most on either path.
func simulatorBesideWireMock(l *lab) error {
	jar, err := l.installWireMock()
	if err != nil {
		return err
	}
	counts := []int{100, 1000}
	if l.short {
		counts = counts[:1]
	}
	for _, set := range mappingSets {
		folder, err := filepath.Abs(filepath.Join("examples", "wiremock", set.folder))
		if err != nil {
			return err
		}
		script, err := l.file(set.folder+".lua", set.script)
		if err != nil {
			return err
		}
		wiremock, err := l.startWireMock(jar, folder)
		if err != nil {
			return err
		}
		normal, err := l.startCaddy(set.folder, "simulator {\nmappings "+folder+"\n}")
		if err != nil {
			return err
		}
		express, err := l.startCaddy(set.folder+"-express", "simulator {\nmappings "+folder+"\nexpress\n}")
		if err != nil {
			return err
		}
		respond, err := l.startCaddy(set.folder+"-respond", "respond 200")
		if err != nil {
			return err
		}
		nginx, err := l.startNginx(set.folder+"-nginx", "location / { return 200; }")
		if err != nil {
			return err
		}
		for _, connections := range counts {
			load := wrk{connections: connections, script: script}
			err := l.compare(fmt.Sprintf("%s, %d connections", set.title, connections),
				compiled(l.underWrk("WireMock", load, wiremock, "/")),
				l.underWrk("simulator", load, normal, "/"),
				l.underWrk("simulator, express", load, express, "/"),
				l.underWrk("respond, with neither mapping nor body", load, respond, "/"),
				l.underWrk("nginx, the same", load, nginx, "/"))
			if err != nil {
				return err
			}
		}
		l.stopServers()
	}
	return l.fewAndManyMappings()
}

//go:embed scripts/many.lua
var askMany string

// fewAndManyMappings shows what the number of mappings costs. Half of them have URLs,
// half have templates of paths that all begin alike. WireMock is not beside it: it
// looks at one after the other, which for so many takes it milliseconds.
func (l *lab) fewAndManyMappings() error {
	script, err := l.file("many.lua", askMany)
	if err != nil {
		return err
	}
	var contenders []contender
	for _, option := range []string{"", "express"} {
		for _, n := range []int{20, 10_000} {
			var all strings.Builder
			for i := range n / 2 {
				fmt.Fprintf(&all, `{"request":{"method":"GET","url":"/items/%d?full=1"},"response":{"body":"item %d"}},`+"\n", i, i)
				fmt.Fprintf(&all, `{"request":{"method":"GET","urlPathTemplate":"/{version}/kinds/%d/{id}"},"response":{"body":"kind %d"}},`+"\n", i, i)
			}
			name := fmt.Sprintf("%d-mappings%s", n, option)
			file, err := l.file(name+".json", `{"mappings":[`+strings.TrimSuffix(all.String(), ",\n")+"]}")
			if err != nil {
				return err
			}
			server, err := l.startCaddy(name, "simulator {\nmappings "+file+"\n"+option+"\n}")
			if err != nil {
				return err
			}
			title := fmt.Sprintf("%d mappings", n)
			if option != "" {
				title += ", " + option
			}
			contenders = append(contenders, l.underWrk(title, wrk{connections: 100, script: script}, server, "/"))
		}
	}
	defer l.stopServers()
	return l.compare("few and many mappings, by URL and by template of a path, 100 connections", contenders...)
}

// installWireMock returns the path of the jar.
func (l *lab) installWireMock() (string, error) {
	npm := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", l.dir, wiremockPackage)
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("installing %s: %v\n%s", wiremockPackage, err, out)
	}
	jars, err := filepath.Glob(filepath.Join(l.dir, "node_modules/wiremock/build/wiremock-standalone-*.jar"))
	if err != nil || len(jars) == 0 {
		return "", fmt.Errorf("there is no jar in %s", wiremockPackage)
	}
	return jars[0], nil
}

// startWireMock runs WireMock as its documentation advises for load: without
// the journal of requests, and without logging them. Its heap is as large from
// the begin as it has ever become, and collected in parallel.
func (l *lab) startWireMock(jar, folder string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	return l.start("wiremock", addr, "java", "-Xms2g", "-Xmx2g", "-XX:+UseParallelGC", "-jar", jar, "--bind-address", "127.0.0.1", "--port", port, "--root-dir", folder,
		"--no-request-journal", "--disable-request-logging", "--disable-banner")
}
