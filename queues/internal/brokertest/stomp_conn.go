// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

type stompConn struct {
	net.Conn
	b         *Stomp
	out       sync.Mutex
	address   string // that it is subscribed to
	prefetch  int
	unsettled map[string]*Message
	gone      bool
}

// end returns to its queue what the connection has not settled.
func (c *stompConn) end() {
	c.b.mu.Lock()
	if !c.gone {
		c.gone = true
		delete(c.b.conns, c)
		for _, m := range c.unsettled {
			c.b.queues[c.address] = append(c.b.queues[c.address], m)
		}
		c.unsettled = nil
	}
	c.b.mu.Unlock()
	c.b.pump()
}

var stompEscapes = strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r", ":", "\\c")

func (c *stompConn) send(command string, headers map[string]string, body string) {
	var out bytes.Buffer
	out.WriteString(command + "\n")
	for name, value := range headers {
		out.WriteString(stompEscapes.Replace(name) + ":" + stompEscapes.Replace(value) + "\n")
	}
	out.WriteString("\n" + body + "\x00\n")
	c.out.Lock()
	defer c.out.Unlock()
	_, _ = c.Write(out.Bytes())
}

func (c *stompConn) serve() {
	defer c.end()
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		command, headers, body, err := readStomp(in)
		if err != nil || !c.handle(command, headers, body) {
			return
		}
	}
}

func readStomp(in *bufio.Reader) (command string, headers map[string]string, body string, err error) {
	for command == "" {
		line, err := in.ReadString('\n')
		if err != nil {
			return "", nil, "", err
		}
		command = strings.TrimSpace(line)
	}
	headers = make(map[string]string)
	unescape := strings.NewReplacer("\\\\", "\\", "\\n", "\n", "\\r", "\r", "\\c", ":")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return "", nil, "", err
		}
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		headers[unescape.Replace(name)] = unescape.Replace(value)
	}
	if n, err := strconv.Atoi(headers["content-length"]); err == nil {
		data := make([]byte, n+1)
		_, err := io.ReadFull(in, data)
		return command, headers, string(data[:n]), err
	}
	body, err = in.ReadString(0)
	return command, headers, strings.TrimSuffix(body, "\x00"), err
}

// handle does what a frame asks for; false closes the connection.
func (c *stompConn) handle(command string, headers map[string]string, body string) bool {
	b := c.b
	receipt := func() {
		if id := headers["receipt"]; id != "" {
			c.send("RECEIPT", map[string]string{"receipt-id": id}, "")
		}
	}
	destination := headers["destination"]
	switch command {
	case "CONNECT":
		c.send("CONNECTED", map[string]string{"version": "1.2", "heart-beat": "0,0"}, "")
	case "SUBSCRIBE":
		b.mu.Lock()
		c.address = destination
		c.prefetch, _ = strconv.Atoi(headers["prefetch-count"])
		b.mu.Unlock()
		receipt()
		b.pump()
	case "ACK", "NACK":
		b.mu.Lock()
		delete(c.unsettled, headers["id"])
		b.mu.Unlock()
		b.pump()
	case "SEND":
		switch {
		case strings.HasPrefix(destination, Nowhere):
			c.send("ERROR", map[string]string{"receipt-id": headers["receipt"], "message": "there is no such queue"}, "")
			return false
		case strings.HasPrefix(destination, Silent):
			return false
		}
		m := &Message{Headers: headers, Body: body}
		b.mu.Lock()
		b.queues[destination] = append(b.queues[destination], m)
		held := b.held[destination]
		if held {
			b.owed[destination] = append(b.owed[destination], receipt)
		}
		b.mu.Unlock()
		if !held {
			receipt()
		}
		b.pump()
	case "DISCONNECT":
		receipt()
		return false
	}
	return true
}
