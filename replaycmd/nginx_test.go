// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package replaycmd

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// runNginx starts nginx with a server, and waits until that is at its address.
func runNginx(t *testing.T, addr, server string) {
	t.Helper()
	peertest.Nginx(t, "worker_rlimit_nofile 4096;\nevents {\nworker_connections 1024;\n}\nhttp {\naccess_log off;\n"+server+"}\n", addr)
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
