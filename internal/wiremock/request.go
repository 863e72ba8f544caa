// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"errors"
	"math/rand/v2"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
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
	// Header returns the values of a field, or the first of them, by its name in any
	// case, like http.Header.
	Header interface {
		Values(name string) []string
		Get(name string) string
	}
	// ReadBody returns the whole body, which stays as it is. It is called at most
	// once, and only if a mapping or a template looks at the body. Default: no body.
	ReadBody func() ([]byte, error)
	// Server is asked for the body and the client's address, where these are not set
	// themselves: unlike them it costs nothing if nobody looks at them. Default: none.
	Server interface {
		ReadBody() ([]byte, error)
		ClientIP() string
	}
	// Random is where random values of templates are drawn from. Default: the
	// runtime's source.
	Random rand.Source

	url      string
	path     string
	query    []parameter
	fewQuery [4]parameter // where most queries have room
	response Response     // of the mapping that matched, unless it is fixed
	fewLists [8][]int     // where the lists of mappings that may match have room
	fewLines [4]Field     // where most headers of responses have room
	form     []parameter
	cookies  []parameter
	parsed   parts
	body     document
	parts    *parted      // of the body; nil: they were not looked for
	failed   error        // of reading the body, or that more is needed than the budget has
	budget   eval.Budget  // of the condition or the template at hand
	template *urlTemplate // of the mapping that matched
}

// ErrTooMuch is the error of a request for which a condition or a template of a
// mapping would need more steps than the size of the request allows.
var ErrTooMuch = errors.New("the request needs more work than its size allows")

// meets reports whether a value meets a condition. That the budget did not do
// is left in failed.
func (r *Request) meets(p pattern, v value) bool {
	r.budget = eval.NewBudget(len(v.text))
	v.budget = &r.budget
	met := p.matches(v)
	return !r.exceeded() && met
}

// matchesRegexp is meets for a regular expression.
func (r *Request) matchesRegexp(re *eval.Regexp, text string) bool {
	r.budget = eval.NewBudget(len(text))
	met := re.Match(text, &r.budget)
	return !r.exceeded() && met
}

// exceeded reports whether the budget was not enough.
func (r *Request) exceeded() bool {
	if !r.budget.Exceeded() {
		return false
	}
	if r.failed == nil {
		r.failed = ErrTooMuch
	}
	return true
}

// parts is what of a request has been parsed.
type parts struct{ url, query, form, cookies, body bool }

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
	var query string
	if r.path, query, _ = strings.Cut(r.url, "?"); query == "" {
		r.url = r.path // an empty query counts as none
	}
}

// header returns the values of a field. Servers keep Host apart.
func (r *Request) header(name string) []string {
	if strings.EqualFold(name, "Host") {
		return []string{r.Host}
	}
	if r.Header == nil {
		return nil
	}
	return r.Header.Values(name)
}

// firstHeader returns the first of the values of a field; empty if it has none.
func (r *Request) firstHeader(name string) string {
	switch {
	case strings.EqualFold(name, "Host"):
		return r.Host
	case r.Header == nil:
		return ""
	}
	return r.Header.Get(name)
}

// bodyDocument returns the body, which is read once. That it could not be read
// is left in failed.
func (r *Request) bodyDocument() *document {
	if !r.parsed.body {
		r.parsed.body = true
		if r.ReadBody != nil || r.Server != nil {
			r.body = r.readBody()
		}
	}
	return &r.body
}

// received returns the body as the server has it.
func (r *Request) received() ([]byte, error) {
	if r.ReadBody != nil {
		return r.ReadBody()
	}
	return r.Server.ReadBody()
}

// Client returns the address of the client, without a port.
func (r *Request) Client() string {
	if r.ClientIP == "" && r.Server != nil {
		r.ClientIP = r.Server.ClientIP()
	}
	return r.ClientIP
}

// Body returns the body, unpacked, as it was sent; empty if it cannot be read.
func (r *Request) Body() string { return r.bodyDocument().raw }

// URL returns path and query as they were received.
func (r *Request) URL() string {
	r.split()
	return r.url
}

func (r *Request) random() rand.Source {
	if r.Random == nil {
		return latency.Random()
	}
	return r.Random
}

// document is a text that is parsed as JSON at most once.
type document struct {
	text    string
	raw     string // as it was sent, but unpacked
	parsed  bool
	isJSON  bool
	data    any
	checked bool
	valid   bool
	xml     *xmlBody // nil: it was not looked for
	place   string   // the path in the JSON that was followed last, and what it led to
	found   any
	outcome eval.Outcome
}

// isValid reports whether the text is JSON, without parsing it.
func (d *document) isValid() bool {
	if !d.checked {
		d.checked = true
		d.valid = eval.ValidJSON(d.text)
	}
	return d.valid
}

// json returns the text parsed; false if it is no JSON.
func (d *document) json() (any, bool) {
	if !d.parsed {
		d.parsed = true
		d.data, d.isJSON = eval.ParseJSON(d.text)
	}
	return d.data, d.isJSON
}
