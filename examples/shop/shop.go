// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
)

// What is the same for every user.
const (
	version  = "1.4.2"
	currency = "USD"
	apiKey   = "pk_6f1d2c3b4a5968778695a4b3c2d1e0f9" //nolint:gosec // it is public: every page has it
)

// shop is the service. Users are who they say they are; their carts and orders
// are kept in memory.
type shop struct {
	signer

	mu     sync.Mutex
	carts  map[string]map[int]int // of each session, by id: how many pieces
	orders map[string]order
}

type order struct {
	session string
	pieces  int
}

func newShop(secret string) http.Handler {
	s := &shop{signer: signer(secret), carts: make(map[string]map[int]int), orders: make(map[string]order)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("GET /catalog", s.known(s.catalog))
	mux.HandleFunc("POST /carts", s.known(s.newCart))
	mux.HandleFunc("POST /carts/{cart}/items", s.known(s.addItem))
	mux.HandleFunc("GET /carts/{cart}", s.known(s.showCart))
	mux.HandleFunc("POST /orders", s.known(s.placeOrder))
	mux.HandleFunc("GET /orders/{order}", s.known(s.showOrder))
	mux.HandleFunc("POST /api/token", s.known(s.token))
	mux.HandleFunc("GET /api/points", s.points)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Client-Id", r.Header.Get("X-Client-Id")) // the client made it
		w.Header().Set("X-App-Version", version)
		mux.ServeHTTP(w, r)
	})
}

// known lets in who has a cookie that this instance has signed.
func (s *shop) known(next func(w http.ResponseWriter, r *http.Request, session string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie("session")
		if err != nil || !s.isSigned("session", cookie.Value) {
			http.Error(w, "log in first", http.StatusUnauthorized)
			return
		}
		next(w, r, cookie.Value)
	}
}

var pages = template.Must(template.New("home").Parse(`<!doctype html>
<title>The shop</title>
<form action="/login" method="post"><input name="user"><input name="password" type="password"><button>Log in</button></form>
{{define "cart"}}<!doctype html>
<title>Cart {{.Cart}}</title>
<p>{{.Pieces}} pieces, to be paid in {{.Currency}}
<form action="/orders" method="post">
<input type="hidden" name="csrf" value="{{.CSRF}}">
<input type="hidden" name="cart" value="{{.Cart}}">
<button>Order</button>
</form>
{{end}}`))

func (s *shop) home(w http.ResponseWriter, _ *http.Request) { page(w, "home", nil) }

func page(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := pages.ExecuteTemplate(w, name, data); err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
}

func respond(w http.ResponseWriter, status int, body map[string]any) {
	body["status"], body["version"] = "ok", version
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (s *shop) login(w http.ResponseWriter, r *http.Request) {
	user := r.PostFormValue("user")
	if user == "" || r.PostFormValue("password") == "" {
		http.Error(w, "who are you?", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "session", Value: s.sign("session", user+"."+random()), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}) //nolint:gosec // it is served in plain text
	http.SetCookie(w, &http.Cookie{Name: "lang", Value: "en", Path: "/"})                                                                                    //nolint:gosec // it is no secret
	http.Redirect(w, r, "/catalog?page=1", http.StatusSeeOther)
}

func (s *shop) catalog(w http.ResponseWriter, r *http.Request, _ string) {
	number, _ := strconv.Atoi(r.FormValue("page"))
	products := make([]map[string]any, 0, 5)
	for i := range 5 {
		products = append(products, map[string]any{"sku": fmt.Sprintf("tea-%d", 5*number+i), "price": 3 + i, "currency": currency})
	}
	respond(w, http.StatusOK, map[string]any{"page": number, "next": number + 1, "products": products, "api_key": apiKey})
}

func (s *shop) newCart(w http.ResponseWriter, _ *http.Request, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	carts := s.carts[session]
	if carts == nil {
		carts = make(map[int]int)
		s.carts[session] = carts
	}
	id := 1000 + rand.IntN(1000) // few, so that now and then two users' carts have the same
	carts[id] = 0
	respond(w, http.StatusCreated, map[string]any{"cart": id, "currency": currency})
}

// cart returns the id of a session's cart, or answers that there is none.
func (s *shop) cart(w http.ResponseWriter, session, text string) (id int, ok bool) {
	id, err := strconv.Atoi(text)
	if _, ok := s.carts[session][id]; err != nil || !ok {
		http.Error(w, "there is no such cart", http.StatusNotFound)
		return 0, false
	}
	return id, true
}

func (s *shop) addItem(w http.ResponseWriter, r *http.Request, session string) {
	var item struct {
		SKU      string `json:"sku"`
		Quantity int    `json:"quantity"`
		Currency string `json:"currency"`
	}
	if json.NewDecoder(r.Body).Decode(&item) != nil || item.Quantity < 1 || item.Currency != currency {
		http.Error(w, "expected sku, quantity and currency", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.cart(w, session, r.PathValue("cart")); ok {
		s.carts[session][id] += item.Quantity
		respond(w, http.StatusOK, map[string]any{"cart": id, "pieces": s.carts[session][id]})
	}
}

func (s *shop) showCart(w http.ResponseWriter, r *http.Request, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.cart(w, session, r.PathValue("cart")); ok {
		page(w, "cart", map[string]any{
			"Cart": id, "Pieces": s.carts[session][id], "Currency": currency, "CSRF": s.sign("csrf", session),
		})
	}
}

func (s *shop) placeOrder(w http.ResponseWriter, r *http.Request, session string) {
	if s.sign("csrf", session) != r.PostFormValue("csrf") {
		http.Error(w, "the form is not ours", http.StatusForbidden)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cart, ok := s.cart(w, session, r.PostFormValue("cart")); ok {
		id := uuid()
		s.orders[id] = order{session, s.carts[session][cart]}
		delete(s.carts[session], cart)
		http.Redirect(w, r, "/orders/"+id, http.StatusSeeOther)
	}
}

func (s *shop) showOrder(w http.ResponseWriter, r *http.Request, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.PathValue("order")
	o, ok := s.orders[id]
	if !ok || o.session != session {
		http.Error(w, "there is no such order", http.StatusNotFound)
		return
	}
	respond(w, http.StatusOK, map[string]any{"order": id, "pieces": o.pieces, "currency": currency})
}

func (s *shop) token(w http.ResponseWriter, r *http.Request, session string) {
	if r.Header.Get("X-Api-Key") != apiKey {
		http.Error(w, "no key", http.StatusForbidden)
		return
	}
	respond(w, http.StatusOK, map[string]any{"token": s.jwt(session), "expires_in": 3600})
}

func (s *shop) points(w http.ResponseWriter, r *http.Request) {
	user, ok := s.subject(r.Header.Get("Authorization"))
	if !ok || r.Header.Get("X-Api-Key") != apiKey {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	respond(w, http.StatusOK, map[string]any{"points": len(user)})
}
