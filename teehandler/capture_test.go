// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"errors"
	"io"
	"net/http"
	"testing"
)

// slowBody reports when it is read, and returns what it has to until it is closed.
type slowBody struct {
	read   chan struct{}
	give   chan string
	closed chan struct{}
}

func (b *slowBody) Read(p []byte) (int, error) {
	b.read <- struct{}{}
	var text string
	select {
	case text = <-b.give:
	case <-b.closed:
	}
	select {
	case <-b.closed:
		return 0, errors.New("closed")
	default:
		return copy(p, text), nil
	}
}

func (b *slowBody) Close() error {
	close(b.closed)
	return nil
}

func slowCapture(t *testing.T) (*capture, *slowBody) {
	body := &slowBody{read: make(chan struct{}), give: make(chan string), closed: make(chan struct{})}
	r, _ := http.NewRequest(http.MethodPost, "/", body)
	r.ContentLength = 6
	s := &snapshot{memory: &memory{limit: 1 << 20}}
	s.holders.Store(1)
	return newCapture(r, s, 1<<20, func() {}), body
}

// A primary's goroutine may close the body when the tee reads on already.
func TestClosingTheBodyStopsNoReadingOn(t *testing.T) {
	c, body := slowCapture(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.readOn(100)
	}()
	next(t, body.read)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	body.give <- "abc"
	next(t, body.read)
	body.give <- "def"
	next(t, done)
	if reason := c.dropped(); reason != none || string(c.snapshot.body) != "abcdef" {
		t.Errorf("the copy is %q, %s", c.snapshot.body, outcomeNames[reason])
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("the primary reads on, error %v", err)
	}
}

// It closes the body to stop a read of its own, too.
func TestClosingTheBodyStopsThePrimarysRead(t *testing.T) {
	c, body := slowCapture(t)
	failed := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(c)
		failed <- err
	}()
	next(t, body.read)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := next(t, failed); err == nil {
		t.Error("the primary has read a body that it closed")
	}
	if reason := c.dropped(); reason != droppedBodyIncomplete {
		t.Errorf("the copy is %s", outcomeNames[reason])
	}
}
