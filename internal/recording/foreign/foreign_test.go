// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// decode returns all records of a text, and what was left out of it.
func decode(t *testing.T, text []byte) (records []*recording.Request, skips *Skips) {
	t.Helper()
	records, skips, err := decodeToEnd(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return records, skips
}

// decodeToEnd returns also what ended a text before its end.
func decodeToEnd(t *testing.T, text []byte) (records []*recording.Request, skips *Skips, err error) {
	t.Helper()
	format, sure := Recognize(text[:min(len(text), HeadSize)], true)
	if format == nil || !sure {
		t.Fatalf("no form is known of %.80q", text)
	}
	decoder := format.New(bytes.NewReader(text), false)
	for {
		r, err := decoder.Next()
		if errors.Is(err, io.EOF) {
			return records, decoder.Skipped(), nil
		}
		if err != nil {
			return records, decoder.Skipped(), err
		}
		c := new(recording.Copy)
		c.Take(r)
		records = append(records, &c.Request)
	}
}

// show writes a record in the form in which the cases below expect it.
func show(r *recording.Request) string {
	text := fmt.Sprintf("%s %s\n%s", r.Method, r.URI, bytes.ReplaceAll(r.Headers, []byte("\r\n"), []byte("\n")))
	if r.BodySize > 0 {
		text += fmt.Sprintf("\n%s (%d)", r.Body, r.BodySize)
	}
	if a := r.Response; a != nil {
		text += fmt.Sprintf("\n-> %d %s%s (%d)", a.Status, bytes.ReplaceAll(a.Headers, []byte("\r\n"), []byte("\n")), a.Body, a.BodySize)
	}
	return strings.TrimSpace(text)
}

// Each line of a list is one request, or says why it is none.
func TestForms(t *testing.T) {
	for name, tc := range map[string]struct {
		text    string
		want    []string
		skipped []string
	}{
		"combined log of nginx": {
			text: `10.0.0.9 - bob [30/Nov/2026:15:13:30 +0100] "GET /a?q=%2F HTTP/1.1" 200 512 "https://shop.test/" "Mozilla/5.0 \x22quoted\x22 \x5C"` + "\n" +
				`10.0.0.9 - - [30/Nov/2026:15:13:31 +0100] "\x16\x03\x01\x00" 400 157 "-" "-"` + "\n" +
				`10.0.0.9 - - [30/Nov/2026:15:13:32 +0100] "" 400 0 "-" "-"` + "\n" +
				`10.0.0.9 - - [30/Nov/2026:15:13:32 +0100] "HEAD / HTTP/2.0" 304 0 "-" "-" "1.2.3.4" 0.003` + "\n",
			want: []string{
				"GET /a?q=%2F\nReferer: https://shop.test/\nUser-Agent: Mozilla/5.0 \"quoted\" \\\n\n-> 200  (512)",
				"HEAD /\n\n-> 304  (0)",
			},
			skipped: []string{"line 2", "line 3"},
		},
		"common log of Apache, with a virtual host": {
			text: `shop.test:443 ::1 - - [30/Nov/2026:15:13:30 +0000] "POST /\"x\" HTTP/1.1" 201 -` + "\nnonsense\n",
			want: []string{"POST /\"x\"\nHost: shop.test:443\n\n-> 201  (0)"}, skipped: []string{"line 2"},
		},
		"Caddy's access log": {
			text: `{"level":"info","ts":1796051610.5,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"::1","remote_port":"51","client_ip":"::1","proto":"HTTP/2.0","method":"PUT","host":"shop.test","uri":"/a%2Fb?x=;","headers":{"X-Tag":["one","two"],"Cookie":["REDACTED"],"Content-Length":["5"]},"tls":{"resumed":false}},"bytes_read":5,"user_id":"","duration":0.25,"size":3,"status":200,"resp_headers":{"Server":["Caddy"]}}` + "\n" +
				`{"level":"info","ts":1796051611,"logger":"tls","msg":"cleaning storage unit"}` + "\n" +
				`{"level":"info","ts":17960` + "\n",
			want:    []string{"PUT /a%2Fb?x=;\nHost: shop.test\nContent-Length: 5\nX-Tag: one\nX-Tag: two\n\n (5)\n-> 200 Server: Caddy\n (3)"},
			skipped: []string{"line 2", "line 3"},
		},
		"vegeta's targets": {
			text: "# two\nGET http://user:pw@shop.test/a?b=1#part\nX-Tag:  one\nX-Tag: two\n\nPOST https://shop.test:8443\n@foreign_test.none\n\nDELETE http://shop.test/x\nGET http://shop.test/y\n",
			want: []string{
				"GET /a?b=1\nHost: shop.test\nX-Tag: one\nX-Tag: two\nAuthorization: Basic dXNlcjpwdw==",
				"DELETE /x\nHost: shop.test", "GET /y\nHost: shop.test",
			},
			skipped: []string{"line 6"},
		},
		"vegeta's JSON": {
			text: `{"method":"POST","url":"http://shop.test/a","header":{"B":["2"],"A":["1","3"]},"body":"aGk=","unknown":1}` + "\n" + `{"method":"GET","url":"ftp://x"}` + "\n",
			want: []string{"POST /a\nHost: shop.test\nA: 1\nA: 3\nB: 2\n\nhi (2)"}, skipped: []string{"line 2"},
		},
		"curl": {
			text: "curl 'http://shop.test/a b' \n" +
				"curl -sSL http://shop.test/a?x=1 -H 'X-Tag: one' -H \"X-Tag: t\\\"wo\" --compressed | jq .\n" +
				"# made by a browser\ncurl 'https://shop.test/api' \\\n  -H 'accept: a/b' \\\n  --data-raw $'it\\'s\\u0021\\n' ;\n" +
				"curl -XPUT shop.test/x -d a=1 -d b=2\n" +
				"curl --json '{\"a\":\n 1}' http://shop.test/j\ncurl -G -d 'q=a' --data-urlencode 'r=a b' http://shop.test/s\n" +
				"curl -F 'name=va\"lue' -u bob:pw http://shop.test/f\ncurl $(hostname)\ncurl --magic http://shop.test/\n" +
				"curl -I http://shop.test/h",
			want: []string{
				"GET /a?x=1\nHost: shop.test\nX-Tag: one\nX-Tag: t\"wo\nAccept-Encoding: deflate, gzip, br, zstd\nAccept: */*",
				"POST /api\nHost: shop.test\naccept: a/b\nContent-Type: application/x-www-form-urlencoded\n\nit's!\n (6)",
				"PUT /x\nHost: shop.test\nContent-Type: application/x-www-form-urlencoded\nAccept: */*\n\na=1&b=2 (7)",
				"POST /j\nHost: shop.test\nContent-Type: application/json\nAccept: application/json\n\n{\"a\":\n 1} (9)",
				"GET /s?q=a&r=a+b\nHost: shop.test\nAccept: */*",
				"POST /f\nHost: shop.test\nAuthorization: Basic Ym9iOnB3\nContent-Type: multipart/form-data; boundary=" + formBoundary + "\nAccept: */*\n\n--" +
					formBoundary + "\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nva\"lue\r\n--" + formBoundary + "--\r\n (147)",
				"HEAD /h\nHost: shop.test\nAccept: */*",
			},
			skipped: []string{"line 1", "line 12", "line 13"},
		},
		"HAR": {
			text: `{ "log": {"version":"1.2","pages":[{"x":[1,{"y":2}]}],"entries":[
			{"startedDateTime":"2026-11-30T15:13:30.25Z","time":12.5,"request":{"method":"POST","url":"https://shop.test/f","httpVersion":"h2","headers":[{"name":":authority","value":"shop.test"},{"name":"content-length","value":"3"}],
			 "postData":{"mimeType":"text/plain","text":"\u00ff\u00fea"}},"response":{"status":200,"headers":[{"name":"content-encoding","value":"br"},{"name":"content-length","value":"2"},{"name":"set-cookie","value":"a=1\nb=2"}],"content":{"size":5,"text":"aGVsbG8=","encoding":"base64"}}},
			{"startedDateTime":"bad","request":{"method":"POST","url":"http://shop.test/p","headers":[],"postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"1 2"},{"name":"b","value":"é"}]}},"response":{"status":0}},
			{"request":{"method":"POST","url":"http://shop.test/m","headers":[],"postData":{"mimeType":"multipart/form-data; boundary=xx","params":[{"name":"f","fileName":"a.txt","contentType":"text/plain","value":"T"}]}}},
			{"request":{"method":"GET","url":"data:text/plain,x","headers":[]}},
			{"request":{"method":"GET","url":7}},
			{"request":{"method":"GET","url":"http://shop.test/b","headers":[],"bodySize":0},"response":{"status":200,"content":{"size":9}}}
			]}}`,
			want: []string{
				"POST /f\nHost: shop.test\ncontent-length: 3\n\n\xff\xfea (3)\n-> 200 content-length: 5\nset-cookie: a=1\nset-cookie: b=2\nhello (5)",
				"POST /p\nHost: shop.test\n\na=1+2&b=%C3%A9 (14)",
				"POST /m\nHost: shop.test\n\n--xx\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nT\r\n--xx--\r\n (105)",
				"GET /b\nHost: shop.test\n\n-> 200  (9)",
			},
			skipped: []string{"entry 4", "entry 5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, end := range []string{"\n", "\r\n"} {
				if end != "\n" && (name == "HAR" || name == "curl") {
					continue
				}
				records, skips := decode(t, []byte(strings.ReplaceAll(tc.text, "\n", end)))
				var got []string
				for _, r := range records {
					got = append(got, show(r))
				}
				if a, b := strings.Join(got, "\n====\n"), strings.Join(tc.want, "\n====\n"); a != b {
					t.Errorf("got:\n%q\nwant:\n%q", a, b)
				}
				fresh := skips.New()
				if len(fresh) != len(tc.skipped) || int(skips.Total()) != len(tc.skipped) {
					t.Fatalf("left out: %v", fresh)
				}
				for i, err := range fresh {
					if !strings.HasPrefix(err.Error(), tc.skipped[i]+" ") {
						t.Errorf("left out %v instead of %s", err, tc.skipped[i])
					}
				}
			}
		})
	}
}

