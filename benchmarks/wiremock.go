// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
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
	return nil
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
