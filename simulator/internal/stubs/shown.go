// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// oneOrMore is a value, or a list if there are several.
type oneOrMore []string

// MarshalJSON writes it.
func (v oneOrMore) MarshalJSON() ([]byte, error) {
	if len(v) == 1 {
		return json.Marshal(v[0])
	}
	return json.Marshal([]string(v))
}

// UnmarshalJSON reads it.
func (v *oneOrMore) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*v = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(v))
}

// parameter is a parameter of a query or a form.
type parameter struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// loggedRequest is a request as WireMock's clients read it.
type loggedRequest struct {
	URL          string               `json:"url"`
	AbsoluteURL  string               `json:"absoluteUrl"`
	Method       string               `json:"method"`
	ClientIP     string               `json:"clientIp"`
	Headers      map[string]oneOrMore `json:"headers"`
	Cookies      map[string]oneOrMore `json:"cookies"`
	BrowserProxy bool                 `json:"browserProxyRequest"`
	LoggedDate   int64                `json:"loggedDate"`
	BodyAsBase64 string               `json:"bodyAsBase64"`
	Body         string               `json:"body"`
	Protocol     string               `json:"protocol"`
	Scheme       string               `json:"scheme"`
	Host         string               `json:"host"`
	Port         int                  `json:"port"`
	LoggedText   string               `json:"loggedDateString"`
	Query        map[string]parameter `json:"queryParams"`
	Form         map[string]parameter `json:"formParams"`
}

// logged returns the request of an event.
func (e *event) logged() loggedRequest {
	asked := e.request()
	r := loggedRequest{
		URL: asked.URL(), Method: e.method, ClientIP: e.clientIP,
		Headers: make(map[string]oneOrMore), Cookies: make(map[string]oneOrMore),
		LoggedDate: e.at.UnixMilli(), LoggedText: e.at.UTC().Format("2006-01-02T15:04:05.000Z"),
		BodyAsBase64: base64.StdEncoding.EncodeToString(e.body), Body: string(e.body),
		Protocol: e.protocol, Scheme: e.scheme,
		Query: make(map[string]parameter), Form: make(map[string]parameter),
	}
	r.AbsoluteURL = e.scheme + "://" + e.host + r.URL
	r.Host, r.Port = hostPort(e.host, e.scheme)
	names := make(map[string]string) // as they were first written, by those in lower case
	for _, line := range e.header {
		name, known := names[strings.ToLower(line.Name)]
		if !known {
			name = line.Name
			names[strings.ToLower(name)] = name
		}
		r.Headers[name] = append(r.Headers[name], line.Value)
	}
	asked.EachParameter(wiremock.InQuery, func(name, value string) { add(r.Query, name, value) })
	asked.EachParameter(wiremock.InForm, func(name, value string) { add(r.Form, name, value) })
	asked.EachParameter(wiremock.InCookie, func(name, value string) { r.Cookies[name] = append(r.Cookies[name], value) })
	return r
}

func add(to map[string]parameter, name, value string) {
	to[name] = parameter{name, append(to[name].Values, value)}
}

func hostPort(host, scheme string) (name string, port int) {
	if name, text, err := net.SplitHostPort(host); err == nil {
		if port, err = strconv.Atoi(text); err == nil {
			return name, port
		}
	}
	if scheme == "https" {
		return host, 443
	}
	return host, 80
}

// loggedResponse is a response as WireMock's clients read it.
type loggedResponse struct {
	Status  int                  `json:"status"`
	Headers map[string]oneOrMore `json:"headers,omitempty"`
	Body64  string               `json:"bodyAsBase64,omitempty"`
	Fault   string               `json:"fault,omitempty"`
	Body    string               `json:"body,omitempty"`
}

// servedEvent is an event as WireMock's clients read it.
type servedEvent struct {
	ID         string          `json:"id"`
	Request    loggedRequest   `json:"request"`
	Definition json.RawMessage `json:"responseDefinition"`
	Response   loggedResponse  `json:"response"`
	Matched    bool            `json:"wasMatched"`
	Timing     timing          `json:"timing"`
	SubEvents  []struct{}      `json:"subEvents"`
	Stub       json.RawMessage `json:"stubMapping,omitempty"`
}

// timing is what is known of the times of an event: the delay that was added.
type timing struct {
	AddedDelay       int64 `json:"addedDelay"`
	ProcessTime      int64 `json:"processTime"`
	ResponseSendTime int64 `json:"responseSendTime"`
	ServeTime        int64 `json:"serveTime"`
	TotalTime        int64 `json:"totalTime"`
}

func (s *Stubs) served(e *event) any {
	shown := servedEvent{
		ID: e.id, Request: e.logged(), Response: s.answered(e), Matched: e.mapping != nil,
		SubEvents:  []struct{}{},
		Definition: json.RawMessage(`{"status":404,"fromConfiguredStub":false}`),
	}
	if answer := e.answer.Load(); answer != nil {
		wait := answer.Latency.Milliseconds()
		shown.Timing = timing{AddedDelay: wait, TotalTime: wait}
	}
	if e.mapping != nil {
		shown.Definition, shown.Stub = e.mapping.ResponseJSON(), e.mapping.JSON()
	}
	return shown
}

// mostShown is up to which size the body of a response is shown, in bytes.
const mostShown = 1 << 20

// answered returns the response of an event, of which the same is left out as of
// requests.
func (s *Stubs) answered(e *event) loggedResponse {
	answer := e.answer.Load()
	if answer == nil {
		return loggedResponse{}
	}
	m := answer.Message
	shown := loggedResponse{Status: m.Status, Headers: make(map[string]oneOrMore)}
	if e.mapping != nil {
		said, _ := e.mapping.Fixed()
		shown.Fault = string(said.Fault) // in WireMock's words
	}
	for _, field := range m.Fields {
		if len(field.Values) > 0 {
			shown.Headers[field.Name] = field.Values
		}
	}
	var body []byte
	if content, size, err := m.Content.Open(); err == nil {
		if size <= mostShown {
			body, _ = io.ReadAll(content)
		}
		_ = content.Close()
	}
	if mask := s.journal.options.Mask; mask != nil {
		for name, values := range shown.Headers {
			masked := make(oneOrMore, len(values))
			for i, value := range values {
				masked[i] = mask.Field(name, value)
			}
			shown.Headers[name] = masked
		}
		kind := strings.Join(shown.Headers["Content-Type"], "")
		body = mask.Body(shown.Headers["Content-Encoding"], kind, body)
	}
	shown.Body, shown.Body64 = string(body), base64.StdEncoding.EncodeToString(body)
	return shown
}

func equalFold(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }
