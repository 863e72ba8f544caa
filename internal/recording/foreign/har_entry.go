// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// harEntry is an entry of HAR 1.2. The fields with an underscore are ours, as the
// form has it for what it does not name.
type harEntry struct {
	Started  string       `json:"startedDateTime"`
	Time     float64      `json:"time"`
	Request  harRequest   `json:"request"`
	Response *harResponse `json:"response,omitempty"`
	Cache    struct{}     `json:"cache"`
	Timings  harTimings   `json:"timings"`
	ID       string       `json:"_id,omitempty"`
	Remote   string       `json:"_remote,omitempty"`
}

type harTimings struct {
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type harRequest struct {
	Method      string       `json:"method"`
	URL         string       `json:"url"`
	HTTPVersion string       `json:"httpVersion"`
	Cookies     []struct{}   `json:"cookies"`
	Headers     []harPair    `json:"headers"`
	QueryString []harPair    `json:"queryString"`
	PostData    *harPostData `json:"postData,omitempty"`
	HeadersSize int64        `json:"headersSize"`
	BodySize    int64        `json:"bodySize"`
}

type harPostData struct {
	MimeType string     `json:"mimeType"`
	Params   []harParam `json:"params,omitempty"`
	Text     string     `json:"text"`
	Encoding string     `json:"encoding,omitempty"`
}

type harParam struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	FileName    string `json:"fileName"`
	ContentType string `json:"contentType"`
}

type harResponse struct {
	Status      int        `json:"status"`
	StatusText  string     `json:"statusText"`
	HTTPVersion string     `json:"httpVersion"`
	Cookies     []struct{} `json:"cookies"`
	Headers     []harPair  `json:"headers"`
	Content     harContent `json:"content"`
	RedirectURL string     `json:"redirectURL"`
	HeadersSize int64      `json:"headersSize"`
	BodySize    int64      `json:"bodySize"`
}

type harContent struct {
	Size     int64   `json:"size"`
	MimeType string  `json:"mimeType"`
	Text     *string `json:"text,omitempty"`
	Encoding string  `json:"encoding,omitempty"`
}

// fill makes a record of an entry.
func (e *harEntry) fill(d *draft) error {
	d.Method = []byte(e.Request.Method)
	if err := d.setURL(e.Request.URL); err != nil {
		return err
	}
	d.login = "" // browsers say it in the header
	d.ID, d.Remote, d.Proto = []byte(e.ID), []byte(e.Remote), []byte(strings.ToUpper(e.Request.HTTPVersion))
	if at, err := time.Parse(time.RFC3339Nano, e.Started); err == nil {
		d.TimeNS = at.UnixNano()
	}
	for _, h := range e.Request.Headers {
		d.field(h.Name, h.Value)
	}
	if err := e.Request.body(d); err != nil {
		return err
	}
	if e.Response == nil || e.Response.Status <= 0 || e.Response.Status > 999 { // none came
		return nil
	}
	return e.Response.fill(d.answer(e.Response.Status), int64(math.Round(e.Time*1e6)))
}

// body fills in the body of the request.
func (r *harRequest) body(d *draft) error {
	post := r.PostData
	if post == nil {
		d.BodySize = uint64(max(r.BodySize, contentLength(d.fields), 0)) // browsers leave out some bodies
		return nil
	}
	switch {
	case post.Encoding == "base64":
		body, err := base64.StdEncoding.DecodeString(post.Text)
		if err != nil {
			return fmt.Errorf("its postData is not base64: %v", err)
		}
		d.Body = body
	case post.Text != "":
		d.Body = []byte(post.Text)
	case len(post.Params) > 0:
		d.Body = post.encode()
	}
	sent := contentLength(d.fields)
	if sent < 0 {
		sent = r.BodySize
	}
	if post.Text != "" && post.Encoding == "" && sent != int64(len(d.Body)) {
		if narrow := narrowed(post.Text); sent == int64(len(narrow)) {
			d.Body = narrow
		}
	}
	d.BodySize = uint64(max(sent, int64(len(d.Body))))
	return nil
}

// narrowed returns the bytes of which each was taken for a character, nil if
// there are characters beyond.
func narrowed(text string) []byte {
	narrow := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return nil
		}
		narrow = append(narrow, byte(r))
	}
	return narrow
}

// encode makes a body of the parameters of a form.
func (p *harPostData) encode() []byte {
	var form formBody
	form.boundary = boundaryOf(p.MimeType)
	for _, param := range p.Params {
		form.add(param.Name, param.Value, param.FileName, param.ContentType)
	}
	return form.bytes()
}

// fill makes a response. Its content is unpacked already, and so its header does
// not call it packed.
func (r *harResponse) fill(to *recording.Response, durationNS int64) error {
	if r.Content.Text != nil {
		to.Body = []byte(*r.Content.Text)
		if r.Content.Encoding == "base64" {
			body, err := base64.StdEncoding.DecodeString(*r.Content.Text)
			if err != nil {
				return fmt.Errorf("the content of its response is not base64: %v", err)
			}
			to.Body = body
		}
	}
	to.BodySize = uint64(max(r.Content.Size, int64(len(to.Body))))
	to.DurationNS = max(durationNS, 0)
	packed := len(to.Body) > 0 && slices.ContainsFunc(r.Headers, func(h harPair) bool { return strings.EqualFold(h.Name, "Content-Encoding") })
	for _, h := range r.Headers {
		switch {
		case strings.HasPrefix(h.Name, ":"):
		case packed && strings.EqualFold(h.Name, "Content-Encoding"):
		case packed && strings.EqualFold(h.Name, "Content-Length"):
			to.Headers = http1.AppendField(to.Headers, h.Name, fmt.Sprint(len(to.Body)))
		default:
			for value := range strings.SplitSeq(h.Value, "\n") { // so browsers join those of one name
				to.Headers = http1.AppendField(to.Headers, h.Name, value)
			}
		}
	}
	return nil
}
