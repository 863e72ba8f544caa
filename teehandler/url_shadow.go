// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// urlShadow is a shadow reached by a URL.
type urlShadow struct {
	address      *address
	pool         *pool
	targetHost   bool // Host is that of the URL
	withoutReuse bool
}

// newURLShadow makes a shadow from its URL, with the tee's TLS configuration.
func (h *Handler) newURLShadow(rawURL string, trust *tls.Config) (*urlShadow, error) {
	a, err := parseAddress(rawURL)
	if err != nil {
		return nil, err
	}
	s := &urlShadow{
		address:      a,
		targetHost:   h.Host == hostTarget,
		withoutReuse: h.CloseConnections,
		pool: &pool{
			dialer:  http1.Dialer{Network: a.network, Address: a.dial},
			oneShot: h.CloseConnections,
			maxIdle: h.concurrency(),
		},
	}
	if a.secure {
		config := trust.Clone()
		if config.ServerName == "" {
			config.ServerName = a.name
		}
		config.NextProtos = []string{"http/1.1"}
		s.pool.dialer.TLS = config
	}
	return s, nil
}

// tlsConfig returns the TLS configuration of all shadows. It can be made only
// once, as loading the certificate pool takes it out of the options.
func (h *Handler) tlsConfig(ctx caddy.Context) (*tls.Config, error) {
	if h.TLS == nil {
		return new(tls.Config), nil
	}
	config, err := h.TLS.MakeTLSClientConfig(ctx)
	if err != nil {
		return nil, err
	}
	if config == nil { // nothing is set
		config = new(tls.Config)
	}
	return config, nil
}

// smallBody is what is copied behind the header to send both at once.
const smallBody = 16 << 10

var heads = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func (s *urlShadow) exchange(copied *snapshot, deadline time.Time, kept *keptResponse) (int, error) {
	buf := heads.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= maxPooledBody {
			heads.Put(buf)
		}
	}()
	req := http1.Request{Body: copied.body, MaxBody: maxShadowResponse}
	if len(copied.trailer) > 0 {
		req.Tail = chunkedEnd(copied)
	}
	req.Head = s.appendHead((*buf)[:0], copied)
	if len(req.Body) <= smallBody {
		req.Head = append(append(req.Head, req.Body...), req.Tail...)
		req.Body, req.Tail = nil, nil
	}
	*buf = req.Head
	if kept == nil {
		resp, err := s.pool.exchange(&req, deadline, nil)
		return resp.Status, err
	}
	req.MaxBody = max(req.MaxBody, int64(kept.capture.MaxBody)+1)
	resp, err := s.pool.exchange(&req, deadline, &kept.capture)
	kept.received(&resp)
	return resp.Status, err
}

// appendHead writes the request line and the header.
func (s *urlShadow) appendHead(dst []byte, copied *snapshot) []byte {
	dst = append(dst, copied.method...)
	dst = append(dst, ' ')
	dst = joinTarget(dst, s.address.base, copied.target)
	dst = append(dst, " HTTP/1.1\r\n"...)
	host := copied.host
	if s.targetHost || host == "" {
		host = s.address.host
	}
	dst = http1.AppendField(dst, "Host", host)
	dst = append(dst, copied.fields...)
	if s.withoutReuse {
		dst = append(dst, "Connection: close\r\n"...)
	}
	if len(copied.trailer) > 0 {
		return appendChunkedStart(dst, copied)
	}
	return append(appendLength(dst, copied), "\r\n"...)
}

// joinTarget puts a shadow's base path before the target.
func joinTarget(dst []byte, base, target string) []byte {
	if base != "" && target != "*" {
		dst = append(dst, base...)
	}
	return append(dst, target...)
}

// appendLength announces the body, and its absence where the request or its
// method lets a server expect one.
func appendLength(dst []byte, copied *snapshot) []byte {
	if len(copied.body) == 0 && !copied.length && !mayHaveBody(copied.method) {
		return dst
	}
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(copied.body)), 10)
	return append(dst, "\r\n"...)
}

func mayHaveBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

func (s *urlShadow) close() { s.pool.close() }

// appendChunkedStart ends a header that announces trailers, and begins the body
// as one chunk.
func appendChunkedStart(head []byte, copied *snapshot) []byte {
	head = append(head, "Transfer-Encoding: chunked\r\n"...)
	for name := range copied.trailer {
		head = http1.AppendField(head, "Trailer", name)
	}
	head = append(head, "\r\n"...)
	if len(copied.body) > 0 {
		head = strconv.AppendInt(head, int64(len(copied.body)), 16)
		head = append(head, "\r\n"...)
	}
	return head
}

// chunkedEnd returns what follows the body: the last chunk and the trailers.
func chunkedEnd(copied *snapshot) []byte {
	var end []byte
	if len(copied.body) > 0 {
		end = append(end, "\r\n"...)
	}
	end = append(end, "0\r\n"...)
	end = appendFields(end, copied.trailer, nil)
	return append(end, "\r\n"...)
}

// address is a shadow's URL in parts.
type address struct {
	network, dial string
	secure        bool
	name          string // without the port
	host          string // for the Host field
	base          string // path before every target
}

const addressForms = "expected http://host:port, https://host:port, host:port or unix//path/to.sock"

// parseAddress parses a shadow's URL.
func parseAddress(text string) (*address, error) {
	if socket, ok := unixSocket(text); ok {
		if strings.Trim(socket, "/") == "" {
			return nil, errors.New("it has no path to a socket: expected unix//path/to.sock")
		}
		return &address{network: "unix", dial: socket, name: "localhost", host: "localhost"}, nil
	}
	if !strings.Contains(text, "://") {
		if network, _, found := strings.Cut(text, "/"); found && isNetwork(network) {
			return nil, fmt.Errorf("network '%s' is not valid: %s", network, addressForms)
		}
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		if strings.Count(text, ":") > 2 && !strings.Contains(text, "[") {
			return nil, fmt.Errorf("%v (an IPv6 address goes into brackets)", errors.Unwrap(err))
		}
		return nil, errors.Unwrap(err)
	}
	a := &address{network: "tcp", name: u.Hostname(), host: u.Host, base: strings.TrimRight(u.EscapedPath(), "/")}
	port := u.Port()
	switch u.Scheme {
	case "https":
		a.secure = true
		port = cmp.Or(port, "443")
	case "http":
		port = cmp.Or(port, "80")
	default:
		return nil, fmt.Errorf("scheme '%s' is not valid: expected http, https or unix, or reverse_proxy in a handle block", u.Scheme)
	}
	switch {
	case a.name == "":
		return nil, fmt.Errorf("it has no host: %s", addressForms)
	case !httpguts.ValidHostHeader(u.Host) || strings.Contains(a.name, "*"):
		return nil, fmt.Errorf("host '%s' is not valid: %s", a.name, addressForms)
	case strings.Contains(a.name, ":") && !strings.Contains(u.Host, "["):
		return nil, errors.New("an IPv6 address goes into brackets")
	case u.User != nil:
		return nil, errors.New("user and password go into header_up Authorization")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("only a path may follow the host")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, fmt.Errorf("port '%s' is not valid: expected 1 to 65535", port)
	}
	a.dial = net.JoinHostPort(a.name, port)
	return a, nil
}

// isNetwork reports whether a text is what Caddy's addresses have before their
// slash, with which they are no URLs.
func isNetwork(text string) bool {
	base, _, _ := strings.Cut(text, "+")
	return slices.Contains([]string{"tcp", "udp", "ip", "unix", "unixgram", "unixpacket", "fd", "fdgram"}, strings.TrimRight(base, "46"))
}

// unixSocket returns the path of `unix//path` and `unix:///path`.
func unixSocket(text string) (string, bool) {
	if path, ok := strings.CutPrefix(text, "unix://"); ok {
		return path, true
	}
	return strings.CutPrefix(text, "unix/")
}
