// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import "strings"

// ofCookie is a condition on a cookie. With WireMock, nothing but `absent` is
// met by a cookie that is not there: not even `doesNotContain`.
type ofCookie struct{ pattern }

func (p ofCookie) matches(v value) bool {
	_, isAbsent := p.pattern.(absent)
	return (v.present || isAbsent) && p.pattern.matches(v)
}

// cookies takes the conditions on cookies.
func (f *fields) cookies() ([]condition, error) {
	list, err := f.conditions("cookies", cookieValues)
	for i := range list {
		if list[i].one != nil {
			list[i].one = ofCookie{list[i].one}
		}
	}
	return list, err
}

func cookieValues(r *Request, name string, visit visitor) {
	visitNamed(r.cookieParameters(), name, visit)
}

func (r *Request) cookieParameters() []parameter {
	if !r.parsed.cookies {
		r.parsed.cookies = true
		for _, line := range r.header("Cookie") {
			for pair := range strings.SplitSeq(line, ";") {
				if name, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && name != "" {
					r.cookies = append(r.cookies, parameter{name, unquote(value)})
				}
			}
		}
	}
	return r.cookies
}

func unquote(value string) string {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}
