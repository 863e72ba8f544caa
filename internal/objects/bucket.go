// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Bucket is one bucket or container of a store. Its methods may be called from
// several goroutines.
type Bucket struct {
	address *Address
	bucket  *blob.Bucket
}

// Close ends the use of the bucket.
func (b *Bucket) Close() error { return b.bucket.Close() }

// Missing reports whether the store says that there is no such bucket. One that may
// not be listed, or whose store is away, is not missing.
func (b *Bucket) Missing(ctx context.Context) bool {
	there, err := b.bucket.IsAccessible(ctx)
	return !there && err == nil
}

const (
	// Large is from how many bytes on a file goes up in several parts.
	Large = 16 << 20

	partSize    = 8 << 20
	partsAtOnce = 3

	// stalledAfter is how long an upload or a download may go on without a byte, and
	// a question without an answer.
	stalledAfter = 2 * time.Minute

	// sumField is where an object has the SHA-256 of its content, in hexadecimal.
	sumField = "sha256"

	contentType = "application/octet-stream"
)

var errStalled = fmt.Errorf("nothing was transferred for %s", stalledAfter)

// Uploaded is what became of a file.
type Uploaded struct {
	Key     string // of the object that has its content
	Present bool   // the object was there already
}

// Upload puts a file into the bucket, unless that has it already, and returns when
// the store has confirmed it. An object that is there is never replaced: if it
// has other content, the file gets a name with its own checksum in it.
func (b *Bucket) Upload(ctx context.Context, key string, file *os.File) (Uploaded, error) {
	sum, size, err := checksum(file)
	if err != nil {
		return Uploaded{}, err
	}
	for _, key := range []string{key, renamed(key, sum)} {
		there, err := b.put(ctx, key, file, sum, size)
		if err != nil {
			return Uploaded{}, b.failed(key, err)
		}
		if !there {
			return Uploaded{Key: key}, nil
		}
		switch same, err := b.has(ctx, key, sum, size); {
		case err != nil:
			return Uploaded{}, b.failed(key, err)
		case same:
			return Uploaded{Key: key, Present: true}, nil
		}
	}
	return Uploaded{}, fmt.Errorf("%s is there already with other content", b.address.name(key))
}

// put uploads a file if there is no object of the key, and reports whether there
// is one. What is large is asked for before: it would travel in vain.
func (b *Bucket) put(ctx context.Context, key string, file *os.File, sum string, size int64) (there bool, err error) {
	ctx, watch := watched(ctx)
	defer watch.stop()
	if size >= Large {
		switch there, err := b.bucket.Exists(ctx, key); {
		case err != nil:
			return false, watch.cause(err)
		case there:
			return true, nil
		}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	err = b.bucket.Upload(ctx, key, &seekable{file, watch}, &blob.WriterOptions{
		ContentType: contentType, Metadata: map[string]string{sumField: sum},
		IfNotExist: true, BufferSize: partSize, MaxConcurrency: partsAtOnce,
	})
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return true, nil
	}
	return false, watch.cause(err)
}

// has reports whether an object has a certain content, which it says itself unless
// others have put it there.
func (b *Bucket) has(ctx context.Context, key, sum string, size int64) (bool, error) {
	attributes, err := b.attributes(ctx, key)
	if err != nil {
		return false, err
	}
	if attributes.Size != size {
		return false, nil
	}
	if said := attributes.Metadata[sumField]; said != "" {
		return said == sum, nil
	}
	content := b.Reader(ctx, key, size)
	defer content.Close()
	read, _, err := checksum(content)
	return read == sum, err
}

// attributes returns what the store says of an object.
func (b *Bucket) attributes(ctx context.Context, key string) (*blob.Attributes, error) {
	ctx, watch := watched(ctx)
	defer watch.stop()
	attributes, err := b.bucket.Attributes(ctx, key)
	return attributes, watch.cause(err)
}

