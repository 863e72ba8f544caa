// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
	"github.com/caddy-rehearsal/rehearsal/simulator/internal/stubs"
)

// What a configuration says of mappings that cannot be served.
const (
	unsupportedFail = "fail"
	unsupportedSkip = "skip"
)

func parseUnsupported(word string) (string, error) {
	switch word {
	case unsupportedFail, unsupportedSkip:
		return word, nil
	}
	return word, fmt.Errorf("'%s' is neither %s nor %s", word, unsupportedFail, unsupportedSkip)
}

// parseTemplates reads whether all mappings have templates.
func parseTemplates(word string) (bool, error) {
	switch word {
	case "on", "off":
		return word == "on", nil
	}
	return false, fmt.Errorf("'%s' is neither on nor off", word)
}

// loaded are the mappings of a configuration.
type loaded struct {
	mappings []*wiremock.Mapping
	loader   wiremock.Loader // of those that are added later
	root     string          // the first directory with mappings; empty: there is none
	files    string          // that, or the directory of the first file
}

// loadMappings reads the mappings of the configuration.
func (h *Handler) loadMappings() (l loaded, err error) {
	if h.Unsupported != "" {
		if _, err := parseUnsupported(h.Unsupported); err != nil {
			return l, fmt.Errorf("unsupported: %v", err)
		}
	}
	left := 0
	l.loader.Templates = h.Templates
	l.loader.NoFiles = h.MappingsAdmin != nil // clients may fill it, and may have emptied it
	l.loader.Warn = func(warning error) { h.logger.Warn("mapping", zap.Error(warning)) }
	if h.Unsupported == unsupportedSkip {
		l.loader.Skip = func(fault error) {
			left++
			h.logger.Warn("mapping left out", zap.Error(fault))
		}
	}
	paths := make([]string, len(h.MappingFiles))
	for i, path := range h.MappingFiles {
		if paths[i], err = caddy.NewReplacer().ReplaceOrErr(path, true, true); err != nil {
			return l, fmt.Errorf("mapping files: %v", err)
		}
		if info, err := os.Stat(paths[i]); err == nil && info.IsDir() && l.root == "" {
			l.root = paths[i]
		}
	}
	if l.files = l.root; l.files == "" && len(paths) > 0 {
		l.files = filepath.Dir(paths[0])
	}
	if l.mappings, err = l.loader.Load(paths...); err != nil {
		err = fmt.Errorf("loading mappings: %w", err)
	}
	if len(h.Mappings) > 0 {
		inline, e := l.loader.Parse(asWritten(h.Mappings), "mappings", h.MappingsRoot)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("loading mappings: %w", e))
		}
		l.mappings = append(l.mappings, inline...)
	}
	if left > 0 {
		h.logger.Warn("mappings left out that cannot be served", zap.Int("left_out", left), zap.Int("served", len(l.mappings)))
	}
	return l, err
}

// asWritten returns the JSON of mappings that stand in the configuration either
// themselves or as a text.
func asWritten(data json.RawMessage) []byte {
	var text string
	if bytes.HasPrefix(data, []byte(`"`)) && json.Unmarshal(data, &text) == nil {
		return []byte(text)
	}
	return data
}

// runningStubs are those that run, by identity. They outlive a configuration as long
// as the next one has them too.
var runningStubs = caddy.NewUsagePool()

// acquireStubs finds the mappings among those that run or puts them in force, and
// holds them until the handler is cleaned up. There are none without mappings and
// without an API by which they could come.
func (h *Handler) acquireStubs(l loaded, scenario identity) error {
	if len(l.mappings) == 0 && h.MappingsAdmin == nil {
		return nil
	}
	options := stubs.Options{Scenario: h.scenario, Seed: h.Seed, Loader: l.loader, Root: l.root, Files: cmp.Or(l.files, h.MappingsRoot)}
	if h.MappingsAdmin != nil {
		var err error
		if options.Journal, err = h.MappingsAdmin.journal(); err != nil {
			return fmt.Errorf("mappings_admin: %w", err)
		}
	}
	content, err := h.fingerprintOf(l)
	if err != nil {
		return err
	}
	id := stubsIdentity{scenario, content}
	value, _, err := runningStubs.LoadOrNew(id, func() (caddy.Destructor, error) {
		return stubs.New(l.mappings, options), nil
	})
	if err != nil {
		return err
	}
	h.held = append([]hold{{runningStubs, id}}, h.held...) // they go before the scenario that counts for them
	h.mappings = value.(*stubs.Stubs)
	return nil
}

// stubsIdentity is what mappings are known by across configurations.
type stubsIdentity struct {
	scenario identity
	content  string
}

// fingerprintOf returns a hash of the mappings, with what is in their body files and
// how they are administered.
func (h *Handler) fingerprintOf(l loaded) (string, error) {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode([]any{h.MappingsAdmin, h.MappingsRoot, l.root, h.Templates}); err != nil {
		return "", err
	}
	for _, m := range l.mappings {
		fixed, _ := m.Fixed()
		fmt.Fprintf(sum, "%q %d %d\n", m.File(), len(m.JSON()), len(fixed.Body))
		sum.Write(m.JSON())
		sum.Write(fixed.Body)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// tooMuch returns the error of a request that would cost too much as one that
// refuses it.
func tooMuch(err error) error {
	if errors.Is(err, wiremock.ErrTooMuch) {
		return caddyhttp.Error(http.StatusRequestEntityTooLarge, err)
	}
	return err
}
