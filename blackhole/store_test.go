// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	_ "github.com/caddy-rehearsal/rehearsal/stores/s3"
)

// runProcess runs a Caddy of its own with one site, until it answers.
func runProcess(t *testing.T, addr, directives string) *exec.Cmd {
	t.Helper()
	config := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(config, []byte("{\nadmin off\npersist_config off\n}\n"+site(addr, directives)), 0o600); err != nil {
		t.Fatal(err)
	}
	process := caddytest.Command(t, "run", "--config", config)
	process.Stderr = new(bytes.Buffer)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Caddy runs", func() bool {
		resp, err := client.Head("http://" + addr + "/awaited")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	return process
}

// addRecords adds how often a recording has each target.
func addRecords(t *testing.T, to map[string]int, name string, content []byte) {
	t.Helper()
	r := recording.NewReader(bytes.NewReader(content))
	record, err := r.Next()
	for ; err == nil; record, err = r.Next() {
		to[string(record.URI)]++
	}
	if err != io.EOF && !strings.HasSuffix(name, ".tmp") {
		t.Errorf("reading %s: %v", name, err)
	}
}

// TestKilledInTheMiddleOfUploads kills a Caddy while it sends 200 small files to a
// slow store, and starts another: every record is in the bucket once.
func TestKilledInTheMiddleOfUploads(t *testing.T) { killInTheMiddle(t, caddytest.RunS3(t)) }

func killInTheMiddle(t *testing.T, store *caddytest.S3) {
	const requests = 200
	store.Misbehave(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPut {
			timer := time.NewTimer(40 * time.Millisecond)
			defer timer.Stop()
			<-timer.C
		}
		next.ServeHTTP(w, r)
	})
	dir := t.TempDir()
	addr := caddytest.Addr(t)
	directives := "blackhole {\nrecord " + dir + " {\nflush_every 20ms\nrotate_size 1\nstore " + store.URL("killed") + "\n}\n}"
	process := runProcess(t, addr, directives)
	for i := range requests {
		post(t, fmt.Sprintf("http://%s/%d", addr, i), "body")
	}
	eventually(t, "all is on disk or in the store", func() bool {
		found := make(map[string]int)
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if content, err := os.ReadFile(file); err == nil {
				addRecords(t, found, file+".tmp", content)
			}
		}
		for key, content := range store.Objects() {
			addRecords(t, found, key, content)
		}
		return len(found) == requests+1
	})
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // says that it was killed
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if sent := len(store.Objects()); sent == 0 || len(left) == 0 {
		t.Fatalf("it was killed at no good moment: %d files are in the store, %d are left", sent, len(left))
	}
	store.Misbehave(nil)
	again := runProcess(t, addr, directives)
	eventually(t, "nothing is left but what is written now", func() bool {
		whole, err := filepath.Glob(filepath.Join(dir, "*.lz4"))
		return err == nil && len(whole) == 0
	})
	if err := again.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := again.Wait(); err != nil {
		t.Fatalf("stopping: %v\n%s", err, again.Stderr)
	}
	found := make(map[string]int)
	for key, content := range store.Objects() {
		addRecords(t, found, key, content)
	}
	for i := range requests {
		if n := found[fmt.Sprintf("/%d", i)]; n != 1 {
			t.Errorf("record %d is in the bucket %d times", i, n)
		}
	}
	if found["/awaited"] != 2 || len(found) != requests+1 {
		t.Errorf("the bucket has %d different records, of which those that awaited Caddy are %d", len(found), found["/awaited"])
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left in the directory: %q", left)
	}
	for _, said := range []any{process.Stderr, again.Stderr} {
		if text := fmt.Sprint(said); strings.Contains(text, caddytest.S3Secret) {
			t.Errorf("the log has the secret:\n%s", text)
		}
	}
}

// TestReloadsLoseNoFile loads configurations that change the recorder while files
// go up.
func TestReloadsLoseNoFile(t *testing.T) {
	store := caddytest.RunS3(t)
	dir := t.TempDir()
	addr := caddytest.Addr(t)
	config := func(load int) string {
		return site(addr, fmt.Sprintf("blackhole {\nname %s\nrecord %s {\nrotate_size 1\nrotate_every %dm\nstore %s\n}\n}", "reloaded", dir, load+1, store.URL("r")))
	}
	server := caddytest.Run(t, config(0))
	for i := range 60 {
		if i%20 == 19 {
			server.Reload(config(i))
		}
		post(t, fmt.Sprintf("http://%s/%d", addr, i), "body")
	}
	stop(t)
	eventually(t, "nothing is left", func() bool {
		left, _ := filepath.Glob(filepath.Join(dir, "*"))
		return len(left) == 0
	})
	found := make(map[string]int)
	for key, content := range store.Objects() {
		addRecords(t, found, key, content)
	}
	for i := range 60 {
		if n := found[fmt.Sprintf("/%d", i)]; n != 1 {
			t.Errorf("record %d is in the bucket %d times", i, n)
		}
	}
}

