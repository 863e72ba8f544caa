// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package replaycmd

import (
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// runNginx starts nginx with a server, and waits until that is at its address.
func runNginx(t *testing.T, addr, server string) {
	t.Helper()
	dir := t.TempDir()
	var config strings.Builder
	config.WriteString("worker_rlimit_nofile 4096;\nevents {\nworker_connections 1024;\n}\nhttp {\naccess_log off;\n")
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} { // where any user may write
		config.WriteString(kind + "_temp_path " + filepath.Join(dir, kind) + ";\n")
	}
	config.WriteString(server + "}\n")
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	nginx := exec.Command("nginx", "-p", dir, "-c", file, "-e", "stderr", "-g", "daemon off; master_process off; error_log stderr; pid "+filepath.Join(dir, "pid")+";")
	nginx.Stderr = &output
	if err := nginx.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = nginx.Process.Kill()
		_ = nginx.Wait() // says that it was killed
		if t.Failed() {
			t.Logf("nginx: %s", output.String())
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nginx does not start: %v", err)
		}
	}
}

// A call of gRPC keeps its trailers through nginx.
func TestGRPCThroughNginx(t *testing.T) {
	addr := caddytest.Addr(t)
	runNginx(t, addr, "server {\nlisten "+addr+" http2;\nlocation / {\ngrpc_pass grpc://"+grpcServer(t)+";\n}\n}\n")
	callHealth(t, "http://"+addr)
}

// A hundred requests are at a service behind nginx at once, over one connection.
func TestHundredStreamsThroughNginx(t *testing.T) {
	service := httptest.NewServer(assembly(100))
	t.Cleanup(service.Close)
	addr := caddytest.Addr(t)
	runNginx(t, addr, "server {\nlisten "+addr+" http2;\nlocation / {\nproxy_pass "+service.URL+";\n}\n}\n")
	overOneConnection(t, "http://"+addr)
}

// An nginx that asks for certificates gets one, and what is posted below a base
// path reaches the service behind it.
func TestPostsBelowABasePathWithACertificateToNginx(t *testing.T) {
	e, certificate := newEcho(t), newCertificate(t)
	addr := caddytest.Addr(t)
	runNginx(t, addr, "server {\nlisten "+addr+" ssl http2;\nssl_certificate "+certificate.cert+";\nssl_certificate_key "+certificate.key+";\n"+
		"ssl_client_certificate "+certificate.cert+";\nssl_verify_client on;\nlocation /base/ {\nproxy_pass "+e.URL+"/;\n}\n}\n")
	for _, version := range [][]string{nil, {"--http2"}} {
		postBelowBase(t, e, "https://"+addr, certificate, version...)
	}
	o := replay(t, "-n", "1", "--cacert", certificate.cert, "--fail", "4xx=0", "https://"+addr+"/base/")
	if o.status != exitFailed || !strings.Contains(o.stdout, "4xx=0 is 1") {
		t.Errorf("without a certificate: status %d, %s%s", o.status, o.stdout, o.stderr)
	}
}
