// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

// Package record tests the example as it stands in its folder.
package record

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// addresses puts free ones in place of the ports in a text.
func addresses(text string, of map[string]string) string {
	for port, addr := range of {
		_, free, _ := strings.Cut(addr, ":")
		text = strings.NewReplacer("\n:"+port+" {", "\nhttp://:"+free+" {", "127.0.0.1:"+port, addr, "listen "+port, "listen "+addr).Replace(text)
	}
	return text
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestExample(t *testing.T) {
	text := read(t, "Caddyfile")
	if formatted := caddyfile.Format([]byte(text)); string(formatted) != text {
		t.Errorf("the Caddyfile is not formatted; it should be\n%s", formatted)
	}
	dir := t.TempDir()
	ports := make(map[string]string)
	for _, port := range []string{"8000", "8080", "8081", "9000", "9001"} {
		ports[port] = caddytest.Addr(t)
	}
	config := strings.ReplaceAll(addresses(text, ports), "record recordings", "record "+dir)
	caddytest.Run(t, config)
	peertest.Nginx(t, addresses(read(t, "nginx.conf"), ports), ports["8000"])

	for _, port := range []string{"8080", "8000"} {
		request, err := http.NewRequest("POST", "http://"+ports[port]+"/orders?currency=EUR", strings.NewReader("{\"sku\": \"teapot\"}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Cookie", "session=secret")
		resp, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != "the service" {
			t.Errorf("port %s: got %q, error %v", port, body, err)
		}
	}
	for _, prefix := range []string{"requests", "mirrored"} {
		for deadline := time.Now().Add(30 * time.Second); len(glob(t, dir, prefix)) == 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("no file of %s", prefix)
			}
		}
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	for prefix, port := range map[string]string{"requests": "8080", "mirrored": "8000"} {
		r := one(t, glob(t, dir, prefix))
		if string(r.Method) != "POST" || string(r.URI) != "/orders?currency=EUR" || string(r.Body) != "{\"sku\": \"teapot\"}" ||
			string(r.Host) != ports[port] || !strings.Contains(string(r.Headers), "\r\nCookie: REDACTED\r\n") || len(r.ID) != 32 {
			t.Errorf("%s: got %s %s, host %s, ID %s\n%s\n%s", prefix, r.Method, r.URI, r.Host, r.ID, r.Headers, r.Body)
		}
	}
}

func glob(t *testing.T, dir, prefix string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, prefix+"_*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// one returns the only record of the only file.
func one(t *testing.T, files []string) *recording.Request {
	t.Helper()
	if len(files) != 1 {
		t.Fatalf("got files %q", files)
	}
	f, err := recording.OpenFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r, err := f.Next()
	if err != nil {
		t.Fatal(err)
	}
	return r
}
