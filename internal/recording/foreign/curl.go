// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
)

func beginsCurl(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("$ ")), []byte("curl "))
}

func newCurl(r io.Reader, _ bool) Decoder {
	l := &lineDecoder{lines: newLines(r)}
	l.parse = l.parseCurl
	return l
}

// parseCurl reads a command line of curl, which goes on behind a backslash at its
// end and within quotes.
func (l *lineDecoder) parseCurl(d *draft, line []byte) error {
	text := strings.TrimSpace(string(line))
	if text == "" || text[0] == '#' {
		return nil
	}
	if !beginsCurl(line) {
		return errors.New("it is no command line of curl")
	}
	text = string(line)
	for range maxCurlLines {
		words, more, err := shellWords(strings.TrimPrefix(strings.TrimSpace(text), "$ "))
		if err != nil {
			return err
		}
		if !more {
			return new(curl).fill(d, words[1:])
		}
		next, err := l.next()
		if err != nil || len(text)+len(next) > maxCurlText {
			return errCut
		}
		text += "\n" + string(next)
	}
	return fmt.Errorf("it has more than %d lines", maxCurlLines)
}

// A command line over several lines has no more of them, and no more bytes.
const (
	maxCurlLines = 256
	maxCurlText  = 1 << 20
)

// curl is what a command line says.
type curl struct {
	method, url string
	data        []string
	isData      bool
	inQuery     bool
	json        bool
	head        bool
	compressed  bool
	form        *formBody
}

// curlFlags are options without a value that change nothing of the request.
const curlFlags = " -s -S -k -L -v -i -f -N -g -# -0 --silent --show-error --insecure --location --verbose --include --fail --no-buffer --globoff" +
	" --progress-bar --http1.0 --http1.1 --http2 --http3 --http2-prior-knowledge --fail-with-body --no-keepalive --path-as-is --no-progress-meter -4 -6 --ipv4 --ipv6 "

// curlValues are options whose value changes nothing of the request.
const curlValues = " -o --output -m --max-time --connect-timeout -w --write-out --retry --retry-delay -x --proxy --resolve --cacert --cert --key -E --max-redirs" +
	" --limit-rate --interface -c --cookie-jar -D --dump-header --connect-to --unix-socket "

func (c *curl) fill(d *draft, words []string) error {
	for i := 0; i < len(words); i++ {
		word := words[i]
		name, value, given := word, "", false
		switch {
		case !strings.HasPrefix(word, "-") || word == "-":
			if c.url != "" {
				return errors.New("it has two URLs: expected one a line")
			}
			c.url = word
			continue
		case strings.HasPrefix(word, "--"):
			name, value, given = strings.Cut(word, "=")
		case len(word) > 2 && strings.Contains(curlFlags+"-G -I ", " "+word[:2]+" "): // -sS
			words[i] = "-" + word[2:]
			name = word[:2]
			i--
		case len(word) > 2:
			name, value, given = word[:2], word[2:], true
		}
		if c.flag(name) {
			continue
		}
		if !given {
			if i+1 >= len(words) {
				return fmt.Errorf("option %s is not known, or has no value", name)
			}
			i++
			value = words[i]
		}
		if err := c.option(d, name, value); err != nil {
			return err
		}
	}
	return c.finish(d)
}

// flag takes an option without a value.
func (c *curl) flag(name string) bool {
	switch name {
	case "-G", "--get":
		c.inQuery = true
	case "-I", "--head":
		c.head = true
	case "--compressed":
		c.compressed = true
	default:
		return strings.Contains(curlFlags, " "+name+" ")
	}
	return true
}

