// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

const (
	// atOnce is how many calls are made at the same time.
	atOnce = 8
	// mostWaiting is how many calls may be due later or wait for their turn. More
	// are not made, and counted.
	mostWaiting = 1000
	// longestCall is how long one may take.
	longestCall = 30 * time.Second
	// mostRead is how much of a response to a call is read, so that its connection
	// can be used again.
	mostRead = 1 << 20
)

var callsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "caddy_simulator_webhooks_total",
	Help: "Calls that mappings asked for, by result: sent, failed, dropped.",
}, []string{"simulator", "result"})

// Collectors returns the metrics of all stubs.
func Collectors() []prometheus.Collector { return []prometheus.Collector{callsTotal} }

// caller makes the calls that mappings ask for.
type caller struct {
	simulator string
	log       func() *zap.Logger
	client    *http.Client
	ctx       context.Context
	cancel    context.CancelFunc
	turns     chan call

	mu      sync.Mutex // guards what follows
	begun   bool
	waiting int
	later   map[*time.Timer]bool
}

// call is one with the name of the mapping that asks for it.
type call struct {
	wiremock.Call
	mapping string
}

func newCaller(simulator string, log func() *zap.Logger) *caller {
	c := &caller{
		simulator: simulator,
		log:       log,
		client: &http.Client{
			Timeout:       longestCall,
			Transport:     http.DefaultTransport.(*http.Transport).Clone(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		turns: make(chan call, mostWaiting),
		later: make(map[*time.Timer]bool),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// close ends the calls. Those that are due later are not made.
func (c *caller) close() {
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	for timer := range c.later {
		timer.Stop()
	}
	clear(c.later)
	c.client.CloseIdleConnections()
}

// add queues calls, each of which is made after its delay.
func (c *caller) add(calls []wiremock.Call, mapping string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range calls {
		if c.ctx.Err() != nil || c.waiting == mostWaiting {
			c.count("dropped")
			c.log().Warn("webhook dropped: too many wait for their turn", zap.String("mapping", mapping))
			continue
		}
		if !c.begun {
			c.begun = true
			for range atOnce {
				go c.work()
			}
		}
		c.waiting++
		if one.Delay <= 0 {
			c.turns <- call{one, mapping} // there is room for as many as wait
			continue
		}
		var timer *time.Timer
		timer = time.AfterFunc(one.Delay, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.later[timer] {
				delete(c.later, timer)
				c.turns <- call{one, mapping}
			}
		})
		c.later[timer] = true
	}
}

// work makes one call after the other until the stubs end.
func (c *caller) work() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case one := <-c.turns:
			c.mu.Lock()
			c.waiting--
			c.mu.Unlock()
			c.make(one)
		}
	}
}

func (c *caller) make(one call) {
	logger := c.log().With(zap.String("mapping", one.mapping), zap.String("method", one.Method), zap.String("url", plain(one.URL)))
	status, err := c.send(one.Call)
	if err != nil {
		c.count("failed")
		logger.Error("webhook failed", zap.Error(err))
		return
	}
	c.count("sent")
	logger.Info("webhook sent", zap.Int("status", status))
}

// plain returns a URL without what may be secret in it.
func plain(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// send makes one call, and returns the status of the response.
func (c *caller) send(one wiremock.Call) (status int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	var body io.Reader = http.NoBody
	if len(one.Body) > 0 {
		body = bytes.NewReader(one.Body)
	}
	req, err := http.NewRequestWithContext(c.ctx, one.Method, one.URL, body)
	if err != nil {
		return 0, err
	}
	for _, field := range one.Header {
		if field.Name == "Host" {
			req.Host = field.Value
			continue
		}
		req.Header.Add(field.Name, field.Value)
	}
	resp, err := c.client.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return 0, failed.Err // the URL is told beside
	}
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, mostRead))
	if err != nil {
		return 0, errors.New("its response broke off")
	}
	return resp.StatusCode, nil
}

// failed counts a call that could not even be made up.
func (c *caller) failed(err error) {
	c.count("failed")
	c.log().Error("webhook failed", zap.Error(err))
}

func (c *caller) count(result string) { callsTotal.WithLabelValues(c.simulator, result).Inc() }
