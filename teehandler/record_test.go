// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// said is a recorded message, request or response.
type said struct {
	head, body, trailers, err string
	size                      int
}

// recordedPair is a record with both of its sides.
type recordedPair struct {
	target   string
	time     int64
	duration int64
	status   int
	request  said
	response said
}

// field returns the value of a header field, or "".
func (s said) field(name string) string {
	for n, value := range recording.EachField([]byte(s.head)) {
		if strings.EqualFold(string(n), name) {
			return string(value)
		}
	}
	return ""
}

// pairs reads all that is recorded in a directory, also by a recorder that
// runs, in the order of the requests.
func pairsOf(t testing.TB, dir string) (all []recordedPair) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.fbf*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := recording.OpenFile(name)
		if err != nil {
			continue // it was renamed
		}
		defer file.Close()
		for {
			r, err := file.Next()
			if errors.Is(err, io.EOF) || file.Unfinished() && r == nil {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			p := recordedPair{
				target: string(r.URI), time: r.TimeNS,
				request: said{string(r.Headers), string(r.Body), string(r.Trailers), string(r.Error), int(r.BodySize)},
			}
			if a := r.Response; a != nil {
				p.status, p.duration = a.Status, a.DurationNS
				p.response = said{string(a.Headers), string(a.Body), string(a.Trailers), string(a.Error), int(a.BodySize)}
			} else {
				t.Errorf("%s has no response", p.target)
			}
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b recordedPair) int { return cmp.Compare(a.time, b.time) })
	return all
}

// waitPairs waits for so many records.
func waitPairs(t testing.TB, dir string, n int) (all []recordedPair) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d records", n), func() (string, bool) {
		all = pairsOf(t, dir)
		return fmt.Sprintf("there are %d", len(all)), len(all) >= n
	})
	if len(all) != n {
		t.Fatalf("there are %d records, want %d: %+v", len(all), n, all)
	}
	return all
}

// teeRecording is a tee that records into a directory, without a shadow, and
// has its primary behind it.
func teeRecording(t testing.TB, dir, options, primary string) string {
	if !strings.Contains(options, "record ") {
		options += "\nrecord " + dir + " {\nflush_every 10ms\n}"
	}
	return fmt.Sprintf("tee {\nname %s\n%s\n}\n%s", teeName(t), options, primary)
}

// TestConversationsAreRecorded sends over every protocol: a request with a body
// and trailers of known and unknown length, answered with a header of several
// lines, a body and trailers, announced and not.
func TestConversationsAreRecorded(t *testing.T) {
	primary := newBareServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Add("X-Tag", "one")
		w.Header().Add("X-Tag", "two")
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, "got %d bytes", len(body))
		w.Header().Set("X-Sum", "7")
		w.Header().Set(http.TrailerPrefix+"X-Late", "8")
	})
	dir := t.TempDir()
	done := 0
	everyProtocol(t, teeRecording(t, dir, "", "reverse_proxy "+primary), func(t *testing.T, client *http.Client, url string) {
		for _, size := range []int{0, 3, 100 << 10} {
			sent := bytesOf(size)
			req, err := http.NewRequest("POST", url+"/orders?n=1", unknownLength{strings.NewReader(sent)})
			if err != nil {
				t.Fatal(err)
			}
			req.Trailer = http.Header{"X-Check": {"9"}}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("got %d bytes", size)
			if status, got := drain(t, resp); status != 202 || got != want {
				t.Fatalf("client got %d %q", status, got)
			}
			done++
			p := waitPairs(t, dir, done)[done-1]
			if p.target != "/orders?n=1" || p.request.body != sent || p.request.size != size || p.request.err != "" {
				t.Errorf("request is recorded as %s with %d bytes of %d, error %q", p.target, len(p.request.body), p.request.size, p.request.err)
			}
			// over HTTP/3 the server fills a request that Caddy has made copies of
			if p.request.trailers != "X-Check: 9\r\n" && !strings.HasSuffix(t.Name(), "h3") {
				t.Errorf("trailers of the request: %q", p.request.trailers)
			}
			r := p.response
			if p.status != 202 || r.body != want || r.size != len(want) || r.err != "" || r.trailers != "X-Late: 8\r\nX-Sum: 7\r\n" ||
				!strings.Contains(r.head, "X-Tag: one\r\nX-Tag: two\r\n") || r.field("Content-Type") != "text/plain" {
				t.Errorf("response is recorded as %d %+v", p.status, r)
			}
			if p.duration <= 0 {
				t.Errorf("duration is %d ns", p.duration)
			}
		}
	})
}

// TestCopiesAndRecordsOfTheSameRequest has a shadow beside the recording.
func TestCopiesAndRecordsOfTheSameRequest(t *testing.T) {
	primary, shadow, dir := newUpstream(t, nil), newUpstream(t, nil), t.TempDir()
	_, addr := run(t, func(addr string) string {
		return site(addr, teeRecording(t, dir, "to "+shadow.URL, "reverse_proxy "+primary.URL))
	})
	for _, size := range []int{0, 5, 200 << 10} {
		sent := bytesOf(size)
		if status, got := post(t, oneShot, "http://"+addr+"/a", strings.NewReader(sent)); status != 200 || got != sumOf(sent) {
			t.Fatalf("client got %d %q", status, got)
		}
		shadow.waitFor(sumOf(sent))
	}
	for i, p := range waitPairs(t, dir, 3) {
		if p.response.body != sumOf(p.request.body) || p.status != 200 {
			t.Errorf("record %d: %d with %q", i, p.status, p.response.body)
		}
	}
}
