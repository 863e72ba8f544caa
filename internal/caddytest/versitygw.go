// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package caddytest

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

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
