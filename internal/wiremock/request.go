// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"math/rand/v2"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
)

// Request is what mappings and templates look at. The exported fields are set
// by the server, once; what is parsed of them is kept for the next mapping, so
// a Request serves one goroutine and one request.
type Request struct {
	Method string
	// Target is the raw request target: path and query as they were received.
	Target string
	// Host is the Host field, or :authority: name and, if given, port.
	Host string
	// Scheme is http or https.
	Scheme string
	// ClientIP is the address of the client, without a port.
	ClientIP string
	// Header gives the values of a field by its name in any case, like http.Header.
	Header interface{ Values(name string) []string }
	// ReadBody gives the whole body. It is called at most once, and only if a
	// mapping or a template looks at the body. Default: no body.
	ReadBody func() ([]byte, error)
	// Random is where random values of templates are drawn from. Default: the
	// runtime's source.
	Random rand.Source

	url       string
	path      string
	query     []parameter
	form      []parameter
	cookies   []parameter
	parsed    parts
	body      document
	bodyError error
	template  *urlTemplate // of the mapping that matched
}

// parts says what of a request has been parsed.
type parts struct{ url, query, form, cookies, body bool }

// parameter is a name with a value: of a query, a form or a cookie.
type parameter struct{ name, value string }

// split cuts the target into path and query. A target in absolute form counts
// without scheme and host.
func (r *Request) split() {
	if r.parsed.url {
		return
	}
	r.parsed.url = true
	r.url = r.Target
	if !strings.HasPrefix(r.url, "/") {
		if _, rest, ok := strings.Cut(r.url, "://"); ok {
			i := strings.IndexAny(rest, "/?")
			if i < 0 {
				i = len(rest)
			}
			r.url = "/" + strings.TrimPrefix(rest[i:], "/")
		}
	}
	r.path, _, _ = strings.Cut(r.url, "?")
}

// header gives the values of a field. Servers keep Host apart.
func (r *Request) header(name string) []string {
	if strings.EqualFold(name, "Host") {
		return []string{r.Host}
	}
	if r.Header == nil {
		return nil
	}
	return r.Header.Values(name)
}

// bodyDocument reads the body, once. That it could not be read shows in
// bodyError after all mappings were tried.
func (r *Request) bodyDocument() *document {
	if !r.parsed.body {
		r.parsed.body = true
		if r.ReadBody != nil {
			var data []byte
			data, r.bodyError = r.ReadBody()
			r.body.text = string(data)
		}
	}
	return &r.body
}

func (r *Request) random() rand.Source {
	if r.Random == nil {
		return latency.Random()
	}
	return r.Random
}
