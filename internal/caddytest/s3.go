// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package caddytest

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// S3 is an object store that speaks S3's protocol and can misbehave.
type S3 struct {
	// Endpoint is its URL.
	Endpoint string

	// Folder has the objects as files, if it is one of versitygw.
	Folder string

	t       testing.TB
	objects func() (map[string][]byte, error)

	mu      sync.Mutex
	fault   Fault
	counted map[string]int // requests, by their method
}

const s3Key = "AKIAIOSFODNN7EXAMPLE" //nolint:gosec // of no account

// S3Bucket is the one bucket that the store has.
const S3Bucket = "recordings"

// S3Secret is the secret key that the environment has for the store, to be found
// nowhere else.
const S3Secret = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY" //nolint:gosec // of no account

// RunS3 starts a store in memory, whose credentials are in the environment of the
// test.
func RunS3(t testing.TB) *S3 {
	t.Helper()
	SetS3Credentials(t)
	backend := s3mem.New()
	if err := backend.CreateBucket(S3Bucket); err != nil {
		t.Fatalf("making a bucket: %v", err)
	}
	store := gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0), gofakes3.WithIntegrityCheck(true)).Server()
	return inFrontOf(t, store, func() (map[string][]byte, error) { return inMemory(backend) })
}

// inFrontOf returns a store that another handler is, as long as it behaves.
func inFrontOf(t testing.TB, store http.Handler, objects func() (map[string][]byte, error)) *S3 {
	t.Helper()
	s := &S3{t: t, objects: objects, counted: make(map[string]int)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.counted[r.Method]++
		fault := s.fault
		s.mu.Unlock()
		if fault == nil {
			store.ServeHTTP(w, r)
		} else {
			fault(w, r, store)
		}
	}))
	t.Cleanup(server.Close)
	s.Endpoint = server.URL
	return s
}

// SetS3Credentials sets the variables of the environment in which S3's users
// have their credentials, and hides all others of this machine.
func SetS3Credentials(t testing.TB) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": s3Key, "AWS_SECRET_ACCESS_KEY": S3Secret, "AWS_SESSION_TOKEN": "",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none",
		"AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
}

// URL returns that of a place in the bucket.
func (s *S3) URL(path string) string {
	return "s3://" + S3Bucket + "/" + path + "?endpoint=" + s.Endpoint
}

// Fault answers a request in place of the store, which it may ask.
type Fault func(w http.ResponseWriter, r *http.Request, store http.Handler)

// Misbehave makes a fault answer all requests; nil makes the store behave
// again.
func (s *S3) Misbehave(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Requests returns how many requests with a method came.
func (s *S3) Requests(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counted[method]
}

// Objects returns the contents of all objects by their keys.
func (s *S3) Objects() map[string][]byte {
	s.t.Helper()
	all, err := s.objects()
	if err != nil {
		s.t.Fatalf("reading the bucket: %v", err)
	}
	return all
}

func inMemory(backend *s3mem.Backend) (map[string][]byte, error) {
	list, err := backend.ListBucket(S3Bucket, nil, gofakes3.ListBucketPage{})
	if err != nil {
		return nil, err
	}
	all := make(map[string][]byte)
	for _, item := range list.Contents {
		object, err := backend.GetObject(S3Bucket, item.Key, nil)
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(object.Contents)
		if err = errors.Join(err, object.Contents.Close()); err != nil {
			return nil, err
		}
		all[item.Key] = content
	}
	return all, nil
}

// S3Error answers a request with one of the store's errors.
func S3Error(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>`+code+`</Code><Message>said by a test</Message></Error>`)
}

// HangUp closes the connection of a request without an answer.
func HangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		conn.Close()
	}
}

// CutAfter returns a response of which a body breaks off after some bytes.
func CutAfter(w http.ResponseWriter, bytes int) http.ResponseWriter {
	return &cutting{ResponseWriter: w, left: bytes}
}

type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) <= c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// Eventually waits until something holds, and fails the test if it does not within
// a minute.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// RunVersitygw starts versitygw, an S3 server whose buckets are folders, behind a
// proxy that can misbehave. Its credentials are in the environment of the test.
func RunVersitygw(t testing.TB) *S3 {
	t.Helper()
	SetS3Credentials(t)
	root := t.TempDir()
	bucket := filepath.Join(root, S3Bucket)
	if err := os.Mkdir(bucket, 0o750); err != nil {
		t.Fatal(err)
	}
	addr := Addr(t)
	gateway := exec.Command("versitygw", "--port", addr, "posix", "--sidecar", t.TempDir(), root)
	gateway.Env = append(os.Environ(), "ROOT_ACCESS_KEY_ID="+s3Key, "ROOT_SECRET_ACCESS_KEY="+S3Secret)
	peertest.Start(t, gateway, addr)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr}) // which leaves the signed Host
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	s := inFrontOf(t, proxy, func() (map[string][]byte, error) { return inFolder(bucket) })
	s.Folder = bucket
	return s
}

// inFolder returns the contents of all files below a folder, by their names.
func inFolder(folder string) (map[string][]byte, error) {
	all := make(map[string][]byte)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".sgwtmp"): // what is not whole
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		key, err := filepath.Rel(folder, path)
		if err == nil {
			all[filepath.ToSlash(key)], err = os.ReadFile(path) //nolint:gosec // the test's own folder
		}
		return err
	})
	return all, err
}
