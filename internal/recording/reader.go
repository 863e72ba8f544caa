// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/fb"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/frame"
)

const (
	readAhead = 64 << 10

	// firstStep is how much memory a record gets before its bytes are there: its
	// length is not trusted with more.
	firstStep = 64 << 10

	// trusted is how many bytes of a record have to be there before it gets the
	// memory for all of its length: to double it once more could take twice that.
	trusted = 32 << 20

	// maxKept is the memory that is kept for the next record, if that needs less.
	maxKept = 8 << 20
)

// Reader reads a recording record by record. It takes the memory of one record,
// of up to 1 GiB, and 64 MiB besides while that grows.
type Reader struct {
	source  *bufio.Reader
	records *bufio.Reader // source, or what the LZ4 frames in it hold
	frames  *frame.Reader // nil if there are none
	buffer  []byte
	offset  int64
	count   int64
	err     error

	table         fb.Request // in the buffer
	responseTable fb.Response
	request       Request
	response      Response
}

// NewReader reads a recording from r, whether it is in LZ4 frames or plain.
func NewReader(r io.Reader) *Reader {
	return &Reader{source: bufio.NewReaderSize(r, readAhead)}
}

// Offset returns where the next record begins, in uncompressed bytes.
func (r *Reader) Offset() int64 { return r.offset }

// Unfinished reports, once Next has returned io.EOF, whether the recording has
// ended without its end mark: it is still being written, or its writer was
// killed. Only compressed recordings have one.
func (r *Reader) Unfinished() bool { return r.frames != nil && r.frames.Unfinished() }

// Uncompressed returns what the records are read from: the content of the LZ4
// frames, or the source itself. Looking ahead in it takes nothing from the Reader,
// and reading from it does.
func (r *Reader) Uncompressed() (*bufio.Reader, error) {
	if r.records == nil {
		if err := r.sniff(); err != nil {
			return nil, err
		}
	}
	return r.records, nil
}

// Next returns the next record. At the end of a whole recording, and of an
// empty one, the error is io.EOF; at a cut or damaged place it is a
// *DamageError, and if there has been no record at all it may be
// ErrNotRecording.
func (r *Reader) Next() (*Request, error) {
	if r.err == nil {
		r.err = r.next()
	}
	if r.err != nil {
		return nil, r.err
	}
	return &r.request, nil
}

func (r *Reader) next() error {
	if r.records == nil {
		if err := r.sniff(); err != nil {
			return err
		}
	}
	length, err := r.length()
	if err != nil {
		return err
	}
	if err := r.fill(length); err != nil {
		return r.damage(err)
	}
	if err := verify(r.buffer); err != nil {
		return r.unreadable(err)
	}
	r.decode()
	r.offset += prefixSize + int64(length)
	r.count++
	return nil
}

// sniff finds out whether the recording is compressed.
func (r *Reader) sniff() error {
	start, err := r.source.Peek(4)
	switch {
	case len(start) == 0 && errors.Is(err, io.EOF):
		return io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return r.damage(err)
	case frame.Is(start):
		r.frames = frame.NewReader(r.source, nil)
		r.records = bufio.NewReaderSize(r.frames, readAhead)
	default:
		r.records = r.source
	}
	return nil
}

// length reads the length of the next record. By the FlatBuffer's first bytes,
// which point into it, a length is known from the start of some other file.
func (r *Reader) length() (int, error) {
	prefix, err := r.records.Peek(prefixSize)
	switch {
	case len(prefix) == 0 && errors.Is(err, io.EOF):
		return 0, io.EOF
	case len(prefix) < prefixSize && errors.Is(err, io.EOF):
		return 0, r.unreadable(io.ErrUnexpectedEOF)
	case err != nil:
		return 0, r.damage(err)
	}
	length := binary.LittleEndian.Uint64(prefix)
	if length > MaxRecord {
		return 0, r.unreadable(fmt.Errorf("a record of %d bytes is larger than any can be", length))
	}
	if start, _ := r.records.Peek(prefixSize + rootSize); len(start) == prefixSize+rootSize {
		if root := binary.LittleEndian.Uint32(start[prefixSize:]); uint64(root) >= length {
			return 0, r.unreadable(errNotRequest)
		}
	}
	_, err = r.records.Discard(prefixSize)
	return int(length), err
}

