// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package timeshift

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// Key signs tokens anew.
type Key struct {
	algorithm jose.SignatureAlgorithm
	key       any
}

// minSecret is the shortest secret that HS256 takes (RFC 7518, section 3.2).
const minSecret = 32

// ParseKey reads a key: a private one of RSA or of the curve P-256 as PEM, for
// RS256 or ES256; a JSON Web Key of any of these; or the bytes of a secret for
// HS256, without a line end behind them.
func ParseKey(data []byte) (*Key, error) {
	block, rest := pem.Decode(data)
	if block != nil && block.Type == "EC PARAMETERS" { // openssl writes them before a key that has them too
		if key, _ := pem.Decode(rest); key != nil {
			block = key
		}
	}
	if block != nil {
		key, err := parsePEM(block)
		if err != nil {
			return nil, err
		}
		return newKey(key)
	}
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		var key jose.JSONWebKey
		if err := json.Unmarshal(text, &key); err != nil {
			return nil, fmt.Errorf("it is not a JSON Web Key: %v", err)
		}
		k, err := newKey(key.Key)
		if err == nil && key.Algorithm != "" && key.Algorithm != string(k.algorithm) {
			err = fmt.Errorf("a key for %s cannot be used: expected one for HS256, RS256 or ES256", key.Algorithm)
		}
		return k, err
	}
	return newKey(bytes.TrimRight(data, "\r\n"))
}

func parsePEM(block *pem.Block) (key any, err error) {
	switch block.Type {
	case "RSA PRIVATE KEY":
		return x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(block.Bytes)
	case "PRIVATE KEY":
		return x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	return nil, fmt.Errorf("a PEM block of %s is no private key: expected PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY", block.Type)
}

func newKey(key any) (*Key, error) {
	switch key := key.(type) {
	case []byte:
		if len(key) < minSecret {
			return nil, fmt.Errorf("a secret of %d bytes is too short for HS256: expected %d or more", len(key), minSecret)
		}
		return &Key{jose.HS256, key}, nil
	case *rsa.PrivateKey:
		return &Key{jose.RS256, key}, nil
	case *ecdsa.PrivateKey:
		if key.Curve != elliptic.P256() {
			return nil, fmt.Errorf("a key of the curve %s cannot be used: expected P-256, for ES256", key.Params().Name)
		}
		return &Key{jose.ES256, key}, nil
	case *rsa.PublicKey, *ecdsa.PublicKey:
		return nil, errors.New("it is a public key: expected a private one")
	}
	return nil, fmt.Errorf("a key of the kind %T cannot be used: expected a secret for HS256, an RSA key for RS256 or one of P-256 for ES256", key)
}

// sign returns a token with a header, encoded as it was recorded, and other
// claims.
func (k *Key) sign(algorithm, header string, claims []byte) (string, error) {
	if algorithm != string(k.algorithm) {
		return "", fmt.Errorf("the key signs %s only", k.algorithm)
	}
	token := header + "." + base64.RawURLEncoding.EncodeToString(claims)
	signature, err := k.signature([]byte(token))
	return token + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

// signature returns the signature of what is signed of a token (RFC 7518, section
// 3). The signers of go-jose encode the header anew, with its members in another
// order and its numbers rounded.
func (k *Key) signature(signed []byte) ([]byte, error) {
	sum := sha256.Sum256(signed)
	switch key := k.key.(type) {
	case []byte:
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		return mac.Sum(nil), nil
	case *rsa.PrivateKey:
		return rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			return nil, err
		}
		var both [64]byte
		r.FillBytes(both[:32])
		s.FillBytes(both[32:])
		return both[:], nil
	}
	return nil, fmt.Errorf("there is no key for %s", k.algorithm)
}
