// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// keyFile is the file of the key that a directory's recordings share, unless
	// redact_key has another.
	keyFile = "redact.key"

	// leastKey is how many characters a key has at least.
	leastKey = 16

	// keyTryEvery is how soon a key is asked for again that could not be had.
	keyTryEvery = time.Second
)

// keyring has the key of redact_key or, once a value is to be hashed, that of
// the directory.
type keyring struct {
	dir   string
	keyed atomic.Pointer[keyed]
	fail  func(error) // is told why there is no key

	mu    sync.Mutex
	tried time.Time
}

// get returns nil if there is no key now.
func (r *keyring) get() *keyed {
	if k := r.keyed.Load(); k != nil {
		return k
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.keyed.Load(); k != nil || time.Since(r.tried) < keyTryEvery {
		return k
	}
	r.tried = time.Now()
	key, err := dirKey(r.dir)
	if err != nil {
		r.fail(fmt.Errorf("values are recorded as %s and not hashed: %w", redacted, err))
		return nil
	}
	k := newKeyed(key)
	r.keyed.Store(k)
	return k
}

// dirKey returns the key of a directory, which it makes if there is none.
func dirKey(dir string) (string, error) {
	path := filepath.Join(dir, keyFile)
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(dir, keyFile+".*") // 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(rand.Text() + rand.Text() + "\n")
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", err
	}
	// Another process may have made one: a link never replaces it.
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return readKey(path)
}

func readKey(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(text))
	if err := checkKey(key); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// ParseKey returns the text if it can be a redact_key, or has placeholders.
func ParseKey(text string) (string, error) {
	if strings.Contains(text, "{") {
		return text, nil
	}
	return text, checkKey(text)
}

func checkKey(key string) error {
	if len(key) < leastKey {
		return fmt.Errorf("a key has at least %d characters", leastKey)
	}
	return nil
}
