// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// visits is what came of many users.
type visits struct {
	mu       sync.Mutex
	requests int
	failed   int   // those with a status of 400 or more
	err      error // the first reason why a user went away early
}

// atOnce is how many users visit at the same time.
const atOnce = 10

// visitAll visits the shop as so many users, ten at a time.
func visitAll(base string, users int, seed uint64, pause time.Duration) *visits {
	all := &visits{}
	turns := make(chan struct{}, atOnce)
	var going sync.WaitGroup
	for i := range users {
		turns <- struct{}{}
		going.Go(func() {
			defer func() { <-turns }()
			u := newUser(all, base, i, seed, pause)
			if err := u.visit(); err != nil {
				all.mu.Lock()
				all.err = errors.Join(all.err, fmt.Errorf("%s: %w", u.name, err))
				all.mu.Unlock()
			}
		})
	}
	going.Wait()
	return all
}

// user is one who has a browser with cookies and an id that it made itself.
type user struct {
	all        *visits
	base, name string
	id         string
	client     *http.Client
	random     *rand.Rand
	pause      time.Duration
}

func newUser(all *visits, base string, number int, seed uint64, pause time.Duration) *user {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err) // it has no options that might be wrong
	}
	return &user{
		all: all, base: base, name: fmt.Sprintf("user-%d", number), id: uuid(),
		client: &http.Client{Jar: jar, Timeout: 30 * time.Second}, random: rand.New(rand.NewPCG(seed, uint64(number))), pause: pause,
	}
}

// visit logs in, looks around, fills a cart, orders it and asks for points.
func (u *user) visit() error {
	if _, err := u.ask("GET", "/", "", ""); err != nil {
		return err
	}
	if _, err := u.ask("POST", "/login", form, url.Values{"user": {u.name}, "password": {"secret"}}.Encode()); err != nil {
		return err
	}
	var key struct {
		APIKey string `json:"api_key"`
	}
	if err := u.read(&key)(u.ask("GET", "/catalog?page=2", "", "")); err != nil {
		return err
	}
	var cart struct {
		Cart int `json:"cart"`
	}
	if err := u.read(&cart)(u.ask("POST", "/carts", "application/json", `{"currency": "USD"}`)); err != nil {
		return err
	}
	for range 1 + u.random.IntN(3) {
		item := fmt.Sprintf(`{"sku": "tea-%d", "quantity": %d, "currency": "USD"}`, 5+u.random.IntN(10), 1+u.random.IntN(3))
		if _, err := u.ask("POST", fmt.Sprintf("/carts/%d/items", cart.Cart), "application/json", item); err != nil {
			return err
		}
	}
	page, err := u.ask("GET", fmt.Sprintf("/carts/%d", cart.Cart), "", "")
	if err != nil {
		return err
	}
	csrf := regexp.MustCompile(`name="csrf" value="(\w+)"`).FindSubmatch(page)
	if csrf == nil {
		return errors.New("the cart's page has no csrf")
	}
	if _, err := u.ask("POST", "/orders", form, url.Values{"csrf": {string(csrf[1])}, "cart": {fmt.Sprint(cart.Cart)}}.Encode()); err != nil {
		return err
	}
	var token struct {
		Token string `json:"token"`
	}
	if err := u.read(&token)(u.ask("POST", "/api/token", "", "", "X-Api-Key: "+key.APIKey)); err != nil {
		return err
	}
	_, err = u.ask("GET", "/api/points", "", "", "X-Api-Key: "+key.APIKey, "Authorization: Bearer "+token.Token)
	return err
}

const form = "application/x-www-form-urlencoded"

// ask sends a request and returns the body of what it is redirected to at last.
func (u *user) ask(method, target, kind, body string, fields ...string) ([]byte, error) {
	time.Sleep(time.Duration(u.random.Int64N(int64(u.pause) + 1)))
	r, err := http.NewRequest(method, u.base+target, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Client-Id", u.id)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Set(name, value)
	}
	resp, err := u.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	u.all.mu.Lock()
	defer u.all.mu.Unlock()
	u.all.requests++
	if resp.StatusCode >= http.StatusBadRequest {
		u.all.failed++
		return nil, fmt.Errorf("%s %s: %s", method, target, resp.Status)
	}
	return answer, err
}

// read reads the JSON that was answered.
func (u *user) read(to any) func([]byte, error) error {
	return func(answer []byte, err error) error {
		if err != nil {
			return err
		}
		return json.Unmarshal(answer, to)
	}
}
