// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

// Size returns the number of bytes that Append adds for r.
func Size(r *Request) int {
	n := requestLayout.end(rootSize)
	for _, data := range [...][]byte{r.ID, r.Method, r.URI, r.Body} {
		n += vectorSize(len(data))
	}
	n += vectorSize(len(r.Headers) + len(emptyLine))
	for _, data := range [...][]byte{r.Scheme, r.Host, r.Proto, r.Remote, r.Trailers, r.Error} {
		n += textSize(len(data))
	}
	if r.Response != nil {
		n = responseLayout.end(n)
		if len(r.Response.Headers) > 0 {
			n += vectorSize(len(r.Response.Headers) + len(emptyLine))
		}
		for _, data := range [...][]byte{r.Response.Body, r.Response.Trailers, r.Response.Error} {
			n += textSize(len(data))
		}
	}
	return prefixSize + n
}

func vectorSize(size int) int { return 4 + size + 4 - size%4 }

func textSize(size int) int {
	if size == 0 {
		return 0
	}
	return vectorSize(size)
}
