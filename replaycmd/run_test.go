// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

func TestRecordedTimesSpeedRateAndMax(t *testing.T) {
	path := write(t, "a.fbf", 100, 5*time.Millisecond)
	for _, tc := range []struct {
		flags   []string
		atLeast time.Duration
		pace    string
	}{
		{nil, 495 * time.Millisecond, "1x"},
		{[]string{"--speed", "2x"}, 247 * time.Millisecond, "2x"},
		{[]string{"--rate", "500/s"}, 198 * time.Millisecond, "500.0/s"},
		{[]string{"--max"}, 0, "max"},
		{[]string{"--max", "-m", "2"}, 198 * time.Millisecond, "every 2ms"},
	} {
		s := serve(t, nil)
		start := time.Now()
		o := replay(t, slices.Concat([]string{"--to", s.url}, tc.flags, []string{path})...)
		took := time.Since(start)
		if o.status != 0 || len(s.got()) != 100 || took < tc.atLeast || !strings.Contains(o.stdout, tc.pace) {
			t.Errorf("%v: status %d, %d requests in %v\n%s%s", tc.flags, o.status, len(s.got()), took, o.stdout, o.stderr)
		}
	}
}

func TestHowMuchIsSent(t *testing.T) {
	path := write(t, "a.fbf", 20, time.Millisecond)
	for _, tc := range []struct {
		flags []string
		want  int64
	}{
		{nil, 20},
		{[]string{"-n", "7"}, 7},
		{[]string{"-r", "7", "-t", "3"}, 7},
		{[]string{"-n", "50"}, 20},
		{[]string{"--loop", "-n", "50"}, 50},
		{[]string{"--loop", "--speed", "1000x", "--duration", "40us"}, 40},
		{[]string{"--rate", "1000/s", "--duration", "5ms"}, 5},
		{[]string{"--loop", "--rate", "1000/s", "--duration", "55ms"}, 55},
		{[]string{"-i", "id-3"}, 1},
		{[]string{"--path", "/1?", "--method", "GET"}, 10},
		{[]string{"--since", "5ms", "--until", "8ms"}, 3},
	} {
		s := serve(t, nil)
		o := replay(t, slices.Concat([]string{"--to", s.url, "--report", "json"}, tc.flags, []string{path})...)
		r, err := report.Read([]byte(o.stdout))
		if err != nil {
			t.Fatal(err)
		}
		// a machine that is busy elsewhere may not start all in time, but says so
		sent, unsent, status := r.Targets[0].Requests, r.Targets[0].Unsent, 0
		if unsent > 0 {
			status = exitIncomplete
		}
		if sent+unsent != tc.want || int64(len(s.got())) != sent || sent == 0 || o.status != status {
			t.Errorf("%v: status %d, %d requests and %d not started, want %d\n%s", tc.flags, o.status, sent, unsent, tc.want, o.stderr)
		}
	}
}

// A target that hangs misses requests, and no other does.
func TestASlowTargetBlamesNoOther(t *testing.T) {
	path := write(t, "a.fbf", 50, time.Millisecond)
	good := serve(t, nil)
	hanging := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	o := replay(t, "--to", "good="+good.url, "--to", "hang="+hanging.url, "--rate", "600/s", "--loop", "--duration", "4s",
		"--timeout", "3s", "--report", "json", path)
	r, err := report.Read([]byte(o.stdout))
	if err != nil {
		t.Fatal(err)
	}
	a, b := r.Targets[0], r.Targets[1]
	if a.Requests != 2400 || a.Unsent != 0 || a.Answers != 2400 {
		t.Errorf("the good target: %d requests, %d not started, %d answers", a.Requests, a.Unsent, a.Answers)
	}
	if b.Requests+b.Unsent != 2400 || b.Unsent < 2000 || b.Answers != 0 {
		t.Errorf("the hanging target: %d requests, %d not started, %d answers", b.Requests, b.Unsent, b.Answers)
	}
	if o.status != exitIncomplete || !strings.Contains(o.stderr, "hang: ") || strings.Contains(o.stderr, "good: ") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
}

