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

func (r *Request) queryParameters() []parameter {
	if !r.parsed.query {
		r.parsed.query = true
		_, query, _ := strings.Cut(r.url, "?")
		r.query = parseForm(query)
	}
	return r.query
}

func (r *Request) formParameters() []parameter {
	if !r.parsed.form {
		r.parsed.form = true
		for _, kind := range r.header("Content-Type") {
			if strings.HasPrefix(strings.ToLower(kind), "application/x-www-form-urlencoded") {
				r.form = parseForm(r.bodyDocument().text)
			}
		}
	}
	return r.form
}

func (r *Request) cookieParameters() []parameter {
	if !r.parsed.cookies {
		r.parsed.cookies = true
		for _, line := range r.header("Cookie") {
			for pair := range strings.SplitSeq(line, ";") {
				if name, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && name != "" {
					r.cookies = append(r.cookies, parameter{name, unquote(value)})
				}
			}
		}
	}
	return r.cookies
}

func unquote(value string) string {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
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

// parseForm reads name=value pairs. What is not well escaped is taken as it is.
func parseForm(text string) []parameter {
	if text == "" {
		return nil
	}
	parameters := make([]parameter, 0, 1+strings.Count(text, "&"))
	for pair := range strings.SplitSeq(text, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			parameters = append(parameters, parameter{unescape(name), unescape(value)})
		}
	}
	return parameters
}