func TestGoReplaysOwnFile(t *testing.T) {
	data, err := os.ReadFile("testdata/requests.gor")
	if err != nil {
		t.Fatal(err)
	}
	records, skips := decode(t, data)
	if skips.Total() > 0 || len(records) != 5 {
		t.Fatalf("%d records, left out: %v", len(records), skips.New())
	}
	want := []string{"GET /news?page=2&q=a%2Fb;c 0", "POST /orders 33", "PUT /files//a%20b 1500", "DELETE /orders/17 0", "HEAD /health 0"}
	for i, r := range records {
		if got := fmt.Sprintf("%s %s %d", r.Method, r.URI, len(r.Body)); got != want[i] {
			t.Errorf("got %s, want %s", got, want[i])
		}
		if r.Response == nil || r.Response.Status != 200 || r.Response.DurationNS <= 0 || r.Truncated() || string(r.Host) != "127.0.0.1:8301" {
			t.Errorf("%s: %+v", want[i], r)
		}
	}
	if got := string(records[0].Headers); !strings.Contains(got, "X-Tag: one\r\nX-Tag: two\r\n") {
		t.Errorf("header %q", got)
	}
}

// Where a file ends within a header the request is not what was sent.
func TestGoReplaysFileThatEndsWithinAHeader(t *testing.T) {
	data, err := os.ReadFile("testdata/requests.gor")
	if err != nil {
		t.Fatal(err)
	}
	for request, before := range map[string]int{"GET /news": 0, "PUT /files": 2} {
		start := bytes.Index(data, []byte(request))
		for size := 1; size <= bytes.Index(data[start:], []byte("\r\n\r\n"))+2; size++ {
			if records, skips, err := decodeToEnd(t, data[:start+size]); len(records) != before || skips.Total() > 0 || !errors.Is(err, errCut) {
				t.Errorf("after %q: %d records, left out: %v, %v", data[start:start+size], len(records), skips.New(), err)
			}
		}
	}
}