func TestRatesCountAnswers(t *testing.T) {
	path := write(t, "a.fbf", 100, 0)
	o := replay(t, "--to", "a="+peertest.Addr(t), "--fail", "rate>=100/s", path)
	if o.status != exitFailed || !strings.Contains(o.stdout, "FAILED a: rate>=100/s is 0.0/s\n") || strings.Contains(o.stderr, "does not hold") {
		t.Errorf("status %d\n%s%s", o.status, o.stdout, o.stderr)
	}
}

// Which class has the answers that a condition is about is to be seen.
func TestClassesHaveTheirStatuses(t *testing.T) {
	path := write(t, "a.fbf", 10, 0)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	gone := writeRequests(t, "gone.fbf", []*recording.Request{{Method: []byte("GET"), URI: []byte("/gone"), Headers: []byte("Host: a\r\n"), TimeNS: origin}})
	o := replay(t, "--to", s.url, "--by", "path", "--fail", "4xx<1%", path, gone)
	if got := spaced(o.stdout); o.status != exitFailed || !strings.Contains(got, "requests errors 2xx 4xx p50") || !strings.Contains(got, "/* 10 0 10 0 ") || !strings.Contains(got, "/gone 1 0 0 1 ") {
		t.Errorf("status %d\n%s", o.status, o.stdout)
	}
}

func TestRecordsWithoutATimeAreNotWithinOne(t *testing.T) {
	s := serve(t, nil)
	path := writeRequests(t, "a.fbf", []*recording.Request{{Method: []byte("GET"), URI: []byte("/"), Headers: []byte("Host: a\r\n")}})
	o := replay(t, "--to", s.url, "--until", "2030-01-01T00:00:00Z", path)
	if o.status != exitIncomplete || len(s.got()) > 0 || !strings.Contains(o.stderr, "1 records have no time: --since and --until leave them out") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
}

// What others say can't steer the terminal that it is printed on.
func TestNothingFromOutsideSteersTheTerminal(t *testing.T) {
	certificate := httptest.NewUnstartedServer(nil)
	certificate.TLS = &tls.Config{Certificates: []tls.Certificate{selfSigned(t, "\x1b]0;x\x07.test")}}
	certificate.Config.ErrorLog = log.New(io.Discard, "", 0)
	certificate.StartTLS()
	defer certificate.Close()
	s := serve(t, nil)
	path := writeRequests(t, "a.fbf", []*recording.Request{
		{ID: []byte("\x1bid"), Method: []byte("GET"), URI: []byte("/\u009b\x7f"), Headers: []byte("Host: a\r\nX: \u009b\r\n")},
		{ID: []byte("two"), Method: []byte("G\x1bT"), URI: []byte("/"), Headers: []byte("Host: a\r\n")},
	})
	for _, args := range [][]string{
		{"--to", certificate.URL, path},
		{"--to", s.url, "--by", "path", path},
		{"--to", s.url, "--by", "method", "--report", "json", path},
		{"--to", "a\x1b=" + s.url, path},
		{"--to", s.url, "-i", "\x1bnone", path},
		{"--dry-run", path},
		{"--extract", t.TempDir(), path},
		{"--test", path},
	} {
		if o := replay(t, args...); strings.ContainsAny(o.stdout+o.stderr, "\x1b\u009b\x07\x7f") {
			t.Errorf("%q prints %q", args, o.stdout+o.stderr)
		}
	}
	if o := show(t, path); strings.ContainsAny(o.stdout+o.stderr, "\x1b\u009b\x07\x7f") {
		t.Errorf("show prints %q", o.stdout)
	}
	if o := replay(t, "--to", certificate.URL, "-n", "1", write(t, "b.fbf", 1, 0)); !strings.Contains(o.stderr, "--insecure accepts any certificate") {
		t.Errorf("the way out is missing: %s", o.stderr)
	}
}