func (c *curl) option(d *draft, name, value string) error {
	switch name {
	case "-X", "--request":
		c.method = value
	case "--url":
		c.url = value
	case "-H", "--header":
		field, text, found := strings.Cut(value, ":")
		if !found {
			field, found = strings.CutSuffix(value, ";")
			text = ""
		}
		if !found {
			return fmt.Errorf("'%s' is not a header field", shorten(value))
		}
		d.field(strings.TrimSpace(field), strings.TrimSpace(text))
	case "-A", "--user-agent":
		d.field("User-Agent", value)
	case "-e", "--referer":
		d.field("Referer", value)
	case "-b", "--cookie":
		if !strings.Contains(value, "=") {
			return errors.New("its cookies are in a file of their own")
		}
		d.field("Cookie", value)
	case "-u", "--user":
		d.field("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(value)))
	case "-d", "--data", "--data-ascii", "--data-raw", "--data-binary", "--data-urlencode", "--json":
		return c.addData(name, value)
	case "-F", "--form", "--form-string":
		return c.addForm(name, value)
	default:
		if !strings.Contains(curlValues, " "+name+" ") {
			return fmt.Errorf("option %s is not known", shorten(name))
		}
	}
	return nil
}

func (c *curl) addData(name, value string) error {
	c.isData = true
	c.json = c.json || name == "--json"
	if file, ok := strings.CutPrefix(value, "@"); ok && name != "--data-raw" && name != "--data-urlencode" {
		body, err := readBody(file)
		if err != nil {
			return err
		}
		value = string(body)
		if name != "--data-binary" && name != "--json" {
			value = strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(value)
		}
	}
	if name == "--data-urlencode" {
		field, text, named := strings.Cut(value, "=")
		switch {
		case strings.Contains(field, "@"):
			return errors.New("--data-urlencode with a file is not supported")
		case !named:
			value = url.QueryEscape(value)
		case field == "":
			value = url.QueryEscape(text)
		default:
			value = field + "=" + url.QueryEscape(text)
		}
	}
	c.data = append(c.data, value)
	return nil
}

func (c *curl) addForm(option, value string) error {
	name, text, found := strings.Cut(value, "=")
	if !found {
		return fmt.Errorf("'%s' is not a part of a form: expected NAME=VALUE", shorten(value))
	}
	if c.form == nil {
		c.form = &formBody{boundary: formBoundary}
	}
	if option == "--form-string" || text == "" || text[0] != '@' && text[0] != '<' {
		c.form.add(name, text, "", "")
		return nil
	}
	file, kind, _ := strings.Cut(text[1:], ";type=")
	body, err := readBody(file)
	if err != nil {
		return err
	}
	if text[0] == '<' {
		c.form.add(name, string(body), "", kind)
		return nil
	}
	if kind == "" {
		kind = "application/octet-stream"
	}
	c.form.add(name, string(body), file[strings.LastIndexByte(file, '/')+1:], kind)
	return nil
}

// finish makes the request of what was said, with the fields that curl adds.
func (c *curl) finish(d *draft) error {
	if c.url == "" {
		return errors.New("it has no URL")
	}
	if !strings.Contains(c.url, "://") {
		c.url = "http://" + c.url
	}
	host := d.Host // of -H
	if err := d.setURL(c.url); err != nil {
		return err
	}
	if len(host) > 0 {
		d.Host = host
	}
	data, kind := strings.Join(c.data, "&"), "application/x-www-form-urlencoded"
	if c.json {
		data, kind = strings.Join(c.data, ""), "application/json"
	}
	method := "GET"
	switch {
	case c.head:
		method = "HEAD"
	case c.inQuery && c.isData:
		mark := "?"
		if bytes.IndexByte(d.URI, '?') >= 0 {
			mark = "&"
		}
		d.URI = append(d.URI, mark+data...)
	case c.form != nil:
		method, d.Body = "POST", c.form.bytes()
		c.field(d, "Content-Type", "multipart/form-data; boundary="+formBoundary)
	case c.isData:
		method, d.Body = "POST", []byte(data)
		c.field(d, "Content-Type", kind)
	}
	if c.json {
		c.field(d, "Accept", "application/json")
	}
	if c.compressed {
		c.field(d, "Accept-Encoding", "deflate, gzip, br, zstd")
	}
	c.field(d, "Accept", "*/*")
	d.Method = []byte(method)
	if c.method != "" {
		d.Method = []byte(c.method)
	}
	return nil
}

// field adds a field unless it was given.
func (*curl) field(d *draft, name, value string) {
	if !d.has(name) {
		d.field(name, value)
	}
}
