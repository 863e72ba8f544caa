// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/zap"
	logged "go.uber.org/zap/zaptest/observer"
	"gocloud.dev/blob"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
	_ "github.com/caddy-rehearsal/rehearsal/stores/s3"
)

// stored is a recorder whose files go to a store.
type stored struct {
	*Recorder
	dir      string
	registry *prometheus.Registry
	logs     *logged.ObservedLogs
}

// openStored starts a recorder with one record a file.
func openStored(t *testing.T, url string, change func(*Options)) *stored {
	t.Helper()
	address, err := objects.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	o, of, registry := newObserver(t, "tee")
	core, logs := logged.New(zap.InfoLevel)
	o.logger.Store(zap.New(core))
	options := Options{Dir: t.TempDir(), RotateSize: 1}
	if change != nil {
		change(&options)
	}
	r, err := acquire(of, options.WithDefaults(), o, address)
	if err != nil {
		t.Fatal(err)
	}
	s := &stored{r, options.Dir, registry, logs}
	t.Cleanup(func() { _ = r.Release() })
	return s
}

func (s *stored) start() {
	s.Start()
	s.uploads.start()
}

// record records requests of /0, /1 and so on.
func (s *stored) record(t *testing.T, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		d := s.Begin()
		Describe(d, httptest.NewRequest("GET", fmt.Sprintf("http://shop.test/%d", i), nil))
		d.Add(t.Context())
		d.Release()
	}
}

// uploaded returns how many uploads had a result.
func (s *stored) uploaded(result string) int {
	return int(testutil.ToFloat64(s.observer.uploads.WithLabelValues(result)))
}

// inBucket returns how often the bucket has each record, by its target.
func inBucket(t *testing.T, store *caddytest.S3) map[string]int {
	t.Helper()
	found := make(map[string]int)
	for key, content := range store.Objects() {
		r := recording.NewReader(bytes.NewReader(content))
		record, err := r.Next()
		for ; err == nil; record, err = r.Next() {
			found[string(record.URI)]++
		}
		if err != io.EOF {
			t.Errorf("reading %s: %v", key, err)
		}
	}
	return found
}

// checkOnce checks that the bucket has the records of /0 to below /n once each.
func checkOnce(t *testing.T, store *caddytest.S3, n int) {
	t.Helper()
	found := inBucket(t, store)
	for i := range n {
		if got := found[fmt.Sprintf("http://shop.test/%d", i)]; got != 1 {
			t.Errorf("record %d is in the bucket %d times", i, got)
		}
	}
	if len(found) != n {
		t.Errorf("the bucket has %d different records, want %d", len(found), n)
	}
}

// TestUploadsSurviveABadStore sends 200 small files to a store that answers with
// errors, breaks off and thinks that it is another time.
func TestUploadsSurviveABadStore(t *testing.T) {
	surviveABadStore(t, caddytest.RunS3(t), time.Hour)
}