// selfSigned returns a certificate of this name that no one has reason to trust.
func selfSigned(t *testing.T, name string) tls.Certificate {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name, Organization: []string{name}}, DNSNames: []string{"a"},
		NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

func TestHostAndHeaders(t *testing.T) {
	path := write(t, "a.fbf", 1, 0)
	for _, tc := range []struct {
		flags []string
		want  string
	}{
		{nil, "shop.test"},
		{[]string{"--host", "preserve"}, "shop.test"},
		{[]string{"--host", "target"}, "target"},
		{[]string{"--host", "www.example.test"}, "www.example.test"},
	} {
		s := serve(t, nil)
		flags := []string{"-H", strings.TrimPrefix(s.url, "http://"), "--header", "X-Twice: a", "--header", "X-Twice: b", "--remove-header", "cookie"}
		if o := replay(t, slices.Concat(flags, tc.flags, []string{path})...); o.status != 0 {
			t.Fatalf("status %d: %s", o.status, o.stderr)
		}
		want := tc.want
		if want == "target" {
			want = strings.TrimPrefix(s.url, "http://")
		}
		r := s.got()[0]
		if r.Host != want || !slices.Equal(r.Header["X-Twice"], []string{"a", "b"}) || r.Header["Cookie"] != nil {
			t.Errorf("%v: got host %s, fields %v", tc.flags, r.Host, r.Header)
		}
	}
}

func TestRedirects(t *testing.T) {
	elsewhere := serve(t, nil)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			w.Header().Set("Location", elsewhere.url+"/there?x=1")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "/here":
			w.Header().Set("Location", "/end")
			w.WriteHeader(http.StatusFound)
		case "/loop":
			w.Header().Set("Location", "/loop")
			w.WriteHeader(http.StatusFound)
		case "/refused":
			w.Header().Set("Location", "ftp://nowhere/")
			w.WriteHeader(http.StatusFound)
		}
	})
	request := func(method, target, body string) *recording.Request {
		return &recording.Request{
			Method: []byte(method), URI: []byte(target), Body: []byte(body), Host: []byte("shop.test"),
			Headers: fmt.Appendf(nil, "Host: shop.test\r\nAuthorization: secret\r\nCookie: a=b\r\nX-Kept: yes\r\nContent-Length: %d\r\n", len(body)),
		}
	}
	path := writeRequests(t, "a.fbf", []*recording.Request{
		request("POST", "/away", "body"), request("POST", "/here", "body"), request("GET", "/loop", ""), request("GET", "/refused", ""),
	})
	o := replay(t, "--to", s.url, "-c", "1", path)
	if o.status != 0 || len(s.got()) != 4 || len(elsewhere.got()) != 0 || !strings.Contains(o.stdout, "3xx") {
		t.Fatalf("not followed: status %d, %d requests\n%s", o.status, len(s.got()), o.stdout)
	}
	o = replay(t, "--to", s.url, "-c", "1", "--redirects", "3", path)
	if o.status != 0 {
		t.Fatalf("status %d: %s", o.status, o.stderr)
	}
	away := elsewhere.got()
	if len(away) != 1 || away[0].Method != "POST" || away[0].RequestURI != "/there?x=1" || away[0].ContentLength != 4 ||
		away[0].Header.Get("Authorization")+away[0].Header.Get("Cookie") != "" || away[0].Header.Get("X-Kept") != "yes" {
		t.Errorf("elsewhere got %+v", away)
	}
	if got := s.got()[4:]; len(got) != 1+2+4+1 || got[2].Method != "GET" || got[2].RequestURI != "/end" ||
		got[2].ContentLength != 0 || got[2].Header.Get("Authorization") != "secret" || got[2].Host != "shop.test" {
		t.Errorf("the target got %d requests", len(got))
	}
}

