// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// signer is the secret of one instance.
type signer string

func (s signer) mac(text string) []byte {
	mac := hmac.New(sha256.New, []byte(s))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// sign returns a value that only this instance makes, for one use. That of a
// session is the session's value and its signature, any other the signature.
func (s signer) sign(use, value string) string {
	signature := hex.EncodeToString(s.mac(use + "\x00" + value))[:40]
	if use == "session" {
		return value + "." + signature
	}
	return signature
}

func (s signer) isSigned(use, signed string) bool {
	i := strings.LastIndexByte(signed, '.')
	return i > 0 && hmac.Equal([]byte(s.sign(use, signed[:i])), []byte(signed))
}

// jwt returns a token of a session that is valid for an hour.
func (s signer) jwt(session string) string {
	user, _, _ := strings.Cut(session, ".")
	claims, err := json.Marshal(map[string]any{"sub": user, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(), "jti": random()})
	if err != nil {
		panic(err) // texts and numbers
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(claims)
	return text + "." + encode(s.mac(text))
}

// subject returns whose token an Authorization has, if it is valid.
func (s signer) subject(authorization string) (user string, ok bool) {
	token, ok := strings.CutPrefix(authorization, "Bearer ")
	i := strings.LastIndexByte(token, '.')
	if !ok || i < 0 || !hmac.Equal([]byte(base64.RawURLEncoding.EncodeToString(s.mac(token[:i]))), []byte(token[i+1:])) {
		return "", false
	}
	_, encoded, _ := strings.Cut(token[:i], ".")
	var claims struct {
		Sub string `json:"sub"`
		Exp int64  `json:"exp"`
	}
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || json.Unmarshal(text, &claims) != nil || claims.Exp < time.Now().Unix() {
		return "", false
	}
	return claims.Sub, true
}

func random() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
