// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"mime"
	"net/url"
	"strings"
)

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
