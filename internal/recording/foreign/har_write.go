// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const (
	harHead = `{"log":{"version":"1.2","creator":{"name":"caddy replay","version":"1"},"entries":[`
	harTail = "\n]}}\n"
)

type harWriter struct {
	w      io.Writer
	unpack Unpack
	losses Losses
	begun  bool
}

// Losses returns what HAR has no place for.
func (h *harWriter) Losses() Losses { return h.losses }

// Write writes an entry.
func (h *harWriter) Write(r *recording.Request) error {
	url, ok := absolute(r, true, h.losses)
	if !ok {
		return nil
	}
	h.losses.add(r.TimeNS == 0, "requests had no time, which HAR asks for")
	h.losses.add(len(r.Trailers) > 0, "requests had trailers")
	h.losses.add(len(r.Error) > 0, "requests had not come whole")
	h.losses.add(!utf8.Valid(r.Headers), "requests have header fields with bytes that are no text")
	entry := harEntry{
		Started: time.Unix(0, r.TimeNS).UTC().Format(time.RFC3339Nano),
		ID:      string(r.ID), Remote: string(r.Remote),
		Request: harRequest{
			Method: string(r.Method), URL: url, HTTPVersion: string(r.Proto), Cookies: []struct{}{}, Headers: harFields(r.Headers),
			QueryString: []harPair{}, HeadersSize: -1, BodySize: int64(max(r.BodySize, uint64(len(r.Body)))),
		},
		Response: &harResponse{HeadersSize: -1, BodySize: -1, Cookies: []struct{}{}, Headers: []harPair{}},
	}
	if r.TimeNS == 0 {
		entry.Started = ""
	}
	if len(r.Body) > 0 {
		entry.Request.PostData = &harPostData{MimeType: valueOf(r.Headers, "Content-Type")}
		entry.Request.PostData.Text, entry.Request.PostData.Encoding = harText(r.Body)
	}
	if a := r.Response; a != nil {
		h.answer(&entry, a)
	}
	return h.add(&entry)
}

func (h *harWriter) answer(entry *harEntry, a *recording.Response) {
	h.losses.add(len(a.Trailers) > 0, "answers had trailers")
	h.losses.add(len(a.Error) > 0 || a.Status == 0, "answers had not come whole")
	h.losses.add(!utf8.Valid(a.Headers), "answers have header fields with bytes that are no text")
	entry.Time = float64(a.DurationNS) / 1e6
	entry.Timings.Wait = entry.Time
	to := entry.Response
	to.Status, to.HTTPVersion, to.Headers = a.Status, entry.Request.HTTPVersion, harFields(a.Headers)
	to.RedirectURL = valueOf(a.Headers, "Location")
	to.Content.MimeType = valueOf(a.Headers, "Content-Type")
	to.Content.Size = int64(max(a.BodySize, uint64(len(a.Body))))
	body := a.Body
	if encoding := valueOf(a.Headers, "Content-Encoding"); encoding != "" && len(body) > 0 {
		unpacked, err := h.unpack(body, []byte(encoding))
		if err == nil {
			body, to.Content.Size = unpacked, int64(len(unpacked))
		}
		h.losses.add(err == nil, "answers are unpacked")
		h.losses.add(err != nil, "answers cannot be unpacked")
	}
	if len(body) > 0 {
		text, encoding := harText(body)
		to.Content.Text, to.Content.Encoding = &text, encoding
	}
}

func (h *harWriter) add(entry *harEntry) error {
	line, err := jsonOf(entry)
	if err != nil {
		return err
	}
	before := ",\n"
	if !h.begun {
		h.begun, before = true, harHead+"\n"
	}
	_, err = h.w.Write(append([]byte(before), bytes.TrimSuffix(line, []byte("\n"))...))
	return err
}

// Close ends the file.
func (h *harWriter) Close() error {
	end := harTail
	if !h.begun {
		end = harHead + harTail
	}
	_, err := io.WriteString(h.w, end)
	return err
}

func harFields(lines []byte) []harPair {
	fields := []harPair{}
	for name, value := range recording.EachField(lines) {
		fields = append(fields, harPair{string(name), string(value)})
	}
	return fields
}

// harText returns a body as a string of JSON, in base64 if it is no text.
func harText(body []byte) (text, encoding string) {
	if utf8.Valid(body) {
		return string(body), ""
	}
	return base64.StdEncoding.EncodeToString(body), "base64"
}

// jsonOf returns a value in one line, in which < and > are as they are.
func jsonOf(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.Bytes(), err
}
