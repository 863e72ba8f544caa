// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
	_ "github.com/caddy-rehearsal/rehearsal/stores/s3"
)

// hosts writes recordings as several machines keep them: in a folder for each,
// files of some records each, begun a minute apart. The records of all are
// interleaved in time.
func hosts(t *testing.T, files, records int) (folder string) {
	t.Helper()
	return hostsWith(t, files, records, time.Minute)
}

func hostsWith(t *testing.T, files, records int, apart time.Duration) (folder string) {
	t.Helper()
	folder = t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for _, host := range []string{"web-1", "web-2"} {
		if err := os.Mkdir(filepath.Join(folder, host), 0o750); err != nil {
			t.Fatal(err)
		}
		for file := range files {
			begun := time.Unix(0, origin).Add(time.Duration(file) * apart).UTC()
			var e recording.Encoder
			var data []byte
			for i := range records {
				at := begun.Add(time.Duration(i)*apart/time.Duration(records) + time.Duration(random.IntN(1e6)))
				id := fmt.Sprintf("%s-%d-%d", host, file, i)
				data = e.Append(data, &recording.Request{
					ID: []byte(id), Method: []byte("POST"), URI: []byte("/" + id), Host: []byte("shop.test"), TimeNS: at.UnixNano(),
					Headers: []byte("Host: shop.test\r\nContent-Length: 300\r\n\r\n"), Body: []byte(strings.Repeat("body", 75)), BodySize: 300,
				})
			}
			name := fmt.Sprintf("requests_%s_%06d-%08x.fbf", begun.Format("20060102T150405Z"), begun.Nanosecond()/1000, random.Uint32())
			if err := os.WriteFile(filepath.Join(folder, host, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folder
}

// upload puts all files of a folder into a store, below a prefix.
func upload(t *testing.T, store *caddytest.S3, prefix, folder string) {
	t.Helper()
	address, err := objects.Parse(store.URL(prefix))
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := address.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	files, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		below, err := filepath.Rel(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bucket.Upload(t.Context(), prefix+"/"+filepath.ToSlash(below), file); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
}

// idsOf returns the identifiers of records, in their order.
func idsOf(records []*recording.Request) (ids []string) {
	for _, r := range records {
		ids = append(ids, string(r.ID))
	}
	return ids
}

// TestReplayFromAStoreIsThatOfTheFiles reads the recordings of two machines from
// a bucket and from folders: the records are the same, in the same order.
func TestReplayFromAStoreIsThatOfTheFiles(t *testing.T) { replayFromAStore(t, caddytest.RunS3(t)) }

func replayFromAStore(t *testing.T, store *caddytest.S3) {
	folder := hosts(t, 5, 200)
	upload(t, store, "shop", folder)
	want := read(t, filepath.Join(folder, "web-1"), filepath.Join(folder, "web-2"))
	if len(want) != 2000 {
		t.Fatalf("there are %d records", len(want))
	}
	for name, args := range map[string][]string{
		"prefix":          {store.URL("shop")},
		"prefix/":         {store.URL("shop/")},
		"bucket":          {store.URL("")},
		"host by host":    {store.URL("shop/web-1"), store.URL("shop/web-2/")},
		"twice":           {store.URL("shop"), store.URL("shop/web-2")},
		"store and files": {filepath.Join(folder, "web-2"), store.URL("shop/web-1")},
	} {
		if got := read(t, args...); !slices.Equal(idsOf(got), idsOf(want)) {
			t.Errorf("%s: got %d records, and not those of the files, %d, in their order", name, len(got), len(want))
		} else if string(got[77].Body) != string(want[77].Body) {
			t.Errorf("%s: got body %q", name, got[77].Body)
		}
	}
	target := serve(t, nil)
	if o := replay(t, "--max", "--to", target.url, store.URL("shop")); o.status != 0 {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
	sent := make(map[string]int)
	for _, r := range target.got() {
		sent[r.URL.Path]++
	}
	if len(sent) != 2000 || len(target.got()) != 2000 {
		t.Errorf("%d requests came, %d different ones", len(target.got()), len(sent))
	}
	if o := show(t, "-n", "1", store.URL("shop")); o.status != 0 || !strings.Contains(o.stdout, "/web-") {
		t.Errorf("status %d: %s%s", o.status, o.stdout, o.stderr)
	}
	file := filepath.Join(t.TempDir(), "all.fbf")
	c := new(converting)
	if o := execute(t, t.Context(), nil, c, []string{"-o", file, store.URL("shop")}); o.status != 0 {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
	if got := read(t, file); !slices.Equal(idsOf(got), idsOf(want)) {
		t.Errorf("%d records are converted", len(got))
	}
}

// TestConversationsInAStore has links found in a bucket, and a simulator learned of
// it, as of the file.
func TestConversationsInAStore(t *testing.T) {
	store := caddytest.RunS3(t)
	file := visits(t, 12)
	folder := filepath.Join(t.TempDir(), "shop", "web-1")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(file, filepath.Join(folder, "visits.fbf")); err != nil {
		t.Fatal(err)
	}
	upload(t, store, "all", filepath.Dir(folder))
	if got, want := links(t, store.URL("all")), links(t, file); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	got, want := learnWith(t, "-o", "-", store.URL("all")), learnWith(t, "-o", "-", file)
	if got.status != 0 || got.stdout != want.stdout {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestACutConnectionGoesOn has every connection break off after some bytes, and
// the store answer with an error now and then: all is read, and no byte twice.
func TestACutConnectionGoesOn(t *testing.T) { goOnWhereItBroke(t, caddytest.RunS3(t)) }

func goOnWhereItBroke(t *testing.T, store *caddytest.S3) {
	folder := hosts(t, 2, 400)
	upload(t, store, "shop", folder)
	var gets atomic.Int64
	var mu sync.Mutex
	var ranges []string
	store.Misbehave(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodGet || r.URL.Query().Has("list-type") {
			next.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		ranges = append(ranges, r.Header.Get("Range"))
		mu.Unlock()
		if gets.Add(1)%5 == 0 {
			caddytest.S3Error(w, http.StatusServiceUnavailable, "SlowDown")
			return
		}
		next.ServeHTTP(caddytest.CutAfter(w, 50_000), r)
	})
	want := read(t, filepath.Join(folder, "web-1"), filepath.Join(folder, "web-2"))
	if got := read(t, store.URL("shop")); !slices.Equal(idsOf(got), idsOf(want)) {
		t.Errorf("got %d records, want %d", len(got), len(want))
	}
	if !slices.Contains(ranges, "bytes=50000-") || !slices.Contains(ranges, "bytes=100000-") {
		t.Errorf("asked for %q", ranges)
	}
}

// TestAnObjectThatIsGoneIsNoted deletes one of two between listing and reading.
func TestAnObjectThatIsGoneIsNoted(t *testing.T) {
	store := caddytest.RunS3(t)
	upload(t, store, "shop", hosts(t, 2, 10))
	store.Misbehave(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/web-2/") && r.Method == http.MethodGet {
			caddytest.S3Error(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		next.ServeHTTP(w, r)
	})
	target := serve(t, nil)
	o := replay(t, "--max", "--to", target.url, store.URL("shop"))
	if o.status != exitIncomplete || !strings.Contains(o.stderr, "s3://recordings/shop/web-2/requests_") || !strings.Contains(o.stderr, "NoSuchKey") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
	if got := len(target.got()); got != 20 {
		t.Errorf("%d requests came, want the 20 that are there", got)
	}
}

// TestTimesInNamesChooseObjects counts the objects that --since and --until have
// opened.
func TestTimesInNamesChooseObjects(t *testing.T) { chooseByNames(t, caddytest.RunS3(t)) }

func chooseByNames(t *testing.T, store *caddytest.S3) {
	folder := hostsWith(t, 90, 3, time.Hour)
	upload(t, store, "shop", folder)
	at := func(hour int) string {
		return time.Unix(0, origin).Add(time.Duration(hour) * time.Hour).UTC().Format(time.RFC3339)
	}
	for name, tc := range map[string]struct {
		flags []string
		want  int // objects
	}{
		"all":      {nil, 180},
		"since":    {[]string{"--since", at(60)}, 2 * 54},                    // from 36 on: earlier ones began a day before
		"until":    {[]string{"--until", at(10)}, 2 * 11},                    // up to 10
		"between":  {[]string{"--since", at(40), "--until", at(41)}, 2 * 26}, // 16 to 41
		"relative": {[]string{"--since", "5h", "--until", "6h"}, 180},        // of the first record
		"nothing":  {[]string{"--since", at(1000)}, 2 * 1},                   // the last may go on
		"before":   {[]string{"--since", at(-1000), "--until", at(-900)}, 0},
		"mixed":    {[]string{"--since", at(60), "--until", "70h"}, 180}, // what is relative needs the first record
		"methods":  {[]string{"--since", at(60), "--method", "GET"}, 2 * 54},
	} {
		target := serve(t, nil)
		local := serve(t, nil)
		before := store.Requests(http.MethodGet)
		o := replay(t, append([]string{"--max", "-c", "1", "--to", target.url, store.URL("shop")}, tc.flags...)...)
		opened := store.Requests(http.MethodGet) - before - 1 // listing
		if opened != tc.want {
			t.Errorf("%s: %d objects were opened, want %d: %s", name, opened, tc.want, o.stderr)
		}
		replay(t, append([]string{"--max", "-c", "1", "--to", local.url, filepath.Join(folder, "web-1"), filepath.Join(folder, "web-2")}, tc.flags...)...)
		if said := strings.Contains(o.stderr, "s3://recordings/shop: none of the 180 recordings is of between --since and --until"); said != (tc.want == 0) {
			t.Errorf("%s: %s", name, o.stderr)
		}
		if got, want := len(target.got()), len(local.got()); got != want {
			t.Errorf("%s: %d requests, and %d from the files", name, got, want)
		}
	}
}

// TestTimesOfTheStoreChooseObjects has recordings of two recorders in one folder,
// of which one is written for an hour while the other begins new ones.
func TestTimesOfTheStoreChooseObjects(t *testing.T) {
	object := func(begun, modified string) objects.Object {
		at, err := time.Parse(time.RFC3339, "2026-11-30T"+modified+":00Z")
		if err != nil {
			t.Fatal(err)
		}
		return objects.Object{Key: "web-1/requests_20261130T" + strings.Replace(begun, ":", "", 1) + "00Z_000000-00000001.fbf.lz4", Modified: at}
	}
	all := []objects.Object{object("10:00", "11:00"), object("10:01", "10:02"), object("10:02", "10:03"), object("10:58", "10:59")}
	for since, want := range map[string]int{"09:00": 4, "10:10": 4, "10:30": 2, "11:10": 2, "11:16": 0} {
		moment, err := source.ParseMoment("2026-11-30T" + since + ":00Z")
		if err != nil {
			t.Fatal(err)
		}
		s := &selection{since: moment}
		if got := s.within(all); len(got) != want {
			t.Errorf("since %s: got %v, want %d", since, got, want)
		}
	}
}

// TestStoresThatHaveNothing holds the errors to naming what was asked for.
func TestStoresThatHaveNothing(t *testing.T) {
	store := caddytest.RunS3(t)
	for url, want := range map[string]string{
		store.URL("shop"): "'s3://recordings/shop' has no recording: expected objects named *.fbf or *.lz4",
		strings.Replace(store.URL("shop"), "//recordings", "//other", 1): "s3://other/shop",
		"gs://bucket/shop":              "there is no store for gs:// in this Caddy: expected one of s3://",
		"s3://key:secret@bucket/":       "s3://bucket has credentials in its URL",
		"s3://bucket/a/../b":            "s3://bucket: an empty part of the path, . and .. mean nothing in a store",
		"s3://bucket/a//b":              "s3://bucket: an empty part of the path, . and .. mean nothing in a store",
		"s3://bucket/a?anonymous=maybe": "s3://bucket: anonymous is 'maybe': expected true or false",
		"s3://bucket/a?role=admin":      "s3://bucket: role is 'admin': expected an ARN",
		"s3://bucket/a?ssetype=none":    "s3://bucket: ssetype is 'none': expected AES256 or aws:kms",
	} {
		o := replay(t, "--to", "http://127.0.0.1:1", url)
		if o.status != exitNotStarted || !strings.Contains(o.stderr, want) || strings.Contains(o.stderr, "secret@") {
			t.Errorf("%s: status %d: %s", url, o.status, o.stderr)
		}
	}
}

// TestReportsInAStore has the shards of a run put their reports into a bucket,
// which `caddy replay report` takes all of.
func TestReportsInAStore(t *testing.T) { keepReports(t, caddytest.RunS3(t)) }

func keepReports(t *testing.T, store *caddytest.S3) {
	folder := hosts(t, 2, 100)
	upload(t, store, "shop", folder)
	target := serve(t, nil)
	var failed atomic.Int64
	store.Misbehave(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPut && failed.Add(1) <= 3 {
			caddytest.S3Error(w, http.StatusServiceUnavailable, "SlowDown")
			return
		}
		next.ServeHTTP(w, r)
	})
	for shard := 1; shard <= 2; shard++ {
		from := store.URL("shop")
		if shard == 2 { // a machine that has copies
			from = filepath.Join(folder, "*", "*")
		}
		o := replay(t, "--max", "--shard", fmt.Sprintf("%d/2", shard), "--to", target.url, "--report", fmt.Sprintf("json=%s", store.URL(fmt.Sprintf("reports/%d.json", shard))), from)
		if o.status != 0 {
			t.Fatalf("shard %d: status %d: %s", shard, o.status, o.stderr)
		}
	}
	if got := len(target.got()); got != 400 {
		t.Fatalf("%d requests came", got)
	}
	o := merge(t, store.URL("reports/"), "--report", "json="+store.URL("whole/all.json"), "--fail", "errors=0")
	if o.status != 0 {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
	if o := merge(t, store.URL("whole/all.json")); o.status != 0 || !strings.Contains(o.stdout, "requests                         400") {
		t.Errorf("status %d: %s%s", o.status, o.stdout, o.stderr)
	}
	if o := merge(t, "--baseline", store.URL("whole/all.json"), "--fail", "p99<100x baseline", store.URL("whole/all.json")); o.status != 0 {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{store.URL("reports/1.json")}, "shard"},
		{[]string{store.URL("none/")}, "'s3://recordings/none/' has no report: expected objects named *.json"},
		{[]string{"--baseline", store.URL("reports/"), store.URL("whole/all.json")}, "has 2 reports: expected the name of one"},
		{[]string{"--report", "json=" + store.URL("reports/"), store.URL("whole/all.json")}, "is no name for a report"},
	} {
		if o := merge(t, tc.args...); o.status != exitNotStarted || !strings.Contains(o.stderr, tc.want) {
			t.Errorf("%q: status %d: %s", tc.args, o.status, o.stderr)
		}
	}
}

// TestAReportThatTheStoreDoesNotTakeIsKept has the store refuse one.
func TestAReportThatTheStoreDoesNotTakeIsKept(t *testing.T) {
	store := caddytest.RunS3(t)
	t.Setenv("TMPDIR", t.TempDir())
	store.Misbehave(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		caddytest.S3Error(w, http.StatusForbidden, "AccessDenied")
	})
	s, err := openStored(store.URL("run.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.bucket.Close()
	s.WriteString("the report")
	waited := time.Duration(0)
	err = s.upload(t.Context(), func(d time.Duration) { waited += d })
	if waited != 31*time.Second {
		t.Errorf("waited for %s", waited)
	}
	if err == nil || !strings.Contains(err.Error(), "s3://recordings/run.json: ") || !strings.Contains(err.Error(), "AccessDenied") {
		t.Fatalf("got error %v", err)
	}
	kept := func(err error) {
		_, name, _ := strings.Cut(err.Error(), "the report is kept in ")
		if kept, err := os.ReadFile(name); err != nil || string(kept) != "the report" {
			t.Errorf("kept is %q, error %v", kept, err)
		}
	}
	kept(err)
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none")) // as in a container whose root file system is read-only
	kept(s.upload(t.Context(), func(time.Duration) {}))
	ctx, cancel := context.WithCancel(t.Context())
	store.Misbehave(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { // which says nothing, until the time is over
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	kept(s.upload(ctx, func(time.Duration) { t.Error("it was tried again") }))
}

// TestShardsOfABucketThatGrows has a recording come between the starts of two
// shards: their reports are of other recordings, unless --until is before.
func TestShardsOfABucketThatGrows(t *testing.T) {
	target := serve(t, nil)
	until := time.Unix(0, origin).Add(2 * time.Hour).UTC().Format(time.RFC3339)
	for name, tc := range map[string]struct {
		flags  []string
		status int
	}{
		"all":   {nil, exitNotStarted},
		"until": {[]string{"--until", until}, 0},
	} {
		store, folder := caddytest.RunS3(t), hostsWith(t, 4, 10, time.Hour)
		late, err := filepath.Glob(filepath.Join(folder, "web-2", "*"))
		if err != nil || len(late) != 4 {
			t.Fatalf("%d files, error %v", len(late), err)
		}
		hidden := filepath.Join(t.TempDir(), filepath.Base(late[3]))
		if err := os.Rename(late[3], hidden); err != nil {
			t.Fatal(err)
		}
		var reports []string
		for shard := 1; shard <= 2; shard++ {
			if shard == 2 {
				if err := os.Rename(hidden, late[3]); err != nil {
					t.Fatal(err)
				}
			}
			upload(t, store, "shop", folder)
			reports = append(reports, filepath.Join(t.TempDir(), "report.json"))
			o := replay(t, append(tc.flags, "--max", "--to", target.url, "--shard", fmt.Sprintf("%d/2", shard), "--report", "json="+reports[shard-1], store.URL("shop"))...)
			if o.status != 0 {
				t.Fatalf("%s: status %d: %s", name, o.status, o.stderr)
			}
		}
		if o := merge(t, reports...); o.status != tc.status || tc.status != 0 && !strings.Contains(o.stderr, "are of other recordings") {
			t.Errorf("%s: status %d: %s", name, o.status, o.stderr)
		}
	}
}

// TestAReportForNoBucketIsRefused before anything is sent.
func TestAReportForNoBucketIsRefused(t *testing.T) {
	store, target := caddytest.RunS3(t), serve(t, nil)
	url := strings.Replace(store.URL("run.json"), "//recordings", "//other", 1)
	o := replay(t, "--to", target.url, "--report", "json="+url, write(t, "a.fbf", 3, 0))
	if want := "'s3://other/run.json': the store has no such bucket"; o.status != exitNotStarted || !strings.Contains(o.stderr, want) || len(target.got()) != 0 {
		t.Errorf("status %d, %d requests: %s", o.status, len(target.got()), o.stderr)
	}
}
