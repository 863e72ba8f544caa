// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// maxEntry is the most bytes of one entry of a HAR file. It takes that memory,
// and some five times as much while it becomes a record. A longer one is left out.
const maxEntry = 64 << 20

var harStart = regexp.MustCompile(`^\s*\{\s*"log"\s*:`)

func beginsHAR(text []byte) bool { return harStart.Match(text) }

// har reads the entries of a HAR file one by one.
type har struct {
	tokens  *json.Decoder
	limit   *valueLimit
	entries *elements // nil: they are not reached yet
	number  int64
	skips   Skips
	draft   draft
}

func newHAR(r io.Reader, _ bool) Decoder {
	h := &har{limit: &valueLimit{r: bufio.NewReaderSize(r, 64<<10)}}
	if start, _ := h.limit.r.Peek(len(byteOrderMark)); bytes.Equal(start, byteOrderMark) {
		h.limit.r.Discard(len(byteOrderMark)) //nolint:errcheck // it was there
	}
	h.tokens = json.NewDecoder(h.limit)
	return h
}

// Skipped returns the entries that could not be read.
func (h *har) Skipped() *Skips { return &h.skips }

// Next returns the record of the next entry that has one.
func (h *har) Next() (*recording.Request, error) {
	if h.entries == nil {
		if err := h.enter(); err != nil {
			return nil, h.failure(err)
		}
		h.limit.left = math.MaxInt64 // each has its own
		h.entries = &elements{r: bufio.NewReaderSize(io.MultiReader(h.tokens.Buffered(), h.limit), 64<<10), limit: maxEntry}
		h.tokens = nil
	}
	for {
		text, size, err := h.entries.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case err != nil:
			return nil, h.failure(err)
		}
		h.number++
		if size > maxEntry {
			err = fmt.Errorf("it has %d bytes, more than %d MiB", size, maxEntry>>20)
		} else {
			err = h.read(text)
		}
		if err == nil {
			return &h.draft.Request, nil
		}
		h.skips.add("entry", h.number, err)
	}
}

// read makes a record of the text of an entry.
func (h *har) read(text []byte) error {
	var entry harEntry
	if err := json.Unmarshal(text, &entry); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("%s is not valid: it is a %s", cmp.Or(wrong.Field, "the entry"), wrong.Value)
		}
		return fmt.Errorf("it is not JSON: %v", err)
	}
	h.entries.forget() // it is as large as what comes of it
	h.draft.reset()
	if err := entry.fill(&h.draft); err != nil {
		return err
	}
	return h.draft.finish()
}

func (h *har) failure(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	return fmt.Errorf("HAR after %d entries: %w", h.number, err)
}

// enter goes on to the first entry.
func (h *har) enter() error {
	h.limit.left = maxEntry
	for _, name := range []string{"log", "entries"} {
		if err := h.open('{'); err != nil {
			return err
		}
		if err := h.member(name); err != nil {
			return err
		}
	}
	return h.open('[')
}

func (h *har) open(bracket json.Delim) error {
	token, err := h.tokens.Token()
	if err == nil && token != bracket {
		err = fmt.Errorf("'%v' is not valid: expected %c", token, bracket)
	}
	return err
}

// member goes on to the value of a member of an object.
func (h *har) member(name string) error {
	for h.tokens.More() {
		token, err := h.tokens.Token()
		if err != nil {
			return err
		}
		if token == name {
			return nil
		}
		for depth := 0; ; {
			h.limit.left = maxEntry
			token, err := h.tokens.Token()
			if err != nil {
				return err
			}
			switch token {
			case json.Delim('{'), json.Delim('['):
				depth++
			case json.Delim('}'), json.Delim(']'):
				depth--
			}
			if depth == 0 {
				break
			}
		}
	}
	return fmt.Errorf("it has no %s", name)
}

// valueLimit bounds how much is read for one value.
type valueLimit struct {
	r    *bufio.Reader
	left int64
}

func (l *valueLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("one is longer than %d MiB", maxEntry>>20)
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
