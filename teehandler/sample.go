// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/time/rate"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/teehandler/sampling"
)

// SampleBy is the key of a request that decides whether it is copied. As text
// it is `client_ip`, `uri`, `header <field>` or `cookie <name>`.
type SampleBy struct {
	kind, name string
}

// UnmarshalText reads the key's kind and name.
func (s *SampleBy) UnmarshalText(text []byte) error {
	fields := strings.Fields(string(text))
	switch {
	case len(fields) == 1 && (fields[0] == "client_ip" || fields[0] == "uri"):
		*s = SampleBy{kind: fields[0]}
	case len(fields) == 2 && fields[0] == "header" && httpguts.ValidHeaderFieldName(fields[1]):
		*s = SampleBy{kind: fields[0], name: http.CanonicalHeaderKey(fields[1])}
	case len(fields) == 2 && fields[0] == "cookie" && httpguts.ValidHeaderFieldName(fields[1]):
		*s = SampleBy{kind: fields[0], name: fields[1]}
	default:
		return fmt.Errorf("'%s' is not a key to sample by: expected client_ip, uri, header <field> or cookie <name>", text)
	}
	return nil
}

// MarshalText writes the key's kind and name.
func (s SampleBy) MarshalText() ([]byte, error) {
	return []byte(strings.TrimSpace(s.kind + " " + s.name)), nil
}

// key gives the request's key, or false if it has none.
func (s *SampleBy) key(r *http.Request) (string, bool) {
	switch s.kind {
	case "client_ip":
		ip, ok := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
		return ip, ok && ip != ""
	case "uri":
		return rawTarget(r), true
	case "header":
		if s.name == "Host" {
			return r.Host, r.Host != ""
		}
		values := r.Header[s.name]
		return strings.Join(values, ","), len(values) > 0
	default:
		cookie, err := r.Cookie(s.name)
		if err != nil {
			return "", false
		}
		return cookie.Value, true
	}
}

// sampler chooses the requests that are copied, once for all shadows.
type sampler struct {
	share *sampling.Share
	by    *SampleBy
	limit *rate.Limiter // nil: none
}

func newSampler(percent *units.Percent, by *SampleBy, limit Rate) *sampler {
	s := &sampler{by: by}
	if percent == nil {
		s.share = sampling.NewShare(100)
	} else {
		s.share = sampling.NewShare(float64(*percent))
	}
	if limit > 0 {
		s.limit = limit.limiter()
	}
	return s
}

// wants tells whether the request belongs to the share.
func (s *sampler) wants(r *http.Request) bool {
	if s.by != nil {
		if key, ok := s.by.key(r); ok {
			return s.share.Key(key)
		}
	}
	return s.share.Next()
}

// allows tells whether the rate limit has room for another request.
func (s *sampler) allows() bool { return s.limit == nil || s.limit.Allow() }