// surviveABadStore sends them to a store whose clock is ahead.
func surviveABadStore(t *testing.T, store *caddytest.S3, ahead time.Duration) {
	const files = 200
	var puts atomic.Int64
	store.Misbehave(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if now := time.Now().Add(ahead); err != nil || now.Sub(at).Abs() > 15*time.Minute {
			w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
			caddytest.S3Error(w, http.StatusForbidden, "RequestTimeTooSkewed")
			return
		}
		w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
		if r.Method != http.MethodPut {
			next.ServeHTTP(w, r)
			return
		}
		switch n := puts.Add(1); {
		case n%41 == 0:
			caddytest.S3Error(w, http.StatusServiceUnavailable, "SlowDown")
		case n%53 == 0: // the request breaks off
			_, _ = io.CopyN(io.Discard, r.Body, 20)
			caddytest.HangUp(w)
		case n%59 == 0: // the store has it, and its answer does not arrive
			next.ServeHTTP(httptest.NewRecorder(), r)
			caddytest.HangUp(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
	s := openStored(t, store.URL("shop"), nil)
	s.start()
	s.record(t, 0, files)
	s.Recorder.Recorder.Close()
	caddytest.Eventually(t, "all files are in the store", func() bool { return s.uploaded("uploaded")+s.uploaded("present") == files })
	checkOnce(t, store, files)
	if left := filesIn(t, s.dir); len(left) > 0 {
		t.Errorf("left in the directory: %q", left)
	}
	if pending := s.uploads.pendingBytes(); pending != 0 {
		t.Errorf("%d bytes pending", pending)
	}
	if s.uploaded("present") == 0 {
		t.Error("none was present, though answers were lost")
	}
	host := hostName()
	for key := range store.Objects() {
		if prefix, name := filepath.Split(key); prefix != "shop/"+host+"/" || !strings.HasPrefix(name, "requests_") {
			t.Errorf("got key %s", key)
		}
	}
	for _, entry := range s.logs.All() {
		if text := fmt.Sprint(entry.Message, entry.ContextMap()); strings.Contains(text, caddytest.S3Secret) {
			t.Errorf("the log has the secret: %s", text)
		}
	}
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// TestAStoreThatIsAwayDelaysOnly has a store away for a while: records go on, files
// wait in the directory and are counted, and go up when it is back.
func TestAStoreThatIsAwayDelaysOnly(t *testing.T) {
	store := caddytest.RunS3(t)
	store.Misbehave(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { caddytest.HangUp(w) })
	s := openStored(t, store.URL("shop/"), nil)
	s.start()
	s.record(t, 0, 20)
	s.Recorder.Recorder.Close()
	caddytest.Eventually(t, "a failure", func() bool { return s.uploaded("failed") > 0 })
	if got := len(filesIn(t, s.dir)); got != 20 {
		t.Errorf("%d files are here, want all 20", got)
	}
	if s.uploads.pendingBytes() == 0 {
		t.Error("nothing is pending")
	}
	if warned := s.logs.FilterMessageSnippet("uploading recording failed").Len(); warned != 1 {
		t.Errorf("%d warnings, want one a minute", warned)
	}
	store.Misbehave(nil)
	caddytest.Eventually(t, "all files are in the store", func() bool { return s.uploaded("uploaded") == 20 })
	checkOnce(t, store, 20)
}

// silent is a store that never says anything.
type silent struct {
	URL string `json:"url"`
}

func init() { caddy.RegisterModule(silent{}) }

func (silent) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "rehearsal.stores.silent", New: func() caddy.Module { return new(silent) }}
}

func (*silent) CheckURL(*url.URL) error { return nil }

func (*silent) OpenBucket(ctx context.Context, _ *url.URL) (*blob.Bucket, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestAStoreThatSaysNothingHoldsNobodyUp records, asks for metrics and ends while
// a store leaves its driver waiting.
func TestAStoreThatSaysNothingHoldsNobodyUp(t *testing.T) {
	observer, of, _ := newObserver(t, "tee")
	core, logs := logged.New(zap.InfoLevel)
	observer.logger.Store(zap.New(core))
	address, err := objects.Parse("silent://bucket")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		options := Options{Dir: dir, RotateSize: 1}.WithDefaults()
		s := stored{Recorder: &Recorder{Recorder: recorder.New(options, observer), owner: of, observer: observer, uploads: newUploads(address, &options, observer)}}
		observer.sendsTo(s.uploads)
		began := time.Now()
		s.start()
		s.record(t, 0, 3)
		s.Recorder.Recorder.Close()
		s.record(t, 3, 6)
		s.Recorder.Recorder.Close()
		if s.uploads.pendingBytes() == 0 {
			t.Error("nothing is pending")
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("recording took %s", took)
		}
		began = time.Now()
		s.uploads.end()
		if took := time.Since(began); took != uploadPatience {
			t.Errorf("the end took %s", took)
		}
		<-s.uploads.done
		s.uploads.end() // as the exit does what a reload has begun
	})
	if said := logs.FilterMessageSnippet("are not uploaded yet").Len(); said != 1 {
		t.Errorf("what is left was said %d times", said)
	}
	if got := filesIn(t, dir); len(got) != 6 {
		t.Errorf("%d files are here, want 6", len(got))
	}
}

// TestTheNextStartFindsWhatIsLeft leaves files behind whose store is away, as a
// crash does, one of them in the store already and one unfinished.
func TestTheNextStartFindsWhatIsLeft(t *testing.T) { findWhatIsLeft(t, caddytest.RunS3(t)) }

func findWhatIsLeft(t *testing.T, store *caddytest.S3) {
	first := openStored(t, store.URL("shop"), nil)
	first.Start() // and no uploads
	first.record(t, 0, 5)
	first.Recorder.Recorder.Close()
	names := filesIn(t, first.dir)
	if len(names) != 5 {
		t.Fatalf("got files %q", names)
	}
	// a crash between the upload and the removal
	one, err := os.ReadFile(filepath.Join(first.dir, names[0]))
	if err != nil {
		t.Fatal(err)
	}
	up := openStored(t, store.URL("shop"), nil)
	if err := os.WriteFile(filepath.Join(up.dir, names[0]), one, 0o600); err != nil {
		t.Fatal(err)
	}
	up.start()
	caddytest.Eventually(t, "one file is in the store", func() bool { return up.uploaded("uploaded") == 1 })
	// a file that was being written
	if err := os.Rename(filepath.Join(first.dir, names[1]), filepath.Join(first.dir, names[1]+".tmp")); err != nil {
		t.Fatal(err)
	}
	next := openStored(t, store.URL("shop"), func(o *Options) { o.Dir = first.dir })
	next.start()
	caddytest.Eventually(t, "all files are in the store", func() bool { return next.uploaded("uploaded") == 4 && next.uploaded("present") == 1 })
	checkOnce(t, store, 5)
	if left := filesIn(t, next.dir); len(left) > 0 {
		t.Errorf("left in the directory: %q", left)
	}
}

// TestTheEndSendsTheLastFile releases a recorder, as a reload or an exit does.
func TestTheEndSendsTheLastFile(t *testing.T) {
	store := caddytest.RunS3(t)
	s := openStored(t, store.URL(""), func(o *Options) { o.RotateSize = 1 << 20 })
	s.start()
	s.record(t, 0, 3)
	s.Close()
	checkOnce(t, store, 3)
	s.record(t, 3, 5) // by requests that outlive their configuration
	s.Close()
	checkOnce(t, store, 5)
}

// TestFilesThatKeepLetsGoAreLost has keep delete what a dead store did not take.
func TestFilesThatKeepLetsGoAreLost(t *testing.T) {
	store := caddytest.RunS3(t)
	store.Misbehave(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		caddytest.S3Error(w, http.StatusForbidden, "AccessDenied")
	})
	keep, err := recorder.ParseKeep("3")
	if err != nil {
		t.Fatal(err)
	}
	s := openStored(t, store.URL("x"), func(o *Options) { o.Keep = []recorder.Keep{keep} })
	s.start()
	s.record(t, 0, 10)
	s.Recorder.Recorder.Close()
	caddytest.Eventually(t, "lost files are counted", func() bool { return s.uploaded("lost") == 7 })
	if got := len(filesIn(t, s.dir)); got != 3 {
		t.Errorf("%d files are left, want 3", got)
	}
	if said := s.logs.FilterMessageSnippet("recording is lost").Len(); said != 7 {
		t.Errorf("%d were said to be lost, want 7", said)
	}
	store.Misbehave(nil)
	caddytest.Eventually(t, "the others are in the store", func() bool { return s.uploaded("uploaded") == 3 })
	if found := inBucket(t, store); len(found) != 3 || found["http://shop.test/9"] != 1 {
		t.Errorf("the bucket has %v", found)
	}
}

