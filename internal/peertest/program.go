// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package peertest has what a test talks to on loopback: free addresses, bare
// servers, and real programs such as nginx and WireMock. It links no Caddy, so
// that the pure packages and the modules of the stores can use it.
package peertest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long a program may take until it listens.
const patience = time.Minute

// Start runs a program until the test ends, and returns when it listens on all of
// the addresses. The program does not outlive the test, however that ends. What it
// prints is logged if the test has failed.
func Start(t testing.TB, program *exec.Cmd, addrs ...string) {
	t.Helper()
	name := filepath.Base(program.Path)
	var output bytes.Buffer
	program.Stdout, program.Stderr = &output, &output
	program.WaitDelay = 10 * time.Second // what it has started may hold its output open
	killWithParent(program)
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // to the system, this thread is the parent
		err := program.Start()
		started <- err
		if err == nil {
			_ = program.Wait() // which is about the kill
		}
	}()
	if err := <-started; err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	t.Cleanup(func() {
		_ = program.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("%s: %.4000s", name, output.String())
		}
	})
	for _, addr := range addrs {
		awaitListener(t, name, addr, ended)
	}
}

// awaitListener waits until a program listens on an address, and fails the test if
// the program has ended.
func awaitListener(t testing.TB, name, addr string, ended <-chan struct{}) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case <-tick.C:
		case <-ended:
			t.Fatalf("%s has ended and never listened on %s", name, addr)
		case <-deadline:
			t.Fatalf("%s does not listen on %s: %v", name, addr, err)
		}
	}
}

// AwaitListening waits until there are listeners on all of the addresses, of programs
// that the test has started itself.
func AwaitListening(t testing.TB, addrs ...string) {
	t.Helper()
	for _, addr := range addrs {
		awaitListener(t, "what the test has started", addr, nil)
	}
}

// NPM returns the folder of a package of npm, such as wiremock@3.13.2. It is
// installed once for all tests, into the user's cache.
func NPM(t testing.TB, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cache = filepath.Join(cache, "rehearsal")
	folder := filepath.Join(cache, strings.ReplaceAll(name, "@", "-"))
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		t.Fatal(err)
	}
	unfinished, err := os.MkdirTemp(cache, "installing")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(unfinished)
	out, err := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--prefix", unfinished, name).CombinedOutput()
	if err != nil {
		t.Fatalf("installing %s: %v\n%s", name, err, out)
	}
	if err := os.Rename(unfinished, folder); err != nil {
		if _, missing := os.Stat(folder); missing != nil { // nobody else has installed it meanwhile
			t.Fatal(err)
		}
	}
	return folder
}

// Nginx runs nginx in the foreground until the test ends, with a configuration
// whose block of http gets folders to which any user may write. It returns when
// that listens at an address.
func Nginx(t testing.TB, config, addr string) {
	t.Helper()
	dir := t.TempDir()
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary.WriteString("\n" + kind + "_temp_path " + filepath.Join(dir, kind) + ";")
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(strings.Replace(config, "http {", "http {"+temporary.String(), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	Start(t, exec.Command("nginx", "-p", dir, "-c", file, "-e", "stderr", "-g", "daemon off; master_process off; error_log stderr; pid "+filepath.Join(dir, "pid")+";"), addr)
}

// wireMockPackage is WireMock as npm has it. Answers that are held in testdata are
// of this version.
const wireMockPackage = "wiremock@3.13.2"

// WireMockJar returns the path of WireMock's standalone jar, which needs npm to be
// installed.
func WireMockJar(t testing.TB) string {
	t.Helper()
	jars, err := filepath.Glob(filepath.Join(NPM(t, wireMockPackage), "node_modules/wiremock/build/wiremock-standalone-*.jar"))
	if err != nil || len(jars) != 1 {
		t.Fatalf("%d jars in %s, error %v: expected 1", len(jars), wireMockPackage, err)
	}
	return jars[0]
}

// WireMock runs WireMock with a folder as its root until the test ends, and
// returns its address. It needs java.
func WireMock(t testing.TB, root string, args ...string) string {
	t.Helper()
	addr := Addr(t)
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{
		"-Xmx512m", "-jar", WireMockJar(t),
		"--bind-address", host, "--port", port, "--root-dir", root, "--disable-banner",
	}, args...)
	Start(t, exec.Command("java", args...), addr) //nolint:gosec // the test's own arguments
	return addr
}
