// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package brokertest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// ActiveMQ is a real ActiveMQ, in memory.
type ActiveMQ struct {
	// OpenWire and Stomp are where it listens.
	OpenWire, Stomp string
}

// classPath has the libraries of ActiveMQ as Debian packages them.
func classPath() string {
	jars := []string{
		"activemq-broker", "activemq-client", "activemq-stomp", "activemq-openwire-legacy", "activemq-jaas",
		"geronimo-jms_1.1_spec", "geronimo-j2ee-management-1.1-spec", "hawtbuf", "slf4j-api", "slf4j-nop",
	}
	for i, name := range jars {
		jars[i] = filepath.Join("/usr/share/java", name+".jar")
	}
	return strings.Join(jars, ":")
}

// Java returns a program of testdata, with ActiveMQ's libraries.
func Java(t testing.TB, source string, args ...string) *exec.Cmd {
	return exec.CommandContext(t.Context(), "java", append([]string{"-cp", classPath(), source}, args...)...) //nolint:gosec // programs of the tests
}

// RunActiveMQ starts it with testdata/Broker.java of the test's package. It ends with
// the test.
func RunActiveMQ(t testing.TB) *ActiveMQ {
	t.Helper()
	b := &ActiveMQ{OpenWire: caddytest.Addr(t), Stomp: caddytest.Addr(t)}
	cmd := Java(t, "testdata/Broker.java", b.OpenWire, b.Stomp)
	input, err := cmd.StdinPipe() // it ends when that is closed
	if err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // which is about the kill
		if t.Failed() {
			t.Logf("ActiveMQ: %.4000s", output.String())
		}
	})
	AwaitListening(t, b.OpenWire, b.Stomp)
	return b
}
