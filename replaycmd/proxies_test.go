// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// withoutTLS has Caddy speak HTTP/2 without TLS.
const withoutTLS = "{\n\tservers {\n\t\tprotocols h1 h2 h2c\n\t}\n}\n"

// A call of gRPC keeps its trailers through Caddy.
func TestGRPCThroughCaddy(t *testing.T) {
	addr := caddytest.Addr(t)
	caddytest.Run(t, withoutTLS+"http://"+addr+" {\n\treverse_proxy h2c://"+grpcServer(t)+"\n}\n")
	callHealth(t, "http://"+addr)
}

// A hundred requests are at a service behind Caddy at once, over one connection.
func TestHundredStreamsThroughCaddy(t *testing.T) {
	service := httptest.NewServer(assembly(100))
	t.Cleanup(service.Close)
	addr := caddytest.Addr(t)
	caddytest.Run(t, withoutTLS+"http://"+addr+" {\n\treverse_proxy "+service.Listener.Addr().String()+"\n}\n")
	overOneConnection(t, "http://"+addr)
}

// A Caddy that asks for certificates gets one, and what is posted below a base
// path reaches the service behind it.
func TestPostsBelowABasePathWithACertificateToCaddy(t *testing.T) {
	e, certificate := newEcho(t), newCertificate(t)
	addr := caddytest.Addr(t)
	origin := "https://localhost:" + port(addr) // Caddy holds names to the certificate that was asked for
	caddytest.Run(t, "{\n\tskip_install_trust\n}\n"+origin+" {\n\ttls "+certificate.cert+" "+certificate.key+
		" {\n\t\tclient_auth {\n\t\t\tmode require_and_verify\n\t\t\ttrust_pool file {\n\t\t\t\tpem_file "+certificate.cert+"\n\t\t\t}\n\t\t}\n\t}\n"+
		"\thandle_path /base/* {\n\t\treverse_proxy "+e.Listener.Addr().String()+"\n\t}\n\trespond 404\n}\n")
	for _, version := range [][]string{nil, {"--http2"}, {"--http3"}} {
		postBelowBase(t, e, origin, certificate, version...)
	}
	o := replay(t, "-n", "1", "--cacert", certificate.cert, origin+"/")
	if o.status != exitIncomplete || !strings.Contains(o.stdout, "tls ") {
		t.Errorf("without a certificate: status %d, %s%s", o.status, o.stdout, o.stderr)
	}
}

// postBelowBase posts two bodies below the base path of a server that asks for
// certificates.
func postBelowBase(t *testing.T, e *echo, origin string, certificate pair, more ...string) {
	t.Helper()
	e.mu.Lock()
	e.sent = nil
	e.mu.Unlock()
	o := replay(t, append(more, "-n", "4", "--data", "a=1", "--data", "b=2", "--cacert", certificate.cert, "--cert", certificate.cert, "--key", certificate.key,
		"--to", origin+"/base", "--fail", "2xx=4", origin+"/orders?x=1")...)
	const form = "POST /orders?x=1 application/x-www-form-urlencoded "
	if got := e.got(); o.status != 0 || !slices.Equal(got, []string{form + "a=1", form + "a=1", form + "b=2", form + "b=2"}) {
		t.Errorf("%v: status %d, %s%s\ngot %q", more, o.status, o.stdout, o.stderr, got)
	}
}

// pair has the names of the files of a certificate and its key.
type pair struct{ cert, key string }

// newCertificate makes a certificate for servers and clients on loopback that has
// signed itself.
func newCertificate(t *testing.T) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "shop"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := pair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	for name, block := range map[string]*pem.Block{p.cert: {Type: "CERTIFICATE", Bytes: certificate}, p.key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}