// chromium.har is of a real Chromium, driven and recorded by Playwright, and
// chromium.txt has what the server saw of the same requests: method, target and
// body in base64. Playwright's HAR has no favicons, no bytes that are no text, and
// nothing of forms with files; of those it says how long they were.
func TestChromiumsOwnFile(t *testing.T) {
	data, err := os.ReadFile("testdata/chromium.har")
	if err != nil {
		t.Fatal(err)
	}
	seen, err := os.ReadFile("testdata/chromium.txt")
	if err != nil {
		t.Fatal(err)
	}
	sent := make(map[string][]string)
	for line := range strings.Lines(string(seen)) {
		words := strings.Split(strings.TrimSpace(line), " ")
		body, err := base64.StdEncoding.DecodeString(strings.Join(words[2:], ""))
		if err != nil {
			t.Fatal(err)
		}
		request := words[0] + " " + words[1]
		sent[request] = append(sent[request], string(body))
	}
	records, skips := decode(t, data)
	if len(records) != 7 || skips.Total() > 0 {
		t.Fatalf("%d records, left out: %v", len(records), skips.New())
	}
	cut := 0
	for _, r := range records {
		bodies := sent[string(r.Method)+" "+string(r.URI)]
		if r.Truncated() {
			cut++
			if !slices.ContainsFunc(bodies, func(body string) bool { return len(body) == int(r.BodySize) }) {
				t.Errorf("%s %s had %d bytes", r.Method, r.URI, r.BodySize)
			}
		} else if !slices.Contains(bodies, string(r.Body)) {
			t.Errorf("%s %s with %q was not sent", r.Method, r.URI, r.Body)
		}
		if r.TimeNS == 0 || r.Response == nil || r.Response.Status == 0 || !bytes.HasPrefix(r.Headers, []byte("Host: 127.0.0.1:27777\r\n")) {
			t.Errorf("%s %s: %+v", r.Method, r.URI, r)
		}
	}
	if page := string(records[0].Response.Body); !strings.HasPrefix(page, "<!doctype html>") || bytes.Contains(records[0].Response.Headers, []byte("Content-Encoding")) {
		t.Errorf("the page is %s\n%s", records[0].Response.Headers, page)
	}
	if pixel := string(records[1].Response.Body); pixel != "\x89PNG\r\n\x1a\n\x00\xff" {
		t.Errorf("the image is %q", pixel)
	}
	if cut != 2 {
		t.Errorf("%d bodies are cut", cut)
	}
}

