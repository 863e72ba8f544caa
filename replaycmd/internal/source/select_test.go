// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// list is a source of given records.
type list []*recording.Request

func (l *list) Next() (*recording.Request, error) {
	if len(*l) == 0 {
		return nil, io.EOF
	}
	r := (*l)[0]
	*l = (*l)[1:]
	return r, nil
}

func (*list) Close() error { return nil }

func sample() *list {
	l := new(list)
	for i, line := range []string{"GET /", "GET /api/users/1?x=/api", "POST /api/users", "GET /static/a.css", "DELETE /api/users/1"} {
		method, target, _ := strings.Cut(line, " ")
		*l = append(*l, &recording.Request{
			ID: fmt.Appendf(nil, "%d", i), Method: []byte(method), URI: []byte(target), TimeNS: origin + int64(i)*int64(time.Second),
		})
	}
	return l
}

func TestFilter(t *testing.T) {
	moment := func(text string) Moment {
		m, err := ParseMoment(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	at := func(seconds int64) string { return time.Unix(0, origin+seconds*1e9).UTC().Format(time.RFC3339) }
	for name, tc := range map[string]struct {
		filter Filter
		want   string
	}{
		"all":              {Filter{}, "0 1 2 3 4"},
		"method":           {Filter{Methods: []string{"POST", "DELETE"}}, "2 4"},
		"methods are case": {Filter{Methods: []string{"post"}}, ""},
		"path":             {Filter{Paths: []Glob{"/api/*"}}, "1 2 4"},
		"paths":            {Filter{Paths: []Glob{"/", "*.css"}}, "0 3"},
		"one character":    {Filter{Paths: []Glob{"/api/users/?"}}, "1 4"},
		"literal":          {Filter{Paths: []Glob{"/static/a+css"}}, ""},
		"identifier":       {Filter{IDs: []string{"3"}}, "3"},
		"since":            {Filter{Since: moment("2s")}, "2 3 4"},
		"until":            {Filter{Until: moment("2s")}, "0 1"},
		"between":          {Filter{Since: moment(at(1)), Until: moment(at(3))}, "1 2"},
		"together":         {Filter{Since: moment("2s"), Methods: []string{"GET"}}, "3"},
	} {
		tc.filter.Source = sample()
		if got := strings.Join(ids(t, &tc.filter), " "); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
	for _, text := range []string{"", "yesterday", "-5s", "2026-11-30", "5"} {
		if _, err := ParseMoment(text); err == nil {
			t.Errorf("%q was read as a time", text)
		}
	}
}

func TestPercentChoosesTheSameRecordsEveryTime(t *testing.T) {
	choose := func(percent float64, named bool) []string {
		l := new(list)
		for i := range 8_000 {
			r := &recording.Request{Method: []byte("GET"), URI: fmt.Appendf(nil, "/%d", i)}
			if named {
				r.ID = fmt.Appendf(nil, "FH-1700000000000000%03d-%d", i%1000, i)
			}
			*l = append(*l, r)
		}
		f := &Filter{Source: l, Percent: (*units.Percent)(&percent)}
		var chosen []string
		for {
			r, err := f.Next()
			if err != nil {
				return chosen
			}
			chosen = append(chosen, string(r.URI))
		}
	}
	for _, named := range []bool{true, false} {
		for _, percent := range []float64{0, 1, 12.5, 50, 100} {
			chosen := choose(percent, named)
			want := percent / 100 * 8_000
			if off := float64(len(chosen)) - want; off > 150 || off < -150 || (percent == 0 || percent == 100) && off != 0 {
				t.Errorf("named %v: %v%% are %d", named, percent, len(chosen))
			}
			if !slices.Equal(chosen, choose(percent, named)) {
				t.Errorf("named %v: %v%% are others the second time", named, percent)
			}
		}
	}
}

func TestLoopGoesOnInTime(t *testing.T) {
	rounds := 0
	l, err := NewLoop(func() (Source, error) { rounds++; return sample(), nil })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i := range int64(23) {
		r, err := l.Next()
		if err != nil {
			t.Fatal(err)
		}
		if at := r.TimeNS - origin; at != i*int64(time.Second) {
			t.Fatalf("record %d is at %v, want %ds", i, time.Duration(at), i)
		}
	}
	if rounds != 5 {
		t.Errorf("there were %d rounds", rounds)
	}
}

// TestLoopWithoutSomeTimes has records without a time, at the beginning too: they
// count for no distance.
func TestLoopWithoutSomeTimes(t *testing.T) {
	second := int64(time.Second)
	l, err := NewLoop(func() (Source, error) {
		return &list{{}, {TimeNS: origin}, {}, {TimeNS: origin + 2*second}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, want := range []int64{0, 0, 0, 2, 0, 4, 0, 6, 0, 8, 0, 10} {
		r, err := l.Next()
		if err != nil {
			t.Fatal(err)
		}
		if at := max(r.TimeNS-origin, 0); at != want*second {
			t.Errorf("a record is at %v, want %ds", time.Duration(at), want)
		}
	}
}

func TestLoopOfNothingAndOfOne(t *testing.T) {
	l, err := NewLoop(func() (Source, error) { return new(list), nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("nothing over and over: got error %v", err)
	}
	one := func() (Source, error) { return &list{{ID: []byte("1"), TimeNS: origin}}, nil }
	if l, err = NewLoop(one); err != nil {
		t.Fatal(err)
	}
	for i := range int64(3) {
		r, err := l.Next()
		if err != nil || r.TimeNS != origin+i*int64(time.Second) {
			t.Errorf("got %v, error %v", r, err)
		}
	}
}

func TestURL(t *testing.T) {
	u, err := NewURL("http://127.0.0.1:9002/a?b=c#d")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := u.Next()
		if err != nil || string(r.URI) != "/a?b=c" || string(r.Host) != "127.0.0.1:9002" || u.Origin != "http://127.0.0.1:9002" {
			t.Errorf("got %s of %s, error %v", r.URI, r.Host, err)
		}
	}
	for _, text := range []string{"http://", "http://a b/", "http://user:secret@host/"} {
		if _, err := NewURL(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestAStreamEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	pipe, end := io.Pipe()
	defer end.Close()
	r := streamOf(pipe).Reader(ctx)
	go func() {
		end.Write([]byte("some"))
		cancel()
	}()
	data, err := io.ReadAll(r)
	if len(data) > 4 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %q, error %v", data, err)
	}
}

func TestAStreamGivesAll(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), 100_000)
	got, err := io.ReadAll(streamOf(bytes.NewReader(want)).Reader(t.Context()))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, error %v", len(got), err)
	}
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c > 127 })
}

func FuzzGlob(f *testing.F) {
	f.Add("/api/*", "/api/users")
	f.Add("*?*", "/\xff")
	f.Add("a*b*c?", "abbbcbcd")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		matched := Glob(pattern).match([]byte(path))
		if quoted := regexp.QuoteMeta(pattern); utf8.ValidString(pattern) && isASCII(path) {
			quoted = strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(quoted)
			if want := regexp.MustCompile("(?s)^" + quoted + "$").MatchString(path); matched != want {
				t.Errorf("%q matches %q: %v", pattern, path, matched)
			}
		}
		if !strings.ContainsAny(pattern, "*?") && matched != (pattern == path) {
			t.Errorf("%q matches %q: %v", pattern, path, matched)
		}
	})
}
