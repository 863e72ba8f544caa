// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// ParseJSON returns the value of a text; false if it is not JSON, is larger
// than LargestJSON or is nested deeper than 1000 levels.
func ParseJSON(text string) (document any, ok bool) {
	if !ValidJSON(text) {
		return nil, false
	}
	r := reader{text: text}
	return r.value(), true
}

// ParseExact is ParseJSON with numbers that keep the digits which they are written
// with: one with a fraction and without an exponent is a json.Number.
func ParseExact(text string) (document any, ok bool) {
	if !ValidJSON(text) {
		return nil, false
	}
	r := reader{text: text, exact: true}
	return r.value(), true
}

// Nesting returns how deep JSON is nested, without parsing it.
func Nesting(text string) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			most = max(most, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return most
}

// AppendJSON appends a value as JSON without white space. It stops where the
// budget ends.
func AppendJSON(buffer []byte, value any, b *Budget) []byte {
	if !b.Spend(1) {
		return buffer
	}
	switch v := value.(type) {
	case []any:
		buffer = append(buffer, '[')
		for i, element := range v {
			if i > 0 {
				buffer = append(buffer, ',')
			}
			buffer = AppendJSON(buffer, element, b)
		}
		return append(buffer, ']')
	case *Object:
		buffer = append(buffer, '{')
		for i, m := range v.Members {
			if i > 0 {
				buffer = append(buffer, ',')
			}
			buffer = append(appendQuoted(buffer, m.Name, b), ':')
			buffer = AppendJSON(buffer, m.Value, b)
		}
		return append(buffer, '}')
	}
	return appendPlain(buffer, value, b)
}

// AppendIndented appends JSON as Jackson indents it; members that are null are
// left out. It stops where the budget ends.
func AppendIndented(buffer []byte, value any, b *Budget) []byte {
	return appendIndented(buffer, value, "\n", false, b)
}

// AppendIndentedWhole is AppendIndented with the members that are null.
func AppendIndentedWhole(buffer []byte, value any, b *Budget) []byte {
	return appendIndented(buffer, value, "\n", true, b)
}

// appendIndented has a line break that contains the indentation.
func appendIndented(buffer []byte, value any, lineBreak string, nulls bool, b *Budget) []byte {
	if !b.Spend(1) {
		return buffer
	}
	switch v := value.(type) {
	case []any:
		if len(v) == 0 {
			return append(buffer, "[ ]"...)
		}
		buffer = append(buffer, "[ "...)
		for i, element := range v {
			if i > 0 {
				buffer = append(buffer, ", "...)
			}
			buffer = appendIndented(buffer, element, lineBreak, nulls, b)
		}
		return append(buffer, " ]"...)
	case *Object:
		return appendMembers(buffer, v, lineBreak, nulls, b)
	}
	return appendPlain(buffer, value, b)
}

func appendMembers(buffer []byte, object *Object, lineBreak string, nulls bool, b *Budget) []byte {
	start := len(buffer)
	for _, m := range object.Members {
		if m.Value == nil && !nulls {
			continue
		}
		if !b.Spend(len(lineBreak) + 2) {
			return buffer
		}
		if len(buffer) == start {
			buffer = append(buffer, '{')
		} else {
			buffer = append(buffer, ',')
		}
		buffer = append(append(buffer, lineBreak...), "  "...)
		buffer = append(appendQuoted(buffer, m.Name, b), " : "...)
		buffer = appendIndented(buffer, m.Value, lineBreak+"  ", nulls, b)
	}
	if len(buffer) == start {
		return append(buffer, "{ }"...)
	}
	if !b.Spend(len(lineBreak)) {
		return buffer
	}
	return append(append(buffer, lineBreak...), '}')
}

func appendPlain(buffer []byte, value any, b *Budget) []byte {
	switch v := value.(type) {
	case nil:
		return append(buffer, "null"...)
	case string:
		return appendQuoted(buffer, v, b)
	}
	return AppendScalar(buffer, value)
}

// AppendJava appends a value as Java's toString writes maps, {name=value}, and
// lists within them as JSON. It stops where the budget ends.
func AppendJava(buffer []byte, value any, b *Budget) []byte {
	object, ok := value.(*Object)
	if !ok {
		if text, isText := value.(string); isText {
			if !b.Spend(len(text)) {
				return buffer
			}
			return append(buffer, text...)
		}
		return AppendJSON(buffer, value, b)
	}
	if !b.Spend(1) {
		return buffer
	}
	buffer = append(buffer, '{')
	for i, m := range object.Members {
		if i > 0 {
			buffer = append(buffer, ", "...)
		}
		if !b.Spend(len(m.Name)) {
			return buffer
		}
		buffer = AppendJava(append(append(buffer, m.Name...), '='), m.Value, b)
	}
	return append(buffer, '}')
}

// PlainTexts returns JSON without escapes in its texts but for those that have to
// be there.
func PlainTexts(data []byte) []byte {
	if bytes.IndexByte(data, '\\') < 0 {
		return data
	}
	out := make([]byte, 0, len(data))
	b := NewBudget(len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '"' {
			out = append(out, data[i])
			continue
		}
		r := reader{text: string(data[i:textEnd(data, i)])}
		out = appendQuoted(out, r.string(), &b)
		i += len(r.text) - 1
	}
	return out
}

// textEnd returns where the text that begins at a place ends.
func textEnd(data []byte, begin int) int {
	for i := begin + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// AppendScalar appends a number or a truth value as Java writes it.
func AppendScalar(buffer []byte, value any) []byte {
	switch v := value.(type) {
	case int64:
		return strconv.AppendInt(buffer, v, 10)
	case float64:
		return append(buffer, javaDouble(v)...)
	case bool:
		return strconv.AppendBool(buffer, v)
	case json.Number:
		return append(buffer, v...)
	}
	return buffer
}

// javaDouble writes a number as Java's Double.toString: always with a
// fraction, with an exponent outside of a thousandth to ten million.
func javaDouble(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-3 || a >= 1e7) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent)
		return mantissa + "E" + strconv.Itoa(n)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// isPlain reports whether nothing in a text has to be escaped.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// appendQuoted appends a text in quotes. Six bytes are the most that one
// becomes.
func appendQuoted(buffer []byte, s string, b *Budget) []byte {
	if !b.Spend(len(s)) {
		return buffer
	}
	if isPlain(s) {
		return append(append(append(buffer, '"'), s...), '"')
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string can always be encoded
	return append(buffer, strings.TrimSuffix(out.String(), "\n")...)
}
