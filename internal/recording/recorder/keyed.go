// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"math/rand/v2"
	"strings"
	"sync"
)

const (
	// longValue is from how many letters and digits on a value cannot be
	// computed back from its hash, not even with the key.
	longValue = 12

	// opaqueSize is the length of the hash of a value that has other characters
	// than letters, digits and separators, in hexadecimal digits.
	opaqueSize = 32

	// separators stay where they are in a hashed value, so that a UUID, a number
	// or an address still looks like one.
	separators = "-_.+/=:@~"

	rounds = 10 // of the Feistel network that short values go through
)

// alphabets are what letters and digits of a value may be, the narrowest first.
var alphabets = []string{
	"0123456789",
	"0123456789abcdef",
	"0123456789ABCDEF",
	"abcdefghijklmnopqrstuvwxyz",
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
	"0123456789abcdefghijklmnopqrstuvwxyz",
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
}

// keyed hashes values with a key: the same value always to the same result, of
// the same form, and short values never two to the same.
type keyed struct {
	macs sync.Pool // of hash.Hash
}

func newKeyed(key string) *keyed {
	return &keyed{macs: sync.Pool{New: func() any { return hmac.New(sha256.New, []byte(key)) }}}
}

// mac returns the MAC of what texts are together, for one use of the key.
func (k *keyed) mac(use byte, texts ...string) (sum [sha256.Size]byte) {
	mac := k.macs.Get().(hash.Hash)
	defer k.macs.Put(mac)
	mac.Reset()
	mac.Write([]byte{use})
	for _, text := range texts {
		mac.Write([]byte(text))
	}
	mac.Sum(sum[:0])
	return sum
}

// The uses of the key, which never share a MAC.
const (
	useOpaque byte = iota
	useLong
	useShort
)

// value returns the hash of a value: letters and digits become others of the
// narrowest alphabet that has them, and separators stay. With any other
// character it is opaqueSize hexadecimal digits. Digits alone keep whether they
// begin with 0, so that a number stays one.
func (k *keyed) value(text string) string {
	if text == "" {
		return ""
	}
	form := []byte(text)
	var content []byte
	for i, c := range form {
		switch {
		case isAlphanumeric(c):
			content = append(content, c)
			form[i] = 0
		case strings.IndexByte(separators, c) < 0:
			return k.opaque(text)
		}
	}
	if len(content) == 0 {
		return k.opaque(text)
	}
	kind := kindOf(content)
	if len(content) >= longValue {
		k.draw(text, content, kind)
	} else {
		k.permute(string(form), content, kind)
	}
	for i, c := range form {
		if c == 0 {
			form[i], content = content[0], content[1:]
		}
	}
	return string(form)
}

func (k *keyed) opaque(text string) string {
	sum := k.mac(useOpaque, text)
	return hex.EncodeToString(sum[:opaqueSize/2])
}

// kind is which values a value may become.
type kind struct {
	alphabet string
	zero     bool // digits that begin with 0
}

func kindOf(content []byte) kind {
	for _, alphabet := range alphabets[:len(alphabets)-1] {
		if strings.Trim(string(content), alphabet) == "" {
			return kind{alphabet, alphabet == alphabets[0] && content[0] == '0'}
		}
	}
	return kind{alphabet: alphabets[len(alphabets)-1]}
}

// draw replaces the content of a long value by what a generator has that the
// value's MAC seeds.
func (k *keyed) draw(text string, content []byte, of kind) {
	source := rand.New(rand.NewChaCha8(k.mac(useLong, text)))
	for drawn := false; !drawn; drawn = kindOf(content) == of {
		for i := range content {
			content[i] = of.alphabet[source.IntN(len(of.alphabet))]
		}
	}
}

// permute replaces the content of a short value by a permutation of all values
// of its length, form and kind. It permutes those of its alphabet, again until
// one of its kind comes: at the latest, that is the value itself.
func (k *keyed) permute(form string, content []byte, of kind) {
	alphabet := of.alphabet
	if len(content) == 1 {
		shuffled := []byte(alphabet)
		rand.New(rand.NewChaCha8(k.mac(useShort, form, "\x00", alphabet))).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		alphabet = string(shuffled)
	}
	for walked := false; !walked; walked = kindOf(content) == of {
		if len(content) == 1 {
			content[0] = alphabet[(strings.IndexByte(alphabet, content[0])+1)%len(alphabet)]
			continue
		}
		left, right := content[:len(content)/2], content[len(content)/2:]
		for round := range rounds {
			mac := k.mac(useShort, form, "\x00", alphabet, "\x00", string(rune(round)), string(right))
			for i, c := range left {
				step := int(mac[2*i])<<8 | int(mac[2*i+1])
				left[i] = alphabet[(strings.IndexByte(alphabet, c)+step)%len(alphabet)]
			}
			left, right = right, left
		}
	}
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
