// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/base64"
	"net/url"
	"strings"
)

func compileBase64(c *call) (evaluator, error) {
	decode, padding := c.option("decode", false), c.option("padding", true)
	return func(s *scope) any {
		text := c.text(s, 0)
		switch {
		case truthy(decode(s)):
			decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
			if err != nil {
				return problem("%s is not base64", text)
			}
			return string(decoded)
		case truthy(padding(s)):
			return base64.StdEncoding.EncodeToString([]byte(text))
		}
		return base64.RawStdEncoding.EncodeToString([]byte(text))
	}, nil
}

func compileURLEncode(c *call) (evaluator, error) {
	decode := c.option("decode", false)
	return func(s *scope) any {
		text := c.text(s, 0)
		if !truthy(decode(s)) {
			return url.QueryEscape(text)
		}
		decoded, err := url.QueryUnescape(text)
		if err != nil {
			return problem("%v", err)
		}
		return decoded
	}, nil
}