// TestNothingInTheBucketIsReplaced has other content under the name of a file.
func TestNothingInTheBucketIsReplaced(t *testing.T) { replaceNothing(t, caddytest.RunS3(t)) }

func replaceNothing(t *testing.T, store *caddytest.S3) {
	s := openStored(t, store.URL("shop"), nil)
	s.Start()
	s.record(t, 0, 1)
	s.Recorder.Recorder.Close()
	name := filesIn(t, s.dir)[0]
	key := "shop/" + hostName() + "/" + name
	address, err := objects.Parse(store.URL("shop"))
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := address.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	if err := bucket.Write(t.Context(), key, []byte("of somebody else")); err != nil {
		t.Fatal(err)
	}
	s.uploads.start()
	caddytest.Eventually(t, "the file is in the store", func() bool { return s.uploaded("uploaded") == 1 })
	all := store.Objects()
	if string(all[key]) != "of somebody else" || len(all) != 2 {
		t.Errorf("the bucket has %d objects, and the one of the name %q", len(all), all[key])
	}
	for key := range all {
		if _, _, ok := recorder.ParseName(filepath.Base(key)); !ok {
			t.Errorf("%s is not named like a recording", key)
		}
	}
}

// TestALargeFileGoesInParts uploads one that takes several, twice.
func TestALargeFileGoesInParts(t *testing.T) { sendALargeFile(t, caddytest.RunS3(t)) }