// A separator within a body is part of it where the header says its length; a
// chunked body is taken apart; what is damaged costs its payload only.
func TestNastyGoReplayFiles(t *testing.T) {
	body := "before\n🐵🙈🙉\n1 x 1796051610837929044 0\nafter"
	sep := "\n🐵🙈🙉\n"
	text := "1 a1 1796051610000000000 0\nPOST /a HTTP/1.1\r\nHost: h\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\n\r\n" + body + sep +
		"3 a1 1796051610000000000 0\nHTTP/1.1 500 No\r\n\r\n" + sep +
		"1 b1 1796051610000000001 0\nPOST /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n" + sep +
		"1 c1 1796051610000000002 0\nrubbish" + sep +
		"2 b1 1796051610000000009 0\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab" + sep +
		"2 a1 1796051610000000007 0\nHTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n" + sep +
		"1 d1 1796051610000000003 0\nPOST /d HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc"
	records, skips, err := decodeToEnd(t, []byte(text))
	if len(records) != 2 || skips.Total() != 1 || err == nil || err.Error() != "payload 7: it is cut off" {
		t.Fatalf("%d records, left out: %v, %v", len(records), skips.New(), err)
	}
	if got := string(records[0].Body); got != body {
		t.Errorf("body %q", got)
	}
	if a := records[0].Response; a == nil || a.Status != 404 || string(a.Body) != "no" || a.DurationNS != 7 {
		t.Errorf("response %+v", a)
	}
	if r := records[1]; string(r.Body) != "abc" || string(r.Trailers) != "X-Sum: 1\r\n" || r.Response == nil || !r.Response.Truncated() {
		t.Errorf("got %+v", r)
	}
}