// fill reads a record of the length, getting memory only as its bytes come in.
func (r *Reader) fill(length int) error {
	r.buffer = r.buffer[:0]
	if cap(r.buffer) > max(maxKept, 2*length) {
		r.buffer = nil
	}
	for len(r.buffer) < length {
		if len(r.buffer) == cap(r.buffer) {
			want := min(max(firstStep, 2*cap(r.buffer)), max(firstStep, length))
			if len(r.buffer) >= trusted {
				want = length
			}
			larger := make([]byte, len(r.buffer), want)
			copy(larger, r.buffer)
			r.buffer = larger
		}
		have := len(r.buffer)
		r.buffer = r.buffer[:min(cap(r.buffer), length)]
		if _, err := io.ReadFull(r.records, r.buffer[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// damage returns the error for bytes that cannot be read.
func (r *Reader) damage(err error) error {
	return &DamageError{Offset: r.offset, Records: r.count, Err: err}
}

// unreadable returns the error for bytes that can be read but are no record: if not
// even the first is one, this is no recording.
func (r *Reader) unreadable(err error) error {
	if r.count == 0 {
		return ErrNotRecording
	}
	return r.damage(err)
}

// decode fills the request from the verified bytes in the buffer.
func (r *Reader) decode() {
	t := &r.table
	t.Init(r.buffer, flatbuffers.GetUOffsetT(r.buffer))
	r.request = Request{
		ID:       t.Id(),
		Method:   t.Method(),
		URI:      t.Uri(),
		Headers:  withoutEmptyLine(t.Headers()),
		Body:     t.BodyBytes(),
		TimeNS:   t.TimeNs(),
		Scheme:   t.Scheme(),
		Host:     t.Host(),
		Proto:    t.Proto(),
		Remote:   t.Remote(),
		BodySize: t.BodySize(),
		Trailers: t.Trailers(),
		Error:    t.Error(),
	}
	response := t.Response(&r.responseTable)
	if response == nil {
		return
	}
	r.response = Response{
		Status:     int(response.Status()),
		Headers:    withoutEmptyLine(response.Headers()),
		Body:       response.BodyBytes(),
		BodySize:   response.BodySize(),
		Trailers:   response.Trailers(),
		DurationNS: response.DurationNs(),
		Error:      response.Error(),
	}
	r.request.Response = &r.response
}

// ErrNotRecording is what a Reader returns for something that does not start
// like a recording.
var ErrNotRecording = errors.New("not a recording")

// DamageError is the error of a recording that goes on with bytes that cannot be
// read. All whole records before them have been returned.
type DamageError struct {
	Offset  int64 // where the first record begins that is lost, in uncompressed bytes
	Records int64 // how many were read before
	Err     error
}

// Error returns where the damage is, what it is and how much was read before it.
func (e *DamageError) Error() string {
	what := "damaged"
	if errors.Is(e.Err, io.ErrUnexpectedEOF) {
		what = "cut off"
	}
	return fmt.Sprintf("recording is %s at byte %d (uncompressed), after %d whole records: %v", what, e.Offset, e.Records, e.Err)
}

// Unwrap returns the error of the layer that met the damage;
// io.ErrUnexpectedEOF means that the recording is cut off.
func (e *DamageError) Unwrap() error { return e.Err }

// File is a recording on disk.
type File struct {
	*Reader
	file *os.File
}

// OpenFile opens a recording. Whether it is one shows at the first call of Next.
func OpenFile(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &File{Reader: NewReader(file), file: file}, nil
}

// Name returns the path that the recording was opened by.
func (f *File) Name() string { return f.file.Name() }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
