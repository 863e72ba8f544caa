// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stomp

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// peer is the other end of a connection.
type peer struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

// connectTo opens a connection to a peer that says hello with these headers.
func connectTo(t *testing.T, hello string) (*conn, *peer) {
	t.Helper()
	ours, theirs := net.Pipe()
	p := &peer{theirs, t, bufio.NewReader(theirs)}
	go func() {
		if p.next() != nil {
			p.say(hello)
		}
	}()
	greeting := &frame{command: "CONNECT"}
	greeting.add("heart-beat", heartBeats)
	c, err := open(t.Context(), ours, greeting)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		theirs.Close()
		c.Close()
	})
	return c, p
}

const connected = "CONNECTED\nversion:1.2\nheart-beat:0,0\n\n\x00"

func (p *peer) say(text string) { _, _ = p.Write([]byte(text)) }

// next returns the next frame, or nil when there are no more; heart-beats are left
// out.
func (p *peer) next() *frame {
	for {
		f, err := readFrame(p.in)
		if err != nil {
			return nil
		}
		if f != nil {
			return f
		}
	}
}

// TestHello has brokers that answer wrongly to CONNECT.
func TestHello(t *testing.T) {
	for name, tc := range map[string]struct{ hello, want string }{
		"an error":            {"ERROR\nmessage:Bad CONNECT\n\nAccess refused for user 'a'\nat line 7\x00", "Bad CONNECT: Access refused for user 'a'"},
		"something else":      {"HELLO\n\n\x00", `the broker says "HELLO" instead of CONNECTED`},
		"no frame":            {"HTTP/1.1 400 Bad Request\r\nServer\r\n\r\n", "without a colon"},
		"nothing":             {"", "EOF"},
		"an endless line":     {strings.Repeat("x", 2*longestLine), "more than 65536 bytes"},
		"half of a CONNECTED": {"CONNECTED\nversion:1.2\n", "unexpected EOF"},
	} {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = readFrame(bufio.NewReader(theirs))
			_, _ = theirs.Write([]byte(tc.hello))
			theirs.Close()
		}()
		_, err := open(t.Context(), ours, &frame{command: "CONNECT"})
		ours.Close()
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}

