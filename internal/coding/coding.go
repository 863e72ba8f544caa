// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package coding unpacks bodies of HTTP messages that are packed as their
// Content-Encoding has it, within a limit.
package coding

import (
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// What Unpack fails with, beside the errors of a body that is not packed as its
// encoding has it.
var (
	ErrTooLarge = errors.New("it unpacks to more than the limit")
	ErrUnknown  = errors.New("its encoding is not known")
)

// maxPackings bounds how often a body may be packed.
const maxPackings = 3

// Unpacker unpacks bodies. It holds one reader for each encoding, made when
// first needed. The zero value is ready; it is not for concurrent use.
type Unpacker struct {
	source bytes.Reader
	gzip   *gzip.Reader
	brotli *brotli.Reader
	zstd   *zstd.Decoder
	zlib   io.ReadCloser
	flate  io.ReadCloser
}

// Unpack returns the content of a body with a Content-Encoding of gzip, deflate,
// br or zstd, or several in the order in which they were applied, in the memory of
// dst if it is large enough. A body that is not packed is returned itself.
//
// With an error comes what was unpacked before it: up to limit bytes with
// ErrTooLarge, nothing with ErrUnknown, and what there is of a body that was cut
// off with io.ErrUnexpectedEOF.
func (u *Unpacker) Unpack(dst, body, encoding []byte, limit int) ([]byte, error) {
	packings := bytes.Split(encoding, []byte{','})
	if len(packings) > maxPackings {
		return nil, ErrUnknown
	}
	var cut error
	unpacked := false
	for i := len(packings) - 1; i >= 0 && len(body) > 0; i-- {
		name := string(bytes.ToLower(bytes.TrimSpace(packings[i])))
		if name == "" || name == "identity" {
			continue
		}
		if unpacked {
			dst = nil // it is what is read
		}
		u.source.Reset(body)
		reader, err := u.reader(name, body)
		if err != nil {
			return nil, err
		}
		body, err = readAtMost(dst[:0], reader, limit)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			cut = err
		case err != nil && i > 0:
			return nil, err // what there is may be packed still
		case err != nil:
			return body, err
		}
		unpacked = true
	}
	return body, cut
}

// reader returns what unpacks u.source, which has a body.
func (u *Unpacker) reader(encoding string, body []byte) (io.Reader, error) {
	var err error
	switch encoding {
	case "deflate":
		return u.deflated(body)
	case "gzip", "x-gzip":
		if u.gzip == nil {
			u.gzip = new(gzip.Reader)
		}
		return u.gzip, u.gzip.Reset(&u.source)
	case "br":
		if u.brotli == nil {
			u.brotli = brotli.NewReader(&u.source)
			return u.brotli, nil
		}
		return u.brotli, u.brotli.Reset(&u.source)
	case "zstd":
		if u.zstd == nil {
			u.zstd, err = zstd.NewReader(&u.source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
			return u.zstd, err
		}
		return u.zstd, u.zstd.Reset(&u.source)
	}
	return nil, ErrUnknown
}

// deflated returns what unpacks deflate: zlib as RFC 9110 has it, or without its
// wrapping, as some servers send it. The first bytes tell them apart: for a
// deflated stream those of zlib are a block that nobody writes.
func (u *Unpacker) deflated(body []byte) (io.Reader, error) {
	var err error
	switch {
	case len(body) < 2 || body[0]&0x0f != 8 || (uint(body[0])<<8|uint(body[1]))%31 != 0:
		if u.flate == nil {
			u.flate = flate.NewReader(&u.source)
			return u.flate, nil
		}
		return u.flate, u.flate.(flate.Resetter).Reset(&u.source, nil)
	case u.zlib == nil:
		u.zlib, err = zlib.NewReader(&u.source)
		return u.zlib, err
	}
	return u.zlib, u.zlib.(zlib.Resetter).Reset(&u.source, nil)
}

// readAtMost appends everything that a reader has, and fails where it is more
// than limit.
func readAtMost(dst []byte, r io.Reader, limit int) ([]byte, error) {
	for {
		if len(dst) > limit {
			return dst[:limit], ErrTooLarge
		}
		if len(dst) == cap(dst) {
			dst = append(dst, make([]byte, min(max(len(dst), 4096), limit+1-len(dst)))...)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), limit+1)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			if len(dst) > limit {
				return dst[:limit], ErrTooLarge
			}
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}
