// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// watch follows a request whose copy has to wait for its body or for the
// primary's status, or that is recorded or compared. In the end it has sent the
// copy or dropped it, added the record, and handed over the response.
type watch struct {
	handler  *Handler
	copied   *snapshot       // nil if there is none, or it was sent
	body     *capture        // nil if the copy has no body to wait for
	response *responseWriter // nil if nobody asks how the primary responds
	record   *conversation   // nil if it is not recorded
	old      *keptResponse   // nil if it is not compared
	control  *http.ResponseController
}

// serveWatched lets the primary serve a request while it is watched.
func (h *Handler) serveWatched(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, copied *snapshot, old *keptResponse) error {
	watch := &watch{handler: h, copied: copied, old: old, control: http.NewResponseController(w)}
	reason, primary := none, errAborted
	original := r.Body
	defer func() {
		r.Body = original
		if old != nil && r.Context().Err() != nil {
			old.leave(primary)
		}
		watch.end(reason, primary)
	}()
	w = watch.start(w, r)
	err := h.servePrimary(w, r, next)
	primary = err
	reason = watch.responded(w, r, err)
	return err
}

// start puts itself between the request and the primary where it has to.
func (t *watch) start(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	if t.handler.recorder != nil {
		t.record = t.handler.converse(r)
	}
	if t.copied != nil && t.handler.Body == "" && r.ContentLength != 0 {
		t.body = newCapture(r, t.copied, t.handler.maxBody, t.bodyComplete)
		r.Body = t.body
		t.handler.shutdown.watch(r)
		if drainsFirst(w, r) {
			w = guard(w, t.body, t.handler.shutdown)
		}
	}
	switch {
	case t.record != nil && t.old != nil:
		t.response = watchResponse(w, r, t.record, t.old)
	case t.record != nil:
		t.response = watchResponse(w, r, t.record)
	case t.old != nil:
		t.response = watchResponse(w, r, t.old)
	case len(t.handler.OnlyStatus) > 0:
		t.response = watchResponse(w, r)
	default:
		return w
	}
	return t.response
}

// bodyComplete sends the copy at once when all of the body was captured, while
// the primary still reads it, unless the response decides.
func (t *watch) bodyComplete() {
	if len(t.handler.OnlyStatus) == 0 {
		t.send()
	}
}

// responded ends the watching when the primary is done. It returns why the copy
// is to be dropped if it is not sent.
func (t *watch) responded(w http.ResponseWriter, r *http.Request, err error) outcome {
	if t.response != nil {
		t.response.end(err)
		if !t.handler.wanted(t.response.final(err)) {
			return droppedStatus
		}
	}
	if t.body != nil {
		t.body.takeRest(t.control, w.Header(), err == nil, t.handler.shutdown)
		if reason := t.body.dropped(); reason != none {
			return reason
		}
	}
	if t.copied != nil {
		t.send()
	}
	return none
}

func (t *watch) send() {
	copied := t.copied
	t.copied = nil
	t.handler.send(copied)
}

// end drops the copy if it was not sent. Where the primary has aborted, the
// reason is a body that is not there, or else the status that never came.
func (t *watch) end(reason outcome, primary error) {
	unread := none
	if t.body != nil {
		t.body.takeOver(t.control, 0)
		unread = t.body.dropped()
		t.body.snapshot.release()
	}
	if t.copied != nil {
		t.handler.drop(cmp.Or(reason, unread, droppedStatus))
		t.copied.release()
	}
	if t.response != nil && errors.Is(primary, errAborted) {
		t.response.end(primary)
	}
	if t.record != nil {
		t.record.close(t.handler.wanted(t.response.final(primary)))
	}
	if t.old != nil {
		t.old.deliver()
	}
}
