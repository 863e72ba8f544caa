// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// draft is a record in the making. Its memory is used again.
type draft struct {
	recording.Request
	fields   []byte // the lines of Headers, of which Host comes first in the end
	response recording.Response
	login    string // user and password of a URL
}

func (d *draft) reset() {
	fields := d.fields[:0]
	if cap(fields) > maxLineKept {
		fields = nil
	}
	*d = draft{fields: fields}
}

// setURL takes scheme, host and target from a URL, whose bytes are kept.
func (d *draft) setURL(text string) error {
	text, _, _ = strings.Cut(text, "#")
	scheme, rest, found := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	if !found || scheme != "http" && scheme != "https" {
		return fmt.Errorf("'%s' is not a URL of http or https", shorten(text))
	}
	host, target := rest, "/"
	if at := strings.IndexAny(rest, "/?"); at >= 0 {
		host, target = rest[:at], rest[at:]
	}
	if target[0] == '?' {
		target = "/" + target
	}
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		d.login, host = host[:at], host[at+1:]
	}
	if host == "" {
		return fmt.Errorf("'%s' has no host", shorten(text))
	}
	d.Scheme, d.Host, d.URI = []byte(scheme), []byte(host), []byte(target)
	return nil
}

// field adds a header field. A name of HTTP/2's own is left out; that of the
// host is kept apart.
func (d *draft) field(name, value string) {
	switch {
	case strings.HasPrefix(name, ":"):
	case http1.FieldOf(name) == http1.Host:
		if value != "" {
			d.Host = []byte(value)
		}
	default:
		d.fields = http1.AppendField(d.fields, name, value)
	}
}

// has reports whether there is a field of the name.
func (d *draft) has(name string) bool {
	for n := range recording.EachField(d.fields) {
		if strings.EqualFold(string(n), name) {
			return true
		}
	}
	return false
}

// finish makes the header of the fields, and refuses what is no request.
func (d *draft) finish() error {
	if !http1.IsToken(d.Method) || !http1.IsTarget(d.URI) {
		return fmt.Errorf("'%s' is not a request line", shorten(string(d.Method)+" "+string(d.URI)))
	}
	if len(d.Host) > 0 && (!http1.IsTarget(d.Host) || bytes.ContainsAny(d.Host, `/?#@\`)) {
		return fmt.Errorf("'%s' is not a host", shorten(string(d.Host)))
	}
	if d.login != "" && !d.has("Authorization") {
		d.field("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(unescape(d.login))))
	}
	for name, value := range recording.EachField(d.fields) {
		if !http1.IsToken(name) || !http1.IsLine(value) {
			return fmt.Errorf("'%s' is not a header field", shorten(string(name)))
		}
	}
	if len(d.Host) > 0 {
		d.Headers = append(http1.AppendField(nil, "Host", string(d.Host)), d.fields...)
	} else {
		d.Headers = bytes.Clone(d.fields)
	}
	d.BodySize = max(d.BodySize, uint64(len(d.Body)))
	if d.Request.Response != nil {
		d.response.BodySize = max(d.response.BodySize, uint64(len(d.response.Body)))
	}
	return nil
}

// answer adds an empty response of the status to the record and returns it.
func (d *draft) answer(status int) *recording.Response {
	d.response = recording.Response{Status: status}
	d.Request.Response = &d.response
	return &d.response
}

// contentLength returns the length that a header says, -1 if it says none.
func contentLength(lines []byte) int64 {
	for name, value := range recording.EachField(lines) {
		if http1.FieldOf(name) == http1.ContentLength {
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 62); err == nil && n >= 0 {
				return n
			}
		}
	}
	return -1
}

func isChunked(lines []byte) bool {
	for name, value := range recording.EachField(lines) {
		if http1.FieldOf(name) == http1.TransferEncoding && bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
			return true
		}
	}
	return false
}

// unescape decodes what percent signs escape, or returns the text.
func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// shorten cuts a text that is part of a message.
func shorten(text string) string {
	const most = 80
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

var errCut = errors.New("it is cut off")

// formBoundary is between the parts of a form of which nobody has said it.
const formBoundary = "------------------------caddy-replay-form"

// formBody is the body of a form: in parts if it has a boundary, else in one line.
type formBody struct {
	boundary string
	out      bytes.Buffer
}

// boundaryOf returns the boundary of a form in parts, empty for another.
func boundaryOf(contentType string) string {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" {
		return ""
	}
	if params["boundary"] == "" {
		return formBoundary
	}
	return params["boundary"]
}

func (f *formBody) add(name, value, file, contentType string) {
	if f.boundary == "" {
		if f.out.Len() > 0 {
			f.out.WriteByte('&')
		}
		f.out.WriteString(url.QueryEscape(unescape(name)) + "=" + url.QueryEscape(unescape(value)))
		return
	}
	quote := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A").Replace
	f.out.WriteString("--" + f.boundary + "\r\nContent-Disposition: form-data; name=\"" + quote(name) + `"`)
	if file != "" {
		f.out.WriteString(`; filename="` + quote(file) + `"`)
	}
	if contentType != "" {
		f.out.WriteString("\r\nContent-Type: " + contentType)
	}
	f.out.WriteString("\r\n\r\n" + value + "\r\n")
}

func (f *formBody) bytes() []byte {
	if f.boundary != "" {
		f.out.WriteString("--" + f.boundary + "--\r\n")
	}
	return f.out.Bytes()
}
