// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/Azure/go-amqp"
)

// The roles in which this program runs itself, as its first argument.
const (
	answerPeer = "answer-queue" // READY_ADDRESS URL QUEUE
	askPeer    = "ask-queue"    // URL QUEUE USERS DURATION
)

// peer runs a role; false: the arguments have none.
func peer(args []string) (ran bool, err error) {
	switch {
	case len(args) == 4 && args[0] == answerPeer:
		return true, answerQueue(args[1], args[2], args[3])
	case len(args) == 5 && args[0] == askPeer:
		users, err := strconv.Atoi(args[3])
		if err != nil {
			return true, err
		}
		length, err := time.ParseDuration(args[4])
		if err != nil {
			return true, err
		}
		return true, askQueue(args[1], args[2], users, length)
	}
	return false, nil
}

func openSession(ctx context.Context, url string) (*amqp.Session, error) {
	conn, err := amqp.Dial(ctx, url, &amqp.ConnOptions{HostName: "vhost:/"})
	if err != nil {
		return nil, err
	}
	return conn.NewSession(ctx, nil)
}

// receive attaches a receiver whose credit is only what it is given.
func receive(ctx context.Context, session *amqp.Session, queue string, credit uint32) (*amqp.Receiver, error) {
	receiver, err := session.NewReceiver(ctx, queue, &amqp.ReceiverOptions{Credit: -1})
	if err != nil {
		return nil, err
	}
	return receiver, receiver.IssueCredit(credit)
}

// creditOfBare is how many requests the bare responder has in hand at most: as many as
// a service of the simulator.
const creditOfBare = 2000

// underway is an answer that the broker has not confirmed, and its request.
type underway struct {
	request *amqp.Message
	receipt amqp.SendReceipt
}

// answerQueue answers whatever comes to a queue: at least once, as it accepts a request
// when the broker has the answer, and nothing else.
func answerQueue(ready, url, queue string) error {
	ctx := context.Background()
	in, err := openSession(ctx, url)
	if err != nil {
		return err
	}
	out, err := openSession(ctx, url)
	if err != nil {
		return err
	}
	receiver, err := receive(ctx, in, queue, creditOfBare)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", ready)
	if err != nil {
		return err
	}
	defer listener.Close()
	sent := make(chan underway, creditOfBare)
	failed := make(chan error, 1)
	go func() {
		accepted := uint32(0)
		for u := range sent {
			_, err := u.receipt.Wait(ctx)
			if err == nil {
				err = receiver.AcceptMessage(ctx, u.request)
			}
			if accepted++; err == nil && accepted == creditOfBare/10 {
				err = receiver.IssueCredit(accepted)
				accepted = 0
			}
			if err != nil {
				failed <- err
				return
			}
		}
	}()
	senders := make(map[string]*amqp.Sender)
	for {
		m, err := receiver.Receive(ctx, nil)
		if err != nil {
			return err
		}
		to := *m.Properties.ReplyTo
		if senders[to] == nil {
			if senders[to], err = out.NewSender(ctx, to, nil); err != nil {
				return err
			}
		}
		receipt, err := senders[to].SendWithReceipt(ctx, &amqp.Message{
			Header:     &amqp.MessageHeader{Durable: true, Priority: 4},
			Properties: &amqp.MessageProperties{CorrelationID: m.Properties.MessageID},
			Data:       [][]byte{[]byte(`{"answer": 1}`)},
		}, nil)
		if err != nil {
			return err
		}
		select {
		case sent <- underway{m, receipt}:
		case err := <-failed:
			return err
		}
	}
}

// patience is how long a user waits for an answer.
const patience = 20 * time.Second

// askQueue has users ask for a while, and prints what came of it.
func askQueue(url, queue string, users int, length time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), length+2*patience)
	defer cancel()
	in, err := openSession(ctx, url)
	if err != nil {
		return err
	}
	out, err := openSession(ctx, url)
	if err != nil {
		return err
	}
	reply := fmt.Sprintf("%s.%x", queue, rand.Uint64())
	receiver, err := receive(ctx, in, reply, 1<<30)
	if err != nil {
		return err
	}
	sender, err := out.NewSender(ctx, queue, nil)
	if err != nil {
		return err
	}
	answered := make([]chan uint64, users) // by user, the IDs of their requests
	for i := range answered {
		answered[i] = make(chan uint64, 1)
	}
	go func() {
		for {
			m, err := receiver.Receive(ctx, nil)
			if err != nil {
				return
			}
			if id, ok := m.Properties.CorrelationID.(uint64); ok {
				select {
				case answered[id%uint64(users)] <- id:
				default: // it came twice, and nobody waits for it
				}
			}
			if receiver.AcceptMessage(ctx, m) != nil {
				return
			}
		}
	}()
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		said  asked
		took  []time.Duration
		begin = time.Now()
	)
	for user := range users {
		all.Go(func() {
			own, errs := askInTurns(ctx, sender, reply, uint64(user), uint64(users), begin.Add(length), answered[user])
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
			said.Errors += errs
		})
	}
	all.Wait()
	said.Seconds = time.Since(begin).Seconds()
	said.Answers = int64(len(took))
	if len(took) > 0 {
		slices.Sort(took)
		said.P50, said.P99 = took[len(took)/2], took[len(took)*99/100]
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}

// askInTurns is one user, whose IDs are so far apart. It asks in turns for what the first and
// the last mapping answer.
func askInTurns(ctx context.Context, sender *amqp.Sender, reply string, id, apart uint64, end time.Time, answered <-chan uint64) (took []time.Duration, errs int64) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for i := 0; time.Now().Before(end); i++ {
		began := time.Now()
		_, err := sender.SendWithReceipt(ctx, &amqp.Message{
			Header:     &amqp.MessageHeader{Durable: true, Priority: 4},
			Properties: &amqp.MessageProperties{MessageID: id, ReplyTo: &reply},
			Data:       [][]byte{fmt.Appendf(nil, `{"kind": "%s", "order": 12, "customer": "c7"}`, kindOf(i%2*(mappingsOfQueues-1)))},
		}, nil)
		if err != nil {
			return took, errs + 1
		}
		timer.Reset(patience)
		for came := false; !came; {
			select {
			case one := <-answered:
				came = one == id
			case <-timer.C:
				return took, errs + 1
			}
		}
		took = append(took, time.Since(began))
		id += apart
	}
	return took, errs
}
