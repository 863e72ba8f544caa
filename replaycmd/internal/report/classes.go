// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/caddy-rehearsal/rehearsal/internal/endpoint"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// By is what requests are told apart by.
type By string

// What requests can be told apart by.
const (
	ByNothing By = ""
	ByPath    By = "path"   // the path without its numbers and identifiers
	ByMethod  By = "method" // the method
	ByStatus  By = "status" // the status of the response
)

// ParseBy reads what requests are to be told apart by.
func ParseBy(text string) (By, error) {
	switch by := By(text); by {
	case ByPath, ByMethod, ByStatus:
		return by, nil
	case ByNothing:
	}
	return "", fmt.Errorf("'%s' is not valid: expected path, method or status", text)
}

// maxClasses bounds how many classes are told apart; the rest is one more.
const maxClasses = 100

const others = "(others)"

// Classes numbers the classes of requests.
type Classes struct {
	by      By
	mu      sync.Mutex
	numbers map[string]int
	names   []string
	scratch []byte
}

// NewClasses returns classes by method or path; by anything else all requests
// are of no class.
func NewClasses(by By) *Classes { return &Classes{by: by, numbers: make(map[string]int)} }

// Of returns the number of a request's class, -1 if it has none.
func (c *Classes) Of(method, target []byte) int {
	if c.by != ByMethod && c.by != ByPath {
		return -1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := method
	if c.by == ByPath {
		c.scratch = endpoint.AppendTemplate(c.scratch[:0], http1.OriginForm(target))
		name = c.scratch
	}
	if n, known := c.numbers[string(name)]; known {
		return n
	}
	text := string(name)
	if len(c.names) >= maxClasses {
		text = others
		if n, known := c.numbers[text]; known {
			return n
		}
	}
	c.numbers[text] = len(c.names)
	c.names = append(c.names, text)
	return len(c.names) - 1
}

// Name returns the name of a class.
func (c *Classes) Name(class int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.names[class]
}

// firstGRPC is the number of the class of gRPC's status 0, beyond those of HTTP's.
const firstGRPC = 1000

// ByStatusOf returns the number of the class by status of a response: that of
// gRPC, which is the text of a number from 0 to 16, or else that of HTTP.
func ByStatusOf(status int, grpc string) int {
	if code, err := strconv.ParseUint(grpc, 10, 8); err == nil && code <= 16 {
		return firstGRPC + int(code)
	}
	return status
}

// statusName returns the name of a class by status.
func statusName(number int) string {
	switch {
	case number >= firstGRPC:
		return "grpc " + strconv.Itoa(number-firstGRPC)
	case number > 0:
		return strconv.Itoa(number)
	}
	return "no answer"
}
