// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// errTooLarge is returned by unpack for what unpacks to more than is taken.
var errTooLarge = errors.New("it unpacks to more than the limit")

// maxPackings bounds how often a body may be packed.
const maxPackings = 3

// unpacker holds one reader for each encoding, made when first needed.
type unpacker struct {
	source bytes.Reader
	gzip   *gzip.Reader
	brotli *brotli.Reader
	zstd   *zstd.Decoder
}

// unpack returns the content of a body, in dst if it was packed. It fails for
// one whose content is larger than limit or that is not packed as encoding
// says; a body that was cut when it was kept is unpacked as far as it goes.
// An encoding that isn't known leaves the body as it is.
func (u *unpacker) unpack(dst, body, encoding []byte, limit int, cut bool) ([]byte, error) {
	packings := bytes.Split(encoding, []byte{','})
	if len(packings) > maxPackings {
		return body, nil
	}
	for i := len(packings) - 1; i >= 0 && len(body) > 0; i-- {
		u.source.Reset(body)
		reader, err := u.reader(string(bytes.ToLower(bytes.TrimSpace(packings[i]))))
		if err != nil {
			return body, err
		}
		if reader == nil {
			return body, nil
		}
		if i < len(packings)-1 {
			dst = nil // it is what is read
		}
		dst, err = readAtMost(dst[:0], reader, limit)
		if cut && errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		if err != nil {
			return body, err
		}
		body = dst
	}
	return body, nil
}

// Unpacked returns the content of a response's body for people to read, at most
// limit bytes of it. What cannot be unpacked is returned as it is.
func Unpacked(r *Response, limit int) []byte {
	content := r.Body
	packings := bytes.Split(value(appendFields(nil, r.Header), "Content-Encoding"), []byte{','})
	for i := len(packings) - 1; i >= 0 && len(packings) <= maxPackings; i-- {
		u := new(unpacker)
		u.source.Reset(content)
		reader, err := u.reader(string(bytes.ToLower(bytes.TrimSpace(packings[i]))))
		if err != nil || reader == nil {
			break
		}
		unpacked, _ := io.ReadAll(io.LimitReader(reader, int64(limit)))
		content = unpacked
		if u.zstd != nil {
			u.zstd.Close()
		}
	}
	return content[:min(len(content), limit)]
}

// reader returns what unpacks u.source, nil for no known packing.
func (u *unpacker) reader(encoding string) (io.Reader, error) {
	var err error
	switch encoding {
	case "gzip", "x-gzip":
		if u.gzip == nil {
			u.gzip, err = gzip.NewReader(&u.source)
			return u.gzip, err
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
	return nil, nil
}

// readAtMost appends everything that a reader has, and fails where it is more
// than limit.
func readAtMost(dst []byte, r io.Reader, limit int) ([]byte, error) {
	for {
		if len(dst) > limit {
			return dst, errTooLarge
		}
		if len(dst) == cap(dst) {
			dst = append(dst, make([]byte, min(max(len(dst), 4096), limit+1-len(dst)))...)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), limit+1)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			if len(dst) > limit {
				return dst, errTooLarge
			}
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}