// TestSilentHello has a broker that says nothing, or only that it is there.
func TestSilentHello(t *testing.T) {
	for _, says := range []string{"", "\n"} {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer ours.Close()
			var speaking sync.WaitGroup
			speaking.Go(func() {
				_, _ = readFrame(bufio.NewReader(theirs))
				for {
					time.Sleep(time.Second)
					if _, err := theirs.Write([]byte(says)); err != nil {
						return
					}
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			if c, err := open(ctx, ours, &frame{command: "CONNECT"}); err == nil {
				t.Errorf("%q: it is open: %+v", says, c)
			}
			theirs.Close()
			speaking.Wait()
		})
	}
}

// TestReceipts confirms messages in another order, and one that nobody has sent.
func TestReceipts(t *testing.T) {
	c, p := connectTo(t, connected)
	done := make(chan string, 3)
	for _, name := range []string{"a", "b", "c"} {
		c.Send(&broker.Message{Address: "/queue/" + name}, func(err error) {
			if refused, ok := errors.AsType[*broker.RefusedError](err); ok {
				name += " " + refused.Error()
			} else if errors.Is(err, broker.ErrLost) {
				name += " lost"
			}
			done <- name
		})
	}
	receipts := make(map[string]string)
	for range 3 {
		f := p.next()
		receipts[f.get("destination")] = f.get("receipt")
	}
	p.say("RECEIPT\nreceipt-id:77\n\n\x00RECEIPT\n\n\x00UNHEARD\nof:it\n\n\x00\n")
	p.say("RECEIPT\nreceipt-id:" + receipts["/queue/b"] + "\n\n\x00")
	p.say("RECEIPT\nreceipt-id:" + receipts["/queue/b"] + "\n\n\x00") // once more
	if got := <-done; got != "b" {
		t.Errorf("got %s", got)
	}
	p.say("ERROR\nreceipt-id:" + receipts["/queue/c"] + "\nmessage:no such queue\n\nno such queue\nat Line.java:7\x00")
	got := map[string]bool{<-done: true, <-done: true}
	if !got["a lost"] || !got["c no such queue"] {
		t.Errorf("got %v", got)
	}
	<-c.Done()
}

// TestErrors keeps what a broker says of an error short and legible.
func TestErrors(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, tc := range []struct{ message, body, want string }{
		{"no", "", "no"},
		{"", "why\nwhere", "why"},
		{"no", "no", "no"},
		{long, long, long[:300]},
		{"a\xffb", "", "a?b"},
	} {
		f := frameOf("message", tc.message)
		f.body = []byte(tc.body)
		if got := errorOf(f).Error(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

// TestSettles names a request as its version of the protocol does.
func TestSettles(t *testing.T) {
	for _, version := range []string{"1.1", "1.2"} {
		c, p := connectTo(t, "CONNECTED\nversion:"+version+"\n\n\x00")
		came := make(chan *broker.Delivery, 2)
		go func() {
			f := p.next()
			p.say("RECEIPT\nreceipt-id:" + f.get("receipt") + "\n\n\x00" +
				"MESSAGE\nack:7\nmessage-id:ID\\c1\nsubscription:0\n\none\x00MESSAGE\nack:8\nmessage-id:ID\\c2\nsubscription:0\n\ntwo\x00")
		}()
		sub, err := c.Receive(t.Context(), broker.Source{Address: "/queue/a", Credit: 5, Deliver: func(_ broker.Subscription, d *broker.Delivery) { came <- d }})
		if err != nil {
			t.Fatal(err)
		}
		sub.Settle(<-came, broker.Accept, func(error) {})
		sub.Settle(<-came, broker.Reject, func(error) {})
		accepted, rejected := p.next(), p.next()
		if accepted.command != "ACK" || rejected.command != "NACK" || rejected.get("requeue") != "false" {
			t.Errorf("%s: got %+v and %+v", version, accepted, rejected)
		}
		for f, ids := range map[*frame][2]string{accepted: {"7", "ID:1"}, rejected: {"8", "ID:2"}} {
			if version == "1.2" && f.get("id") != ids[0] || version == "1.1" && (f.get("message-id") != ids[1] || f.get("subscription") != "0") {
				t.Errorf("%s: got %+v", version, f)
			}
		}
	}
}

// TestEarlyMessage has a broker deliver before it says that there is a subscription.
func TestEarlyMessage(t *testing.T) {
	c, p := connectTo(t, connected)
	came := make(chan *broker.Delivery, 1)
	from := make(chan broker.Subscription, 1)
	go func() {
		f := p.next()
		p.say("MESSAGE\nack:7\nmessage-id:1\n\nearly\x00")
		if d := <-came; string(d.Body) != "early" { // which is before Receive returns
			t.Errorf("got %+v", d)
		}
		p.say("RECEIPT\nreceipt-id:" + f.get("receipt") + "\n\n\x00")
	}()
	sub, err := c.Receive(t.Context(), broker.Source{Address: "/queue/a", Credit: 5, Deliver: func(s broker.Subscription, d *broker.Delivery) {
		came <- d
		from <- s
	}})
	if err != nil || <-from != sub {
		t.Errorf("it came from another subscription: %v", err)
	}
}

// TestCredit has a broker that sends all that it has, whatever it was asked for: no
// more are in hand than were asked for, until one is settled or none is to come.
func TestCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connectTo(t, connected)
		go func() {
			f := p.next()
			p.say("RECEIPT\nreceipt-id:" + f.get("receipt") + "\n\n\x00")
			for range 10 {
				p.say("MESSAGE\nmessage-id:1\n\n\x00")
			}
		}()
		came := make(chan *broker.Delivery, 20)
		sub, err := c.Receive(t.Context(), broker.Source{Address: "/queue/a", Credit: 3, Deliver: func(_ broker.Subscription, d *broker.Delivery) { came <- d }})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(came); n != 3 {
			t.Errorf("%d are in hand", n)
		}
		go p.next()
		sub.Settle(<-came, broker.Accept, func(error) {})
		synctest.Wait()
		if n := len(came); n != 3 {
			t.Errorf("%d are in hand after one was settled", n)
		}
		sub.Pause()
		sub.Pause()
		synctest.Wait()
		if n := len(came); n != 9 {
			t.Errorf("%d came of 9", n)
		}
	})
}
