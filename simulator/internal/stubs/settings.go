// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// settings hold for all mappings that do not say it themselves.
type settings struct {
	wiremock.Settings
	shown shownSettings
}

// shownSettings are WireMock's global settings.
type shownSettings struct {
	FixedDelay  *int64          `json:"fixedDelay,omitempty"`
	Delay       json.RawMessage `json:"delayDistribution,omitempty"`
	Extended    json.RawMessage `json:"extended,omitempty"`
	PassThrough *bool           `json:"proxyPassThrough,omitempty"`
}

// longest is the longest delay: a year, in milliseconds.
const longest = 365 * 24 * 3600 * 1000

// set puts settings in force.
func (s *Stubs) set(shown shownSettings) error {
	in := settings{shown: shown}
	if d := shown.FixedDelay; d != nil {
		if *d < 0 || *d > longest {
			return errors.New("fixedDelay: expected milliseconds, up to a year")
		}
		in.FixedDelay = time.Duration(*d) * time.Millisecond
	}
	if len(shown.Delay) > 0 && string(shown.Delay) != "null" {
		if err := json.Unmarshal(shown.Delay, &in.Delay); err != nil {
			return err
		}
	}
	s.settings.Store(&in)
	return nil
}

// shown returns the settings in force.
func (s *Stubs) shown() shownSettings {
	if in := s.settings.Load(); in != nil {
		return in.shown
	}
	return shownSettings{}
}

// wait returns the delays of the settings; nil if there are none.
func (s *Stubs) wait() *wiremock.Settings {
	in := s.settings.Load()
	if in == nil {
		return nil
	}
	return &in.Settings
}

func (s *Stubs) serveVersion(c *inquiry) (any, error) {
	if strings.Contains(c.Header.Get("Accept"), "text/plain") {
		return version, nil
	}
	return map[string]string{"version": version}, nil
}

func (s *Stubs) serveHealth(*inquiry) (any, error) {
	return map[string]any{
		"status": "healthy", "message": "Wiremock is ok", "version": version,
		"uptimeInSeconds": int64(time.Since(s.began).Seconds()), "timestamp": time.Now().UTC().Format(time.RFC3339Nano),
	}, nil
}

func (s *Stubs) serveSettings(*inquiry) (any, error) {
	return map[string]any{"settings": s.shown()}, nil
}

func (s *Stubs) serveSet(c *inquiry) (any, error) {
	var shown shownSettings
	if err := c.into(&shown); err != nil {
		return nil, err
	}
	return nothing, s.set(shown)
}

func (s *Stubs) serveSetExtended(c *inquiry) (any, error) {
	var changed struct {
		Extended map[string]json.RawMessage `json:"extended"`
	}
	if err := c.into(&changed); err != nil {
		return nil, err
	}
	shown := s.shown()
	all := make(map[string]json.RawMessage)
	if len(shown.Extended) > 0 {
		_ = json.Unmarshal(shown.Extended, &all)
	}
	maps.Copy(all, changed.Extended)
	var err error
	if shown.Extended, err = json.Marshal(all); err != nil {
		return nil, err
	}
	return nothing, s.set(shown)
}
