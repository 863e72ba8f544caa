// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/template"
)

// Response is what a mapping responds, as data for a server to write. Its slices
// may be shared with other requests: they are not to be changed.
type Response struct {
	Status int
	// StatusMessage is what stands behind the status where HTTP/1.1 has words for it;
	// empty: those of the status.
	StatusMessage string
	Header        []Field
	Body          []byte
	// FixedDelay and Delay together are the time before the first byte.
	FixedDelay time.Duration
	Delay      latency.Latency
	// HasFixedDelay and HasDelay tell whether the mapping itself says them; if not,
	// those of the settings hold.
	HasFixedDelay, HasDelay bool
	// Dribble spreads the body over a time.
	Dribble Dribble
	Fault   Fault
	// Proxy is set if another server responds.
	Proxy *Proxy
	// NoFile is set if the body is none, since the file that a request asks for
	// cannot be read: then neither the status nor the header is the mapping's own.
	NoFile bool
}

// Field is a line of the header. Its name is in canonical form.
type Field struct{ Name, Value string }

// Dribble is a body sent in so many chunks over a time; no chunks: all at once.
type Dribble struct {
	Chunks   int
	Duration time.Duration
}

// Fault is a broken response in WireMock's words; empty: none.
type Fault string

// The faults that a mapping can ask for.
const (
	ConnectionReset   Fault = "CONNECTION_RESET_BY_PEER"
	EmptyResponse     Fault = "EMPTY_RESPONSE"
	MalformedResponse Fault = "MALFORMED_RESPONSE_CHUNK"
	RandomData        Fault = "RANDOM_DATA_THEN_CLOSE"
)

// Settings are what holds for mappings that do not say it themselves.
type Settings struct {
	FixedDelay time.Duration
	Delay      latency.Latency
}

// Wait draws the time before the first byte. There may be no settings.
func (r *Response) Wait(settings *Settings, source rand.Source) time.Duration {
	fixed, drawn := r.FixedDelay, r.Delay
	if settings != nil && !r.HasFixedDelay {
		fixed = settings.FixedDelay
	}
	if settings != nil && !r.HasDelay {
		drawn = settings.Delay
	}
	return fixed + drawn.Sample(source)
}

// Respond returns the response to a request that the mapping matched, which is good
// as long as the request is and not to be changed. The error is that of reading the
// body, or ErrTooMuch.
func (m *Mapping) Respond(r *Request) (*Response, error) {
	if fixed, ok := m.Fixed(); ok {
		return fixed, nil
	}
	return m.render(r)
}

// render is Respond for a response that is not fixed.
func (m *Mapping) render(r *Request) (*Response, error) {
	response := &r.response
	*response = m.response.fixed
	r.template = m.url.template
	r.budget = eval.NewBudget(len(r.Target) + len(r.body.text))
	body := m.response.body
	if m.response.file != nil {
		file, err := m.response.file.open(r)
		if err != nil {
			*response = withoutFile(err.Error())
			return response, nil
		}
		response.Body, body = file.data, file.body
	}
	if body != nil {
		response.Body = body.Append(make([]byte, 0, 2*len(response.Body)), model{r})
	}
	if m.response.headers != nil {
		var room []Field // of its own where the header outlives the request
		if m.response.proxy == nil {
			room = r.fewLines[:0]
		}
		response.Header = append(room, response.Header...)
		for _, h := range m.response.headers {
			response.Header[h.index].Value = oneLine(string(h.value.Append(nil, model{r})))
		}
	}
	if p := m.response.proxy; p != nil {
		var err error
		if response.Proxy, err = p.of(r, response.Header); err != nil {
			return nil, fmt.Errorf("mapping '%s': proxyBaseUrl: %w", m.Name(), err)
		}
	}
	if r.exceeded() || r.failed != nil {
		return nil, fmt.Errorf("mapping '%s': %w", m.Name(), r.failed)
	}
	return response, nil
}

// oneLine keeps what a client sent from adding lines to the header. Text in other
// charsets than UTF-8 stays as it is.
func oneLine(value string) string {
	var line []byte // nil: the value as it is
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			if line == nil {
				line = []byte(value)
			}
			line[i] = ' '
		}
	}
	if line == nil {
		return value
	}
	return string(line)
}

// model is a request as templates see it.
type model struct{ r *Request }

func (m model) Method() string              { return m.r.Method }
func (m model) URL() string                 { return m.r.url }
func (m model) Scheme() string              { return m.r.Scheme }
func (m model) Host() string                { return m.r.Host }
func (m model) ClientIP() string            { return m.r.Client() }
func (m model) Header(name string) []string { return m.r.header(name) }
func (m model) Body() string                { return m.body().text }
func (m model) JSON() (any, bool)           { return m.body().json() }
func (m model) Budget() *eval.Budget        { return &m.r.budget }
func (m model) Random() rand.Source         { return m.r.random() }
func (m model) Query(name string) []string  { return m.named(m.r.queryParameters(), name) }
func (m model) Cookie(name string) []string { return m.named(m.r.cookieParameters(), name) }

func (m model) Form(name string) []string { return m.named(m.r.formParameters(), name) }
func (m model) Raw() string               { return m.body().raw }

// Path returns the path as WireMock's templates see it: unescaped, but where the
// mapping has a template for it.
func (m model) Path() string {
	if m.r.template != nil || strings.IndexByte(m.r.path, '%') < 0 {
		return m.r.path
	}
	m.r.budget.Read(len(m.r.path))
	if plain, err := url.PathUnescape(m.r.path); err == nil {
		return plain
	}
	return m.r.path
}

func (m model) PathParameter(name string) string {
	if m.r.template == nil {
		return ""
	}
	return m.r.template.parameter(m.r.path, name)
}

// body returns the body; the budget grows with what is read only now.
func (m model) body() *document {
	known := m.r.parsed.body
	d := m.r.bodyDocument()
	if !known {
		m.r.budget.Grow(eval.PerByte * len(d.text))
	}
	return d
}

// First is part of template.Request.
func (m model) First(kind, name string) string {
	var parameters []parameter
	switch kind {
	case "headers":
		m.r.budget.Spend(1)
		return m.r.firstHeader(name)
	case "query":
		parameters = m.r.queryParameters()
	case "cookies":
		parameters = m.r.cookieParameters()
	case "formParameters":
		parameters = m.r.formParameters()
	}
	m.r.budget.Spend(1 + len(parameters)/4)
	for i := range parameters {
		if parameters[i].name == name {
			return parameters[i].value
		}
	}
	return ""
}

func (m model) named(parameters []parameter, name string) []string {
	m.r.budget.Spend(1 + len(parameters)/4)
	var values []string
	for _, p := range parameters {
		if p.name == name {
			values = append(values, p.value)
		}
	}
	return values
}

// Interface guard
var _ template.Request = model{}