func TestURLs(t *testing.T) {
	s := serve(t, nil)
	o := replay(t, s.url+"/path?q", "-n", "30", "-c", "3")
	if o.status != 0 || len(s.got()) != 30 || s.got()[0].RequestURI != "/path?q" || s.got()[0].Host != strings.TrimPrefix(s.url, "http://") {
		t.Errorf("status %d, %d requests", o.status, len(s.got()))
	}
	a, b := serve(t, nil), serve(t, nil)
	o = replay(t, "http://shop.test/", "-n", "30", "--to", "a="+a.url, "--to", "b="+b.url)
	if o.status != 0 || len(a.got()) != 30 || len(b.got()) != 30 || b.got()[0].Host != "shop.test" {
		t.Errorf("status %d, %d and %d requests", o.status, len(a.got()), len(b.got()))
	}
}

func TestReports(t *testing.T) {
	path := write(t, "a.fbf", 50, time.Millisecond)
	s := serve(t, nil)
	dir := t.TempDir()
	jsonFile, csvFile := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.csv")
	o := replay(t, "--to", "a="+s.url, "--report", "text", "--report", "json="+jsonFile, "--report", "csv="+csvFile, "--by", "path", path)
	if o.status != 0 || !strings.Contains(o.stdout, "requests") || !strings.Contains(o.stdout, "/*") {
		t.Fatalf("status %d\n%s%s", o.status, o.stdout, o.stderr)
	}
	data, err := os.ReadFile(jsonFile)
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal(data, &r); err != nil || r.Targets[0].Answers != 50 || r.Targets[0].By[0].Requests != 50 || r.Pace != "1x" {
		t.Errorf("got %s, error %v", data, err)
	}
	if data, err = os.ReadFile(csvFile); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(lines) < 2 || lines[1][1] != "a" {
		t.Errorf("got %s, error %v", data, err)
	}
	if o := replay(t, "--to", s.url, "-q", path); o.stdout != "" || o.stderr != "" {
		t.Errorf("quiet prints %s%s", o.stdout, o.stderr)
	}
	if o := replay(t, "--to", s.url, "--report", "json", path); !json.Valid([]byte(o.stdout)) {
		t.Errorf("standard output has more than JSON: %s", o.stdout)
	}
	if o := replay(t, "--to", s.url, "--report", "json="+filepath.Join(dir, "none", "r.json"), path); o.status != exitNotStarted {
		t.Errorf("status %d for a report that can't be written", o.status)
	}
}