// ownName is the form of a recording's name, whose random part can be replaced.
var ownName = regexp.MustCompile(`-[0-9a-f]{8}(\.fbf(\.lz4)?)$`)

// renamed returns the key with a checksum in place of the random part of the name.
func renamed(key, sum string) string {
	if at := ownName.FindStringSubmatchIndex(key); at != nil {
		return key[:at[0]] + "-" + sum[:8] + key[at[2]:]
	}
	return path.Join(path.Dir(key), sum[:8]+"-"+path.Base(key))
}

// checksum returns the SHA-256 of what is read to the end, and its size.
func checksum(from io.Reader) (sum string, size int64, err error) {
	hash := sha256.New()
	if size, err = io.Copy(hash, from); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}

// Write puts content into an object, in place of what it has.
func (b *Bucket) Write(ctx context.Context, key string, content []byte) error {
	ctx, watch := watched(ctx)
	defer watch.stop()
	err := b.bucket.Upload(ctx, key, bytes.NewReader(content), &blob.WriterOptions{ContentType: contentType, BufferSize: partSize, MaxConcurrency: partsAtOnce})
	if err = watch.cause(err); err != nil {
		return b.failed(key, err)
	}
	return nil
}

// Object is something that a bucket has.
type Object struct {
	Key      string
	Name     string // what messages call it
	Size     int64
	Modified time.Time // when it was put there
}

// List returns the objects whose keys begin with a prefix, in their order.
func (b *Bucket) List(ctx context.Context, prefix string) ([]Object, error) {
	ctx, watch := watched(ctx)
	defer watch.stop()
	var all []Object
	each := b.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		object, err := each.Next(ctx)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err = watch.cause(err); err != nil {
			return nil, b.failed(prefix, err)
		}
		watch.moved()
		if !object.IsDir {
			all = append(all, Object{Key: object.Key, Name: b.address.name(object.Key), Size: object.Size, Modified: object.ModTime})
		}
	}
}

// Find returns an object, nil if there is none of the key.
func (b *Bucket) Find(ctx context.Context, key string) (*Object, error) {
	attributes, err := b.attributes(ctx, key)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return nil, nil
	case err != nil:
		return nil, b.failed(key, err)
	}
	return &Object{Key: key, Name: b.address.name(key), Size: attributes.Size, Modified: attributes.ModTime}, nil
}

// seekable is a file that notes when something is read of it.
type seekable struct {
	file  *os.File
	watch *watch
}

func (s *seekable) Read(p []byte) (int, error) {
	s.watch.moved()
	return s.file.Read(p)
}

func (s *seekable) Seek(offset int64, whence int) (int64, error) { return s.file.Seek(offset, whence) }

// watch ends a transfer in which nothing moves.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func watched(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{ctx: ctx, cancel: cancel, timer: time.AfterFunc(stalledAfter, func() { cancel(errStalled) })}
}

func (w *watch) moved() { w.timer.Reset(stalledAfter) }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// cause returns why a transfer failed: what ended it, if anything did.
func (w *watch) cause(err error) error {
	if err != nil && errors.Is(context.Cause(w.ctx), errStalled) {
		return errStalled
	}
	return err
}

// failure is an error of a driver, in one line and without the queries of URLs,
// which some stores have signatures in.
type failure struct {
	name string // of what it is about
	err  error
}

// failed returns what went wrong with an object, or with those of a prefix.
func (b *Bucket) failed(key string, err error) error { return failure{b.address.name(key), err} }

var queries = regexp.MustCompile(`(https?://[^\s?"']*)\?[^\s"']*`)

// Error returns the name and the driver's text.
func (f failure) Error() string {
	text := strings.Join(strings.Fields(f.err.Error()), " ")
	return f.name + ": " + queries.ReplaceAllString(text, "$1?...")
}

// Unwrap returns the driver's error.
func (f failure) Unwrap() error { return f.err }
