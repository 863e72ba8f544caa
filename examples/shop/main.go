// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// The command shop is a small service with everything that makes a recording
// hard to replay, and users who visit it: a login, a signed cookie, a token
// against forged requests in HTML, ids that the server makes, and a JSON Web
// Token. Each instance has a secret of its own unless -secret has one.
package main

import (
	"crypto/rand"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9000", "address of the shop")
	secret := flag.String("secret", os.Getenv("SHOP_SECRET"), "what cookies and tokens are signed with (default $SHOP_SECRET, or drawn)")
	users := flag.Int("users", 0, "visit the shop at -url as this many users, instead of being one")
	url := flag.String("url", "http://127.0.0.1:8080", "where users visit the shop")
	seed := flag.Uint64("seed", 1, "what the users do is drawn from it")
	pause := flag.Duration("pause", 50*time.Millisecond, "longest time for which a user thinks")
	flag.Parse()
	if *users > 0 {
		visits := visitAll(*url, *users, *seed, *pause)
		fmt.Printf("%d users made %d requests, %d of which failed\n", *users, visits.requests, visits.failed)
		if visits.err != nil {
			log.Fatal(visits.err)
		}
		return
	}
	if *secret == "" {
		*secret = rand.Text()
	}
	server := &http.Server{Addr: *listen, Handler: newShop(*secret), ReadHeaderTimeout: 10 * time.Second}
	log.Printf("the shop is at http://%s", *listen)
	log.Fatal(server.ListenAndServe())
}
