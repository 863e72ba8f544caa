// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// Caddy's own HTTP/3 gets requests with their bodies, several at once.
func TestHTTP3ToCaddy(t *testing.T) {
	addr := caddytest.Addr(t)
	caddytest.Run(t, "{\n\tskip_install_trust\n}\nhttps://"+addr+" {\n\ttls internal\n\trespond \"{http.request.proto} {http.request.method}\"\n}\n")
	caddytest.AwaitTLS(t, addr)
	dir := t.TempDir()
	o := replay(t, "--http3", "--insecure", "-n", "20", "-c", "2", "--streams", "5", "--data", "a=1", "--record", dir, "--report", "json", "https://"+addr+"/")
	if o.status != 0 || !strings.Contains(o.stdout, `"200": 20`) && !strings.Contains(o.stdout, `"200":20`) {
		t.Fatalf("status %d, %s%s", o.status, o.stdout, o.stderr)
	}
	folders, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, r := range read(t, folders...) {
		if string(r.Response.Body) != "HTTP/3.0 POST" {
			t.Fatalf("got %s", r.Response.Body)
		}
	}
	if o := replay(t, "--http3", "-n", "1", "https://"+addr+"/"); o.status != exitIncomplete || !strings.Contains(o.stdout, "tls") {
		t.Errorf("a certificate that nobody trusts: status %d, %s%s", o.status, o.stdout, o.stderr)
	}
}

// A hundred requests are under way on one connection of HTTP/2 at the same time.
func TestHundredStreamsOnOneConnection(t *testing.T) {
	hs := httptest.NewUnstartedServer(assembly(100))
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	hs.Config.Protocols = &protocols
	hs.Start()
	t.Cleanup(hs.Close)
	overOneConnection(t, hs.URL)
}

// assembly is a handler that answers once so many requests are there.
func assembly(n int) http.HandlerFunc {
	var mu sync.Mutex
	here, all := 0, make(chan struct{})
	return func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		here++
		if here == n {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
		case <-r.Context().Done():
		}
	}
}

// overOneConnection sends a hundred requests at once, over one connection.
func overOneConnection(t *testing.T, url string) {
	t.Helper()
	o := replay(t, "--http2", "-c", "1", "--streams", "100", "-n", "100", "--fail", "2xx=100", "--report", "json", url)
	if o.status != 0 || !strings.Contains(strings.ReplaceAll(o.stdout, " ", ""), `"connections_opened":1,`) {
		t.Errorf("status %d, %s%s", o.status, o.stdout, o.stderr)
	}
}

// A unary call of gRPC is replayed, and its status is a class.
func TestGRPC(t *testing.T) { callHealth(t, "http://"+grpcServer(t)) }

// grpcServer starts a server of gRPC that is healthy, and returns its address.
func grpcServer(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go server.Serve(listener) //nolint:errcheck // Stop ends it
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

// callHealth asks a server of gRPC whether it is healthy, and for a service that
// there is not.
func callHealth(t *testing.T, url string) {
	t.Helper()
	dir := t.TempDir()
	// a frame: not compressed, length, and a message: of all services, or of one that there is not
	for name, frame := range map[string]string{"all": "\x00\x00\x00\x00\x00", "none": "\x00\x00\x00\x00\x03\x0a\x01x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(frame), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := replay(t, "--http2", "-c", "1", "--streams", "4", "-n", "6", "--by", "status", "--record", filepath.Join(dir, "answers"),
		"--header", "Content-Type: application/grpc", "--header", "TE: trailers",
		"--data", "@"+filepath.Join(dir, "all"), "--data", "@"+filepath.Join(dir, "none"), url+"/grpc.health.v1.Health/Check")
	if o.status != 0 || !strings.Contains(o.stdout, "grpc 0") || !strings.Contains(o.stdout, "grpc 5") {
		t.Fatalf("status %d, %s%s", o.status, o.stdout, o.stderr)
	}
	folders, _ := filepath.Glob(filepath.Join(dir, "answers", "*"))
	served := 0
	for _, r := range read(t, folders...) {
		if strings.Contains(string(r.Response.Trailers), "Grpc-Status: 0\r\n") && string(r.Response.Body) == "\x00\x00\x00\x00\x02\x08\x01" {
			served++
		}
	}
	if served != 3 {
		t.Errorf("%d of 3 answers have their trailers", served)
	}
}

func TestVersionsThatCannotBe(t *testing.T) {
	for says, args := range map[string][]string{
		"exclude one another":         {"--http2", "--http3", "https://localhost:1"},
		"expected --http2 or --http3": {"--streams", "2", "https://localhost:1"},
		"expected one of them":        {"--http2", "--streams", "2", "--no-keepalive", "https://localhost:1"},
		"needs targets of https":      {"--http3", "http://localhost:1"},
		"needs targets of https, and": {"--http3", "--to", "localhost:1", "https://localhost:1"},
		"is not a number from 1":      {"--http2", "--streams", "0", "https://localhost:1"},
	} {
		if o := replay(t, append(args, "-n", "1")...); o.status != exitNotStarted || !strings.Contains(o.stderr, says) {
			t.Errorf("%v: status %d, %s", args, o.status, o.stderr)
		}
	}
}
