// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package queues_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/Azure/go-amqp"
)

// asker is a client over AMQP 1.0 that keeps up with what one in Python does not.
type asker struct {
	url       string // with credentials
	to, reply string
}

// ask sends requests, one every while or all at once, and waits for the answers.
func (a asker) ask(t *testing.T, count int, every time.Duration) (o outcome) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	conn, err := amqp.Dial(ctx, a.url, &amqp.ConnOptions{HostName: "vhost:/"})
	must(err)
	defer conn.Close()
	session, err := conn.NewSession(ctx, nil)
	must(err)
	receiver, err := session.NewReceiver(ctx, a.reply, &amqp.ReceiverOptions{Credit: -1, RequestedSenderSettleMode: amqp.SenderSettleModeSettled.Ptr()})
	must(err)
	must(receiver.IssueCredit(uint32(count)))
	sender, err := session.NewSender(ctx, a.to, nil)
	must(err)

	var mu sync.Mutex
	sent := make(map[string]time.Time, count)
	began, last := time.Now(), time.Now()
	received := make(chan error, 1)
	go func() {
		for range count {
			m, err := receiver.Receive(ctx, nil)
			if err != nil {
				received <- err
				return
			}
			now := time.Now()
			mu.Lock()
			id := fmt.Sprint(m.Properties.CorrelationID)
			if at, ok := sent[id]; ok {
				o.Answers++
				o.Latencies = append(o.Latencies, now.Sub(at).Seconds()*1000)
				delete(sent, id)
			} else {
				o.Twice++
			}
			last = now
			mu.Unlock()
		}
		received <- nil
	}()
	for i := range count {
		time.Sleep(time.Until(began.Add(time.Duration(i) * every))) // which is what it is about: an even rate
		id := fmt.Sprint(i)
		m := &amqp.Message{
			Header:     &amqp.MessageHeader{Durable: true, Priority: 4},
			Properties: &amqp.MessageProperties{MessageID: id, ReplyTo: &a.reply},
			Data:       [][]byte{[]byte(`{"order": 1}`)},
		}
		mu.Lock()
		sent[id] = time.Now()
		mu.Unlock()
		_, err := sender.SendWithReceipt(ctx, m, nil)
		must(err)
	}
	if err := <-received; err != nil {
		t.Errorf("%d answers of %d: %v", o.Answers, count, err)
	}
	o.Took = last.Sub(began).Seconds()
	t.Log(o)
	return o
}