func TestExitStatuses(t *testing.T) {
	path := write(t, "a.fbf", 10, 0)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cut, empty, text := filepath.Join(dir, "cut.fbf"), filepath.Join(dir, "empty.fbf"), filepath.Join(dir, "text.fbf")
	for name, content := range map[string][]byte{cut: data[:len(data)-5], empty: nil, text: []byte("this is a text and no recording")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start := filepath.Join(dir, "start.lz4")
	if o := convert(t, "-o", start, path); o.status != 0 {
		t.Fatalf("status %d: %s", o.status, o.stderr)
	}
	if err := os.Truncate(start, 60); err != nil {
		t.Fatal(err)
	}
	damaged := damagedAtOnce(t)
	refusing := peertest.Addr(t)
	good := serve(t, nil)
	hanging := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, tc := range map[string]struct {
		args       []string
		status     int
		out, error string
	}{
		"all is well":               {[]string{"--to", good.url, path}, 0, "10\n", ""},
		"a condition holds":         {[]string{"--to", good.url, "--fail", "p99<1h", path}, 0, "ok ", ""},
		"a condition fails":         {[]string{"--to", good.url, "--fail", "p50<1us", path}, 4, "FAILED", ""},
		"a condition fails, unseen": {[]string{"--to", good.url, "-q", "--fail", "p50<1us", path}, 4, "", "p50<1us does not hold: it is "},
		"refused":                   {[]string{"--to", refusing, path}, 3, "refused 10", "10 of 10 requests have no answer"},
		"refused, no latency":       {[]string{"--to", refusing, "--fail", "p99<1h", path}, 4, "p99<1h is unknown, as no answer came", "first failure of its kind is refused: "},
		"errors are judged":         {[]string{"--to", refusing, "--fail", "errors<=10", path}, 0, "refused", "first failure of its kind is refused: "},
		"stops at the first":        {[]string{"--to", refusing, "-x", "-c", "1", "--max", path}, 3, "requests 1\n", "refused"},
		"refused, quietly":          {[]string{"--to", refusing, "-q", "--report", "text", "--fail", "errors<=10", path}, 0, "refused", ""},
		"hanging":                   {[]string{"--to", hanging.url, "--timeout", "100ms", path}, 3, "timeout", "no answer"},
		"too slow": {
			[]string{"--to", hanging.url, "--timeout", "3s", "--rate", "10/s", "--duration", "500ms", "-c", "1", "--loop", path},
			3,
			"not started in time 4\n", "4 of 5 requests were not started in time: it does not keep up",
		},
		"cut":                        {[]string{"--to", good.url, cut}, 3, "requests 9\n", "cut off"},
		"begins with damage":         {[]string{"--to", good.url, damaged, path}, 3, "requests 10\n", "damaged"},
		"the same, with -x":          {[]string{"--to", good.url, "-x", damaged, path}, 3, "requests 0\n", "damaged"},
		"an unknown id":              {[]string{"--to", good.url, "-i", "id-3,none", path}, 3, "requests 1\n", "no record has the identifier none"},
		"unknown ids":                {[]string{"--to", good.url, "--loop", "-i", "none", "-i", "never", path}, 3, "requests 0\n", "no record has the identifier none, never"},
		"an id, with -n":             {[]string{"--to", good.url, "-i", "id-3", "-n", "1", path}, 0, "requests 1\n", ""},
		"an id, dry run":             {[]string{"--dry-run", "-i", "none", path}, 3, "requests 0 to", "no record has the identifier none"},
		"an id, extracted":           {[]string{"--extract", dir, "-i", "none", path}, 3, "", "no record has the identifier none"},
		"cut before the first":       {[]string{"--to", good.url, path, start}, 3, "requests 10\n", "start.lz4: recording is cut off at byte 0"},
		"cut, with -x":               {[]string{"--to", good.url, "-x", cut}, 3, "requests", "cut off"},
		"empty":                      {[]string{"--to", good.url, empty, path}, 0, "10\n", "empty.fbf has no records"},
		"nothing but empty":          {[]string{"--to", good.url, empty}, 3, "requests 0\n", "nothing was sent: there are no records"},
		"nothing is chosen":          {[]string{"--to", good.url, "--path", "/typo", "--fail", "errors<1%", path}, 3, "errors<1% is unknown, as nothing was sent", "nothing was sent: none of the 10 records is chosen by --path"},
		"nothing is chosen, quietly": {[]string{"--to", good.url, "--method", "FOO", "-q", path}, 3, "", "nothing was sent: none of the 10 records is chosen by --method"},
		"nothing of nothing":         {[]string{"--to", good.url, "--percent", "0", path}, 3, "requests 0\n", "nothing was sent"},
		"nothing is that late":       {[]string{"--to", good.url, "--since", "1h", path}, 3, "requests 0\n", "nothing was sent"},
		"no recording":               {[]string{"--to", good.url, text}, 1, "", "text.fbf is not a recording"},
		"missing":                    {[]string{"--to", good.url, filepath.Join(dir, "missing")}, 1, "", "does not exist"},
		"whole":                      {[]string{"--test", path}, 0, "whole, 10 records", ""},
		"not whole":                  {[]string{"--test", path, cut}, 3, "cut off at byte", "1 of 2 recordings are damaged"},
		"dry run":                    {[]string{"--dry-run", "--rate", "10/s", path}, 0, "takes 900ms", ""},
		"dry run of a cut one":       {[]string{"--dry-run", cut}, 3, "9 to each target", "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			o := replay(t, tc.args...)
			if o.status != tc.status || !strings.Contains(spaced(o.stdout), tc.out) || !strings.Contains(o.stderr, tc.error) {
				t.Errorf("status %d\n%s\n%s", o.status, o.stdout, o.stderr)
			}
			if tc.error == "" && o.stderr != "" {
				t.Errorf("printed %s", o.stderr)
			}
		})
	}
}

// damagedAtOnce makes a recording without a whole record, but one that can be
// told to be a recording.
func damagedAtOnce(t *testing.T) string {
	t.Helper()
	path := write(t, "damaged.fbf", 1, 0)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A tee in front of the target would take a request with its own mark for one
// of its copies.
func TestTheMarkOfATeeStaysBehind(t *testing.T) {
	r := &recording.Request{Method: []byte("GET"), URI: []byte("/"), Headers: []byte("Host: a\r\nx-rehearsal-copy: shadow\r\n")}
	path := writeRequests(t, "a.fbf", []*recording.Request{r})
	marks := make(chan []string, 1)
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { marks <- r.Header[recording.CopyField] }))
	target.Config.Protocols = new(http.Protocols)
	target.Config.Protocols.SetHTTP1(true)
	target.Config.Protocols.SetUnencryptedHTTP2(true)
	target.Start()
	defer target.Close()
	for _, tc := range []struct{ flags, want []string }{
		{nil, nil},
		{[]string{"--http2"}, nil},
		{[]string{"--header", "X-Rehearsal-Copy: mine"}, []string{"mine"}},
		{[]string{"--http2", "--header", "X-Rehearsal-Copy: mine"}, []string{"mine"}},
	} {
		if o := replay(t, slices.Concat(tc.flags, []string{"--to", target.URL, path})...); o.status != 0 {
			t.Fatalf("%v: status %d: %s", tc.flags, o.status, o.stderr)
		}
		if got := <-marks; !slices.Equal(got, tc.want) {
			t.Errorf("%v: got %q, want %q", tc.flags, got, tc.want)
		}
	}
}

func TestStandardInputAndInterruption(t *testing.T) {
	data, err := os.ReadFile(write(t, "a.fbf", 5, 0))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, nil)
	if o := replayWith(t, t.Context(), bytes.NewReader(data), "--to", s.url, "-"); o.status != 0 || len(s.got()) != 5 {
		t.Errorf("status %d, %d requests\n%s", o.status, len(s.got()), o.stderr)
	}
	s = serve(t, nil)
	later := write(t, "b.fbf", 7, 20*time.Second) // what is held back to be sorted is less
	if data, err = os.ReadFile(later); err != nil {
		t.Fatal(err)
	}
	waiting, end := io.Pipe() // a recording that never ends
	defer end.Close()
	go end.Write(data)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(s.got()) < 6 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	o := replayWith(t, ctx, waiting, "--to", s.url, "--max", "-")
	if o.status != 0 || !strings.Contains(spaced(o.stdout), "requests 6\n") || o.stderr != "" {
		t.Errorf("status %d\n%s%s", o.status, o.stdout, o.stderr)
	}
	waiting, end = io.Pipe()
	defer end.Close()
	if o := replayWith(t, ctx, waiting, "--to", s.url, "-"); o.status != exitNotStarted || !strings.Contains(o.stderr, "interrupted before the start") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
}

func TestInterruptedRunReports(t *testing.T) {
	hanging := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(hanging.got()) < 2 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	o := replayWith(t, ctx, nil, "--to", hanging.url, "-c", "2", write(t, "a.fbf", 10, 0))
	if o.status != 0 || !strings.Contains(spaced(o.stdout), "interrupted 2\n") {
		t.Errorf("status %d\n%s%s", o.status, o.stdout, o.stderr)
	}
}

// spaced returns text with single spaces.
func spaced(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " ")+"\n")
	}
	return strings.Join(lines, "")
}