// TestStoresThatCannotWorkAreRefused holds the errors to having the line, and
// nothing that is secret.
func TestStoresThatCannotWorkAreRefused(t *testing.T) {
	caddytest.SetS3Credentials(t)
	for url, want := range map[string]string{
		"s3://bucket/prefix?endpoint=http://127.0.0.1:1&region=eu-west-1&use_path_style=false": "",
		"s3://bucket":                        "",
		"recordings":                         "parsing store: not the URL of an object store: expected one like s3://bucket/prefix, at Caddyfile:",
		"s3:///prefix":                       "not the URL of an object store",
		"s3://AKIA:hidden@bucket/x":          "s3://bucket has credentials in its URL",
		"s3://AKIA:hid/den@bucket/x":         "not the URL of an object store",
		"s3://b?secret_access_key=hidden":    "s3://b: secret_access_key would be a credential in a URL",
		"s3://b?X-Amz-Signature=hidden":      "X-Amz-Signature would be a credential in a URL",
		"s3://b?aws_session_token=hidden":    "aws_session_token would be a credential in a URL",
		"s3://b?regoin=hidden":               "s3://b: 'regoin' is no option of this store: expected one of accelerate, anonymous, dualstack, endpoint, ",
		"s3://b?region=a&region=hidden":      "region is given 2 times",
		"s3://b?endpoint=hidden":             "endpoint is not the URL of a store",
		"s3://b?endpoint=http://a:hidden@h/": "endpoint has more than scheme, host and path",
		"s3://b:9000/x":                      "a bucket has no port",
		"s3://b/x#hidden":                    "a # in a name is written %23",
		"ftp://bucket/x":                     "there is no store for ftp:// in this Caddy: expected one of s3://",
	} {
		_, err := caddytest.Adapt(":80 {\nblackhole {\nrecord " + t.TempDir() + " {\nstore \"" + url + "\"\n}\n}\n}\n")
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got error %v, want %q", url, err, want)
		case err != nil && (strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "hid/den")):
			t.Errorf("%s: the error has what is secret: %v", url, err)
		}
	}
	for config, want := range map[string]string{
		`{"scheme": "s3", "url": "s3://b", "more": 1}`: "unknown field",
		`{"scheme": "s3"}`:                    "store: not the URL of an object store",
		`{"scheme": "s3", "url": "gs://b"}`:   "store: there is no store for gs://",
		`{"scheme": "gs", "url": "s3://b"}`:   "unknown module: rehearsal.stores.gs",
		`{"url": "s3://b"}`:                   "scheme",
		`{"scheme": "s3", "url": "{env.NO}"}`: "store: ",
	} {
		addr := caddytest.Addr(t)
		err := caddytest.Run(t, site(addr, "respond ok")).LoadJSON([]byte(`{"apps": {"http": {"servers": {"a": {"listen": ["` + addr + `"],
			"routes": [{"handle": [{"handler": "blackhole", "record": {"dir": "` + t.TempDir() + `", "store": ` + config + `}}]}]}}}}}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", config, err, want)
		}
		stop(t)
	}
}

// TestPlaceholdersInStores has the bucket in the environment, which stays out of
// what is adapted.
func TestPlaceholdersInStores(t *testing.T) {
	store := caddytest.RunS3(t)
	t.Setenv("TEST_BUCKET", caddytest.S3Bucket)
	dir := t.TempDir()
	directives := "blackhole {\nrecord " + dir + " {\nstore s3://{env.TEST_BUCKET}/p?endpoint=" + store.Endpoint + "\n}\n}"
	addr := caddytest.Addr(t)
	config, err := caddytest.Adapt(site(addr, directives))
	if err != nil || !strings.Contains(string(config), `"url":"s3://{env.TEST_BUCKET}/p`) || strings.Contains(string(config), caddytest.S3Secret) {
		t.Errorf("adapted to %s, error %v", config, err)
	}
	caddytest.Run(t, site(addr, directives))
	post(t, "http://"+addr+"/", "body")
	stop(t)
	eventually(t, "the bucket has the file", func() bool { return len(store.Objects()) == 1 })
}
