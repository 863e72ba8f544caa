// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// consumer is shown the primary's response in passing: its head, then its body
// part by part, then its end. It copies what it keeps, since all that it is
// shown belongs to the primary, and it never waits, since the client does.
//
// Its methods are called one after the other, on the goroutine of the handler
// or on one that it has started, while the request's body may be read on yet
// another. If the primary leaves the response to the error routes, or aborts
// it before it has begun, only end is called.
type consumer interface {
	// head is called when the final header is sent, never for a 1xx.
	head(status int, header http.Header)

	// body is called with what was written, and returns whether more of the body
	// is wanted. After false, files are sent without being read.
	body(part []byte) (more bool)

	// end is called once, when the primary is done or has aborted.
	end(end *responseEnd)
}

// responseEnd is how a response has ended.
type responseEnd struct {
	status   int         // that the client gets, also from the error routes; 0: none
	size     int64       // of the body that was written
	trailer  http.Header // nil: none
	duration time.Duration
	err      error // why the response is not whole, or nil if it is
}

var (
	errAborted  = errors.New("the primary aborted the response")
	errHijacked = errors.New("the primary took over the connection")
)

// responseWriter passes the primary's response on as it comes, and shows it to
// consumers. With none it knows the status.
type responseWriter struct {
	*caddyhttp.ResponseWriterWrapper
	consumers []consumer
	wanting   int // the first so many of the consumers want more of the body
	begun     time.Time

	isHead bool // the request is a HEAD
	status int  // 0: none yet
	length int64
	size   int64
	err    error // the first that kept the client from getting it all
}

// watchResponse wraps w for a request, whose time begins now.
func watchResponse(w http.ResponseWriter, r *http.Request, consumers ...consumer) *responseWriter {
	return &responseWriter{
		ResponseWriterWrapper: &caddyhttp.ResponseWriterWrapper{ResponseWriter: w},
		consumers:             consumers,
		wanting:               len(consumers),
		begun:                 time.Now(),
		isHead:                r.Method == http.MethodHead,
	}
}

// WriteHeader passes a status on. What is below 200 may come from other
// goroutines than the rest, and is not looked at.
func (w *responseWriter) WriteHeader(status int) {
	if status >= 200 && w.status == 0 {
		w.begin(status)
	}
	w.ResponseWriterWrapper.WriteHeader(status)
}

// implicit begins the response of a handler that writes no status.
func (w *responseWriter) implicit() {
	if w.status == 0 {
		w.begin(http.StatusOK)
	}
}

func (w *responseWriter) begin(status int) {
	w.status, w.length = status, -1
	if length := w.Header()["Content-Length"]; len(length) == 1 {
		if n, err := strconv.ParseInt(length[0], 10, 64); err == nil {
			w.length = n
		}
	}
	for _, c := range w.consumers {
		c.head(status, w.Header())
	}
}

// bodyless reports whether net/http sends no body, whatever is written.
func (w *responseWriter) bodyless() bool {
	return w.isHead || w.status == http.StatusNoContent || w.status == http.StatusNotModified
}

// Write passes a part of the body on.
func (w *responseWriter) Write(p []byte) (int, error) {
	w.implicit()
	n, err := w.ResponseWriterWrapper.Write(p)
	w.wrote(p[:max(0, min(n, len(p)))], err)
	return n, err
}

func (w *responseWriter) wrote(part []byte, err error) {
	if w.bodyless() {
		return
	}
	w.err = cmp.Or(w.err, err)
	w.size += int64(len(part))
	for i := 0; i < w.wanting && len(part) > 0; {
		if w.consumers[i].body(part) {
			i++
			continue
		}
		w.wanting--
		w.consumers[i], w.consumers[w.wanting] = w.consumers[w.wanting], w.consumers[i]
	}
}

var pieces = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// ReadFrom reads as long as somebody wants to see the body. The rest of a file
// the system may send by itself.
func (w *responseWriter) ReadFrom(r io.Reader) (total int64, err error) {
	w.implicit()
	if w.wanting > 0 && !w.bodyless() {
		piece := pieces.Get().(*[32 << 10]byte)
		defer pieces.Put(piece)
		for w.wanting > 0 {
			n, readErr := r.Read(piece[:])
			if n > 0 {
				n, err = w.Write(piece[:n])
				total += int64(n)
			}
			switch {
			case err != nil:
				return total, err
			case readErr == io.EOF:
				return total, nil
			case readErr != nil:
				return total, readErr
			}
		}
	}
	n, err := w.ResponseWriterWrapper.ReadFrom(r)
	if !w.bodyless() {
		w.size += n
		w.err = cmp.Or(w.err, err)
	}
	return total + n, err
}

// FlushError sends the client what there is.
func (w *responseWriter) FlushError() error {
	w.implicit()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is FlushError for handlers that know no errors.
func (w *responseWriter) Flush() { _ = w.FlushError() }

// Hijack hands over the connection, behind which no response is seen.
func (w *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.err = cmp.Or(w.err, errHijacked)
	}
	return conn, buffered, err
}

// final returns the status of a response after the primary returned err. Nothing
// written means that the error routes answer, or an empty 200.
func (w *responseWriter) final(err error) int {
	switch {
	case w.status != 0:
		return w.status
	case errors.Is(err, errAborted) || w.err != nil:
		return 0
	case err == nil:
		return http.StatusOK
	}
	if handlerErr, ok := errors.AsType[caddyhttp.HandlerError](err); ok && handlerErr.StatusCode != 0 {
		return handlerErr.StatusCode
	}
	return http.StatusInternalServerError
}

// end shows the consumers how the response has ended, after the primary
// returned err or, with errAborted, did not return.
func (w *responseWriter) end(err error) {
	if len(w.consumers) == 0 {
		return
	}
	if err == nil && w.err == nil {
		w.implicit()
	}
	end := &responseEnd{
		status:   w.final(err),
		size:     w.size,
		trailer:  w.trailer(),
		duration: time.Since(w.begun),
		err:      cmp.Or(w.err, err),
	}
	if end.err == nil && w.size < w.length && !w.bodyless() {
		end.err = io.ErrUnexpectedEOF
	}
	for _, c := range w.consumers {
		c.end(end)
	}
}

// trailer returns the fields that follow the body: those that the header has
// announced, and those that it has not.
func (w *responseWriter) trailer() (trailer http.Header) {
	add := func(name string, values []string) {
		if trailer == nil {
			trailer = make(http.Header)
		}
		trailer[name] = append(trailer[name], values...)
	}
	if w.status == 0 {
		return nil
	}
	for _, list := range w.Header()["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			name = http.CanonicalHeaderKey(strings.TrimSpace(name))
			if values := w.Header()[name]; len(values) > 0 && trailer[name] == nil {
				add(name, values)
			}
		}
	}
	for name, values := range w.Header() {
		if name, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			add(name, values)
		}
	}
	return trailer
}