func sendALargeFile(t *testing.T, store *caddytest.S3) {
	s := openStored(t, store.URL("shop"), func(o *Options) {
		o.RotateSize = 64 << 20
		if err := o.Compression.UnmarshalText([]byte("none")); err != nil {
			t.Fatal(err)
		}
	})
	s.Start()
	body := make([]byte, 10<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(body)
	for range 3 {
		d := s.Begin()
		Describe(d, httptest.NewRequest("POST", "http://shop.test/large", nil))
		if err := d.ReadBody(t.Context(), bytes.NewReader(body)); err != nil {
			t.Fatal(err)
		}
		d.Add(t.Context())
		d.Release()
	}
	s.Recorder.Recorder.Close()
	name := filesIn(t, s.dir)[0]
	content, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	s.uploads.start()
	caddytest.Eventually(t, "the file is in the store", func() bool { return s.uploaded("uploaded") == 1 })
	if got := store.Objects()["shop/"+hostName()+"/"+name]; !bytes.Equal(got, content) {
		t.Errorf("the object has %d bytes, and not what the file had, %d", len(got), len(content))
	}
	if parts := store.Requests(http.MethodPut); parts < 4 {
		t.Errorf("it came in %d requests", parts)
	}
	if err := os.WriteFile(filepath.Join(s.dir, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
	before := store.Requests(http.MethodPut)
	s.uploads.add(filepath.Join(s.dir, name), int64(len(content)))
	caddytest.Eventually(t, "the file is found to be there", func() bool { return s.uploaded("present") == 1 })
	if again := store.Requests(http.MethodPut) - before; again != 0 {
		t.Errorf("it travelled again, in %d requests", again)
	}
}

// TestWhatIsNoRecordingStays has a file with a name of ours in the directory.
func TestWhatIsNoRecordingStays(t *testing.T) {
	store := caddytest.RunS3(t)
	s := openStored(t, store.URL("shop"), nil)
	strange := filepath.Join(s.dir, "requests_20261101T000000Z_000001-0000000a.fbf")
	if err := os.WriteFile(strange, []byte("dear diary, "), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.record(t, 0, 3)
	s.Close()
	checkOnce(t, store, 3)
	if got := filesIn(t, s.dir); len(got) != 1 {
		t.Errorf("the directory has %q", got)
	}
}

// TestFilesThatAreFinishedDuringALookAreSent has a file become whole when the
// directory has just been read: the end would not know of it otherwise.
func TestFilesThatAreFinishedDuringALookAreSent(t *testing.T) {
	observer, _, _ := newObserver(t, "tee")
	address, err := objects.Parse("silent://bucket")
	if err != nil {
		t.Fatal(err)
	}
	u := newUploads(address, &Options{Dir: t.TempDir(), Prefix: "requests"}, observer)
	u.add("gone", 1)
	known := u.known()
	there, err := recorder.Whole(u.dir, u.prefix)
	if err != nil {
		t.Fatal(err)
	}
	u.add("finished", 1)
	u.update(known, there)
	if due := u.due(); len(due) != 1 || due[0].path != "finished" {
		t.Errorf("%d files are due", len(due))
	}
}