// Requests of one identifier have their responses in their order, also where one
// was given away without.
func TestIdentifiersOfGoReplayThatComeAgain(t *testing.T) {
	request := func(path string) string {
		return "1 a1 1796051610000000000 0\nGET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n\n🐵🙈🙉\n"
	}
	response := func(status int) string {
		return fmt.Sprintf("2 a1 1796051610000000001 0\nHTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n\n🐵🙈🙉\n", status)
	}
	records, skips := decode(t, []byte(request("/1")+request("/2")+response(201)+request("/3")+response(202)+response(203)+response(204)+request("/4")))
	var got []string
	for _, r := range records {
		status := 0
		if r.Response != nil {
			status = r.Response.Status
		}
		got = append(got, fmt.Sprintf("%s %d", r.URI, status))
	}
	if want := "/1 201 /2 202 /3 203 /4 0"; strings.Join(got, " ") != want || skips.Total() > 0 {
		t.Errorf("got %v, left out: %v", got, skips.New())
	}
	many := strings.Repeat(request("/"), maxUnanswered+1) + strings.Repeat(response(200), maxUnanswered)
	if records, _ = decode(t, []byte(many)); len(records) != maxUnanswered+1 || records[0].Response != nil || records[2].Response == nil {
		t.Errorf("%d records, answered: %v, %v", len(records), records[0].Response, records[2].Response)
	}
}

// A file of GoReplay's that ends anywhere but behind a message is said to be cut,
// and no message is given that is not whole.
func TestGorThatIsCutAnywhere(t *testing.T) {
	messages := []string{
		"1 a 1800000000000000000\nGET /1 HTTP/1.1\r\nHost: a\r\n\r\n",
		"2 a 1800000000000000001 5\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour",
		"1 b 1800000000000000002\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\na\nbody",
		"2 b 1800000000000000003 5\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n\r\nfive\r\n0\r\n\r\n",
		"1 d 1800000000000000004\nGET /4 HTTP/1.1\r\nHost: a\r\n\r\n",
		"2 d 1800000000000000005 5\nHTTP/1.1 204 OK\r\nX-Of: d\r\n\r\n",
		"1 e 1800000000000000005\nGET /5 HTTP/1.1\r\nHost: a\r\n\r\n",
		"2 e 1800000000000000006 5\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall that\ncame",
		"1 c 1800000000000000004\nPOST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nchunk\r\n0\r\nX-After: 1\r\n\r\n",
	}
	const separator = "\n" + gorSeparator
	text, ends := "", map[int]bool{}
	for _, m := range messages {
		text += m
		toClose := strings.Contains(m, "close")                 // only a separator ends it
		ends[len(text)], ends[len(text)+1] = !toClose, !toClose // a line end is no separator yet
		text += separator
		ends[len(text)], ends[len(text)+1] = true, true
		text += "\n"
	}
	whole, _ := decode(t, []byte(text))
	if len(whole) != 5 || string(whole[4].Body) != "chunk" || string(whole[3].Response.Body) != "all that\ncame" || string(whole[1].Response.Body) != "\r\nfive" {
		t.Fatalf("got %d records", len(whole))
	}
	for n := len("1 a 1800000000000000000\n"); n < len(text); n++ {
		decoder := newGor(strings.NewReader(text[:n]), false)
		for i := 0; ; i++ {
			r, err := decoder.Next()
			if err != nil {
				if said := errors.Is(err, errCut); said == ends[n] || decoder.Skipped().Total() > 0 {
					t.Errorf("cut behind %q: it is said: %v; error %v", text[max(0, n-20):n], said, err)
				}
				break
			}
			want := whole[i]
			if string(r.Body) != string(want.Body) || string(r.Trailers) != string(want.Trailers) || r.Truncated() {
				t.Errorf("cut behind %q: %s has the body %q", text[max(0, n-20):n], r.URI, r.Body)
			}
			if got := r.Response; got != nil && uint64(len(got.Body)) == got.BodySize && string(got.Body) != string(want.Response.Body) {
				t.Errorf("cut behind %q: %s has the answer %q", text[max(0, n-20):n], r.URI, got.Body)
			}
		}
	}
}

