// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

// Request is one recorded request. All its bytes are as they were on the wire,
// never re-encoded.
//
// The byte slices of a Request that a Reader returns alias the Reader's
// memory: they are valid until the next call of Next.
type Request struct {
	ID     []byte
	Method []byte

	// URI is the raw request target.
	URI []byte

	// Headers has one "Name: value" line for each field, ended by CR LF, Host
	// first. EachField takes it apart.
	Headers []byte

	Body []byte

	// TimeNS is when the request arrived, in nanoseconds since 1970, or 0 if
	// that is not known.
	TimeNS int64

	Scheme []byte // http or https
	Host   []byte
	Proto  []byte // HTTP/1.1
	Remote []byte // address and port of the client

	// BodySize is how many bytes of body the client sent. 0 with a body means
	// that the recording does not say.
	BodySize uint64

	// Trailers has lines like Headers.
	Trailers []byte

	// Response is what the request was answered with, or nil if only the
	// request was recorded.
	Response *Response

	// Error says why the request did not arrive whole, for example because its
	// client broke off. It is empty for a whole request.
	Error []byte
}

// Response is the recorded response to a request.
type Response struct {
	Status   int
	Headers  []byte // lines like those of Request
	Body     []byte
	BodySize uint64 // what was sent; more than the body if that was cut
	Trailers []byte

	// DurationNS is the time in nanoseconds from the arrival of the request to
	// the end of the response.
	DurationNS int64

	// Error says why there is no whole response. It is empty for a whole one.
	Error []byte
}

// Truncated tells whether the record has less of the body than the client sent.
func (r *Request) Truncated() bool { return r.BodySize > uint64(len(r.Body)) }

// Truncated tells whether the record has less of the body than was sent.
func (r *Response) Truncated() bool { return r.BodySize > uint64(len(r.Body)) }
