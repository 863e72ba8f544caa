// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

var simplePath = regexp.MustCompile(`^[A-Za-z0-9/_.,-]+$`)

// pathMatcher returns the matcher of a path, which stands beside one of the body
// where ofBody is set. Caddy's path knows neither case nor one segment, so that
// most need a pattern. Both have the path cleaned before they look at it; a path
// that has something to clean is looked at as it came.
func pathMatcher(template string, ofBody bool) (matcher string, ok bool) {
	switch {
	case !isClean(template):
		// of two vars_regexp in a matcher one would do
		return "vars_regexp {http.request.uri.path} " + quotedPattern("^"+pathPattern(template, unescaped)+"$"), !ofBody
	case !strings.Contains(template, "*") && simplePath.MatchString(template) && template == strings.ToLower(template):
		return "path " + template, true
	}
	return "path_regexp " + quotedPattern("^"+pathPattern(template, unescaped)+"$"), true
}

// pathPattern returns the pattern of the paths of a template, whose segments are
// compared as the function has them.
func pathPattern(template string, compared func(string) string) string {
	segments := strings.Split(template, "/")
	for i, segment := range segments {
		if segment == "*" {
			segments[i] = "[^/]+"
			continue
		}
		segments[i] = literal(compared(segment))
	}
	return strings.Join(segments, "/")
}

// unescaped returns a path as Caddy compares it.
func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// isClean reports whether a path has no empty segment but the last one, and none
// that is a dot or two.
func isClean(template string) bool {
	plain := strings.TrimPrefix(unescaped(template), "/")
	for segment := range strings.SplitSeq(strings.TrimSuffix(plain, "/"), "/") {
		if segment == "." || segment == ".." || segment == "" && plain != "" {
			return false
		}
	}
	return true
}

// cleanness returns 0 for a route whose path is not clean, else 1.
func cleanness(seen *observed) int {
	if isClean(seen.kind.pattern.path) {
		return 1
	}
	return 0
}

// literal returns the pattern of a text, without braces, of which Caddy would
// take some for a placeholder.
func literal(text string) string {
	return strings.NewReplacer("{", `x7b`, "}", `x7d`).Replace(regexp.QuoteMeta(text))
}

// bodyPattern returns the pattern of a body that has the values of the keys which
// are in bodies; empty if none is. A member of JSON is found at any depth.
func bodyPattern(keys []KeyValue) string {
	var parts []string
	for _, key := range keys {
		switch key.Place.In {
		case "body":
			value := inJSON(key.Value)
			if json.Valid([]byte(key.Value)) { // a number, true or false, or a text that looks like one
				value = `"?` + literal(key.Value) + `"?`
			}
			parts = append(parts, inJSON(key.Place.Name)+`\s*:\s*`+value+`\s*[,\x7d]`)
		case "form":
			parts = append(parts, `(?:^|&)`+inForm(key.Place.Name)+`=`+inForm(key.Value)+`(?:&|$)`)
		}
	}
	if len(parts) == 2 { // in either order
		return "(?s)" + parts[0] + ".*" + parts[1] + "|(?s)" + parts[1] + ".*" + parts[0]
	}
	return strings.Join(parts, "")
}

// inJSON returns the pattern of a text as JSON has it.
func inJSON(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a text can be
	return literal(strings.TrimSpace(out.String()))
}

// inForm returns the pattern of a text as a form has it, which may escape more of
// it than it has to.
func inForm(text string) string {
	var out strings.Builder
	for _, c := range text {
		switch escaped := url.QueryEscape(string(c)); {
		case c == ' ':
			out.WriteString(`(?:\+|%20)`)
		case escaped == string(c):
			out.WriteString(literal(escaped))
		case unicode.IsControl(c) || strings.ContainsRune("&=%+", c):
			out.WriteString("(?i:" + escaped + ")")
		default:
			out.WriteString("(?:(?i:" + escaped + ")|" + literal(string(c)) + ")")
		}
	}
	return out.String()
}

// quotedPattern returns a pattern as an argument, with escapes for what would end it.
func quotedPattern(text string) string {
	var out strings.Builder
	quote := false
	for _, c := range text {
		switch {
		case unicode.IsControl(c) || c == '`':
			fmt.Fprintf(&out, `\x{%x}`, c)
			quote = true
		default:
			out.WriteRune(c)
			quote = quote || strings.ContainsRune(" \"{}#", c)
		}
	}
	if quote {
		return "`" + out.String() + "`"
	}
	return out.String()
}
