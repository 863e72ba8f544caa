// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// JUnit's form, as CI systems read it: a suite for each target and one for the
// run as a whole.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Error   *junitMessage `xml:"error,omitempty"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes the report as test cases: one of each condition and target,
// failed if it does not hold, and of each target one that all was answered, in
// error if not. A target's time is that of its run.
func (r *Report) writeJUnit(w io.Writer) error {
	all := junitSuites{Name: "caddy replay", Time: seconds(r.ElapsedMS)}
	for i := range r.Targets {
		t := &r.Targets[i]
		s := junitSuite{Name: Escape(t.Name), Time: seconds(t.ElapsedMS), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05")}
		for _, c := range r.Checks {
			if c.Target == t.Name {
				s.add(c.test())
			}
		}
		s.add(t.answered(r))
		all.add(s)
	}
	run := junitSuite{Name: "run", Time: seconds(r.ElapsedMS), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05")}
	if r.Found != nil {
		run.add(r.Found.test())
	}
	run.add(r.read())
	all.add(run)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "\t")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (a *junitSuites) add(s junitSuite) {
	a.Suites = append(a.Suites, s)
	a.Tests, a.Failures, a.Errors = a.Tests+s.Tests, a.Failures+s.Failures, a.Errors+s.Errors
}

func (s *junitSuite) add(c junitCase) {
	c.Class = "replay." + s.Name
	c.Time = "0"
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Error != nil {
		s.Errors++
	}
	s.Cases = append(s.Cases, c)
}

// test returns the case of a condition.
func (c *Check) test() junitCase {
	test := junitCase{Name: Escape(c.Condition), Output: Escape("it is " + c.Value)}
	if !c.OK {
		text := Escape(fmt.Sprintf("%s does not hold: it is %s", c.Condition, c.Value))
		test.Failure, test.Output = &junitMessage{text, text}, ""
	}
	return test
}

// answered returns the case that a target has answered all there was.
func (t *Target) answered(r *Report) junitCase {
	test := junitCase{Name: "all requests answered", Output: fmt.Sprintf("%s of %s", count(t.Answers), plural(t.Requests+t.Unsent+t.Unlinked, "request"))}
	var missing int64
	var kinds []string
	if !r.judged(Condition.OfUnlinked) && t.Unlinked > 0 {
		missing, kinds = t.Unlinked, append(kinds, "not sent, since what they need was in no answer: "+count(t.Unlinked))
	}
	if !r.errorsAllowed() {
		missing += t.Errors + t.Unsent
		for _, kind := range (&Report{Targets: []Target{*t}}).kinds() {
			kinds = append(kinds, fmt.Sprintf("%s: %s", Escape(kind), count(t.ErrorsByKind[kind])))
		}
		if t.Unsent > 0 {
			kinds = append(kinds, "not started in time: "+count(t.Unsent))
		}
	}
	links := t.brokenText()
	if missing == 0 {
		test.Output += links
		return test
	}
	message := fmt.Sprintf("%s of %s have no answer", count(missing), plural(t.Requests+t.Unsent+t.Unlinked, "request"))
	test.Error, test.Output = &junitMessage{message, strings.Join(kinds, "\n") + links}, ""
	return test
}

// read returns the case that all could be read and something was sent.
func (r *Report) read() junitCase {
	test := junitCase{Name: "recordings read and sent"}
	switch {
	case len(r.Problems) > 0:
		test.Error = &junitMessage{"part of the recording could not be read", Escape(strings.Join(r.Problems, "; "))}
	case len(r.Incomplete) > 0:
		text := Escape(strings.Join(r.Incomplete, "; "))
		test.Error = &junitMessage{text, text}
	case r.nothingSent():
		test.Error = &junitMessage{"nothing was sent", "nothing was sent"}
	}
	return test
}

func seconds(ms float64) string { return strconv.FormatFloat(ms/1000, 'f', 3, 64) }
