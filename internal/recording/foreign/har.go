// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// maxEntry is the most bytes of one entry of a HAR file. It takes that memory,
// and some five times as much while it becomes a record. A longer one is left out.
const maxEntry = 64 << 20

var harStart = regexp.MustCompile(`^\s*\{\s*"log"\s*:`)

func beginsHAR(text []byte) bool { return harStart.Match(text) }

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
