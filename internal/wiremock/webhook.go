// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/template"
)

// Call is a request that a mapping has sent once it has responded.
type Call struct {
	Method string
	URL    string // of http or https
	Header []Field
	Body   []byte
	// Delay is the time between the response and the call.
	Delay time.Duration
}

// webhook is what a mapping says of a Call. Its texts are templates, always.
type webhook struct {
	method, url rendered
	headers     []headerOf
	body        rendered
	delay       latency.Latency
	fault       error // of every call; nil: there is none
}

// parseWebhooks takes the listeners, and what older versions have for them. What
// they do is known of one kind only.
func (f *fields) parseWebhooks() ([]webhook, error) {
	var all []webhook
	for _, field := range []string{"serveEventListeners", "postServeActions"} {
		data, given := f.take(field)
		if !given {
			continue
		}
		list, err := f.listeners(field, data)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// listeners reads a list, or what older files have: an object by names.
func (f *fields) listeners(field string, data json.RawMessage) ([]webhook, error) {
	type listener struct {
		Name          string          `json:"name"`
		RequestPhases []string        `json:"requestPhases"`
		Parameters    json.RawMessage `json:"parameters"`
	}
	var list []listener
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		members, err := orderedMembers(data)
		if err != nil {
			return nil, f.located(field, err)
		}
		for _, m := range members {
			list = append(list, listener{Name: m.name, Parameters: m.data})
		}
	} else if err := strict(data, &list); err != nil {
		return nil, f.errorf(field, "expected a list of listeners: %w", plain(err))
	}
	var hooks []webhook
	for i, one := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		if one.Name != "webhook" {
			f.warnf(at, "'%s' is an extension of WireMock's and is not called here", one.Name)
			continue
		}
		hook, err := f.parseWebhook(at+".parameters", one.Parameters)
		if _, unknown := errors.AsType[*template.NoHelperError](err); unknown {
			*f.odd = append(*f.odd, fmt.Errorf("%w: the webhook is not called", err)) // with WireMock every call fails, too
			continue
		}
		if err != nil {
			return nil, err
		}
		if one.RequestPhases == nil || slices.Contains(one.RequestPhases, "AFTER_COMPLETE") {
			hooks = append(hooks, hook)
		}
	}
	return hooks, nil
}

func (f *fields) parseWebhook(name string, data json.RawMessage) (hook webhook, err error) {
	f, err = f.inside(name, data)
	if err != nil {
		return hook, err
	}
	parsed, _ := eval.ParseJSON(string(data))
	parameters, _ := parsed.(*eval.Object)
	t := templating{on: true, parameters: parameters}
	for name, target := range map[string]*rendered{"method": &hook.method, "url": &hook.url, "body": &hook.body} {
		if _, err := f.into(name, &target.text); err != nil {
			return hook, err
		}
		if target.template, err = t.parse(target.text); err != nil {
			return hook, f.located(name, err)
		}
	}
	if hook.url.template == nil {
		if _, err := parseHTTP(hook.url.text); err != nil {
			f.warnf("url", "%w: every call fails", err)
		}
	}
	if encoded := ""; f.left["base64Body"] != nil {
		if _, err := f.into("base64Body", &encoded); err != nil {
			return hook, err
		}
		body, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return hook, f.located("base64Body", err)
		}
		hook.body = rendered{text: string(body)}
	}
	if _, hook.fault = f.into("delay", &hook.delay); hook.fault != nil {
		*f.odd = append(*f.odd, fmt.Errorf("%w: every call fails", hook.fault))
	}
	if data, given := f.take("headers"); given {
		hook.headers, err = t.headers(data)
	}
	return hook, f.located("headers", err) // other fields are parameters of the templates
}

// HasCalls reports whether the mapping has anything sent once it has responded.
func (m *Mapping) HasCalls() bool { return m.webhooks != nil }

// Calls returns what is to be sent once the mapping has responded to a request.
// Delays are drawn from source. There is a fault for each call that cannot be made; the
// others are made.
func (m *Mapping) Calls(r *Request, source rand.Source) (calls []Call, faults []error) {
	for i := range m.webhooks {
		call, err := m.webhooks[i].call(r, m.url.template)
		if err != nil {
			faults = append(faults, fmt.Errorf("mapping '%s': webhook: %w", m.Name(), err))
			continue
		}
		call.Delay = m.webhooks[i].delay.Sample(source)
		calls = append(calls, call)
	}
	return calls, faults
}

func (hook *webhook) call(r *Request, t *urlTemplate) (call Call, err error) {
	r.template = t
	r.budget = eval.NewBudget(len(r.Target) + len(r.body.text))
	call = Call{
		Method: oneLine(hook.method.of(r)),
		URL:    oneLine(hook.url.of(r)),
		Body:   []byte(hook.body.of(r)),
		Header: fieldsOf(hook.headers, r),
	}
	if r.exceeded() || r.failed != nil {
		err, r.failed = r.failed, nil
		return call, err
	}
	if hook.fault != nil {
		return call, hook.fault
	}
	call.Method = cmp.Or(call.Method, http.MethodGet)
	if !httpguts.ValidHeaderFieldName(call.Method) {
		return call, errors.New("its method is none")
	}
	if _, err := parseHTTP(call.URL); err != nil {
		return call, errors.New("its URL is none of http or https") // which may have secrets
	}
	return call, nil
}