// An entry that is too long or no JSON is left out, and those around it are not.
func TestEntriesOfHARThatCannotBeRead(t *testing.T) {
	entry := func(path string) string { return `{"request":{"method":"GET","url":"http://a/` + path + `"}}` }
	long := `{"x":"],}\"` + strings.Repeat("x", maxEntry) + `"}`
	records, skips := decode(t, []byte(`{"log":{"entries":[ `+entry("1")+",\n"+long+","+entry("2")+`,{"a":1 2},7,`+entry("3")+` ] }}`))
	var got []string
	for _, r := range records {
		got = append(got, string(r.URI))
	}
	left := fmt.Sprint(skips.New())
	for _, want := range []string{fmt.Sprintf("entry 2 is left out: it has %d bytes, more than 64 MiB", len(long)+1), "entry 4 is left out: it is not JSON", "entry 5 is left out: the entry is not valid"} {
		if !strings.Contains(left, want) {
			t.Errorf("no %q in %s", want, left)
		}
	}
	if strings.Join(got, " ") != "/1 /2 /3" || skips.Total() != 3 {
		t.Errorf("got %v, left out: %v", got, left)
	}
	for _, text := range []string{`{"log":{"entries":[`, `{"log":{"entries":[` + entry("1"), `{"log":{"entries":[{"a":`} {
		decoder := newHAR(strings.NewReader(text), false)
		var err error
		for err == nil {
			_, err = decoder.Next()
		}
		if !errors.Is(err, errCut) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRecognizeWaitsForNoMoreThanItNeeds(t *testing.T) {
	line := `::1 - - [30/Nov/2026:15:13:30 +0000] "GET /a HTTP/1.1" 200 5` + "\n"
	if _, sure := Recognize([]byte(line[:20]), false); sure {
		t.Error("the beginning of a line is enough")
	}
	if f, _ := Recognize([]byte(line), false); f == nil {
		t.Error("a whole line is not enough")
	}
	if f, sure := Recognize([]byte("\x00\x01\x02\x03"), false); f != nil || !sure {
		t.Error("a recording is taken for a text")
	}
	if f, sure := Recognize(bytes.Repeat([]byte("a"), HeadSize), false); f != nil || !sure {
		t.Error("it waits for the end of a line without one")
	}
}

func TestLongLinesAreLeftOut(t *testing.T) {
	line := `::1 - - [30/Nov/2026:15:13:30 +0000] "GET /a HTTP/1.1" 200 5` + "\n"
	records, skips := decode(t, []byte(line+strings.Repeat("x", maxLine+1)+"\n"+line))
	if len(records) != 2 || skips.Total() != 1 {
		t.Errorf("%d records, left out: %v", len(records), skips.New())
	}
}

func TestBodiesOfListsAreBelowTheWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	outside := filepath.Join(t.TempDir(), "secret")
	for name, text := range map[string]string{outside: "secret", "body": "mine\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, "link"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"body": "mine\n", "link": "", outside: "", "../x": "", ".": ""} {
		records, _ := decode(t, []byte("POST http://shop.test/\n@"+name+"\n\ncurl x\n"))
		if got := len(records) == 1 && string(records[0].Body) == want; got != (want != "") {
			t.Errorf("%s: %v", name, records)
		}
	}
}

func TestAHostIsOne(t *testing.T) {
	for _, host := range []string{"a b", `a\r\nX: y`, "a/b"} {
		if records, skips := decode(t, []byte(`{"method":"GET","url":"http://a/","fields":[["Host","`+host+`"]]}`)); skips.Total() != 1 {
			t.Errorf("%s: %v", host, records)
		}
	}
}

func FuzzDecode(f *testing.F) {
	gor, err := os.ReadFile("testdata/requests.gor")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(gor)
	f.Add([]byte(`{"log":{"entries":[{"request":{"method":"GET","url":"http://a/"}}]}}`))
	f.Add([]byte("curl -d @x $'a\\x41' http://a \\\n -H 'a: b'\n"))
	f.Add([]byte(`::1 - - [30/Nov/2026:15:13:30 +0000] "GET /\x22 HTTP/1.1" 200 5`))
	f.Add([]byte("POST http://a/\nA: b\n@x\n"))
	f.Add([]byte(`{"ts":1,"msg":"handled request","request":{"method":"GET","uri":"/"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		format, _ := Recognize(data, true)
		if format == nil {
			return
		}
		decoder := format.New(bytes.NewReader(data), len(data)%2 == 0)
		for range len(data) + 1 {
			r, err := decoder.Next()
			if err != nil {
				return
			}
			if len(r.Method) == 0 || len(r.URI) == 0 {
				t.Fatalf("a record without a request line: %+v", r)
			}
		}
		t.Fatal("more records than bytes")
	})
}
