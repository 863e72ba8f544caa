// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

// Size gives the number of bytes that Append adds for r.
func Size(r *Request) int {
	n := requestLayout.end(rootSize)
	for _, data := range [...][]byte{r.ID, r.Method, r.URI, r.Headers, r.Body} {
		n += vectorSize(data)
	}
	for _, data := range [...][]byte{r.Scheme, r.Host, r.Proto, r.Remote, r.Trailers, r.Error} {
		n += textSize(data)
	}
	if r.Response != nil {
		n = responseLayout.end(n)
		for _, data := range [...][]byte{r.Response.Headers, r.Response.Body, r.Response.Trailers, r.Response.Error} {
			n += textSize(data)
		}
	}
	return prefixSize + n
}

func vectorSize(data []byte) int { return 4 + len(data) + 4 - len(data)%4 }

func textSize(data []byte) int {
	if len(data) == 0 {
		return 0
	}
	return vectorSize(data)
}
