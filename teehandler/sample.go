// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/http/httpguts"
	"golang.org/x/time/rate"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// SampleBy is the key of a request that decides whether it is copied. As text
// it is `client_ip`, `uri`, `bearer`, `header <field>` or `cookie <name>`.
type SampleBy struct {
	kind, name string
}

// UnmarshalText reads the key's kind and name.
func (s *SampleBy) UnmarshalText(text []byte) error {
	fields := strings.Fields(string(text))
	switch {
	case len(fields) == 1 && (fields[0] == "client_ip" || fields[0] == "uri" || fields[0] == "bearer"):
		*s = SampleBy{kind: fields[0]}
	case len(fields) == 2 && fields[0] == "header" && httpguts.ValidHeaderFieldName(fields[1]):
		*s = SampleBy{kind: fields[0], name: http.CanonicalHeaderKey(fields[1])}
	case len(fields) == 2 && fields[0] == "cookie" && httpguts.ValidHeaderFieldName(fields[1]):
		*s = SampleBy{kind: fields[0], name: fields[1]}
	default:
		return fmt.Errorf("'%s' is not a key to sample by: expected client_ip, uri, bearer, header <field> or cookie <name>", text)
	}
	return nil
}

// MarshalText writes the key's kind and name.
func (s SampleBy) MarshalText() ([]byte, error) {
	return []byte(strings.TrimSpace(s.kind + " " + s.name)), nil
}

// key returns the request's key, or false if it has none.
func (s *SampleBy) key(r *http.Request) (string, bool) {
	switch s.kind {
	case "client_ip":
		ip, ok := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
		return ip, ok && ip != ""
	case "uri":
		return rawTarget(r), true
	case "bearer":
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		token = strings.TrimSpace(token)
		return token, token != "" && strings.EqualFold(scheme, "Bearer")
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
	share *share
	by    *SampleBy
	limit *rate.Limiter // nil: none
}

func newSampler(percent *units.Percent, by *SampleBy, limit Rate) *sampler {
	s := &sampler{by: by}
	if percent == nil {
		s.share = newShare(100)
	} else {
		s.share = newShare(float64(*percent))
	}
	if limit > 0 {
		s.limit = limit.limiter()
	}
	return s
}

// wants reports whether the request belongs to the share.
func (s *sampler) wants(r *http.Request) bool {
	if s.by != nil {
		if key, ok := s.by.key(r); ok {
			return s.share.key(key)
		}
	}
	return s.share.next()
}

// allows reports whether the rate limit has room for another request.
func (s *sampler) allows() bool { return s.limit == nil || s.limit.Allow() }

// goldenRatio is the fractional part of the golden ratio in units of 2^-64.
const goldenRatio = 0x9E3779B97F4A7C15

// share takes a share of what it is asked about.
//
// Multiples of the golden ratio fill the unit interval more evenly than chance
// does, so every stretch of n requests has its share of n to within a few
// requests. Unlike every tenth request, the ones taken follow no period that
// the traffic could have as well.
type share struct {
	percent  units.Percent
	position atomic.Uint64
}

// newShare returns a share from a percentage within 0 and 100.
func newShare(percent float64) *share { return &share{percent: units.Percent(percent)} }

// next reports whether the next request is taken.
func (s *share) next() bool {
	return s.percent >= 100 || s.percent > 0 && s.percent.Takes(s.position.Add(goldenRatio))
}

// key reports whether what has this key is taken: always the same for the same
// key and share, on every machine and after every restart.
func (s *share) key(key string) bool { return s.percent.Takes(xxhash.Sum64String(key)) }

// Rate is a number of requests per second, as text `50/s` or `0.5/s`.
type Rate float64

// UnmarshalText reads the rate and refuses what is not positive.
func (r *Rate) UnmarshalText(text []byte) error {
	number, ok := strings.CutSuffix(string(text), "/s")
	f, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(f > 0) || math.IsInf(f, 1) {
		return fmt.Errorf("'%s' is not a rate: expected requests per second, like 50/s", text)
	}
	*r = Rate(f)
	return nil
}

// MarshalText writes the rate as text.
func (r Rate) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatFloat(float64(r), 'f', -1, 64) + "/s"), nil
}

// limiter allows one second's worth at once.
func (r Rate) limiter() *rate.Limiter {
	return rate.NewLimiter(rate.Limit(r), int(math.Ceil(min(float64(r), math.MaxInt32))))
}

// Status is a status code like `304`, or a class like `2xx`, which is a single
// digit as a number.
type Status int

// UnmarshalText reads a status or a class.
func (s *Status) UnmarshalText(text []byte) error {
	if len(text) == 3 {
		if text[0] >= '1' && text[0] <= '5' && string(text[1:]) == "xx" {
			*s = Status(text[0] - '0')
			return nil
		}
		if n, err := strconv.Atoi(string(text)); err == nil && n >= 100 && n < 600 {
			*s = Status(n)
			return nil
		}
	}
	return fmt.Errorf("'%s' is not a status: expected one like 304 or a class like 2xx", text)
}

// UnmarshalJSON reads a status or a class from text or a number.
func (s *Status) UnmarshalJSON(data []byte) error {
	var n int
	if json.Unmarshal(data, &n) == nil {
		if n < 1 || n > 5 && n < 100 || n > 599 {
			return fmt.Errorf("%d is not a status", n)
		}
		*s = Status(n)
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return s.UnmarshalText([]byte(text))
}

// MarshalJSON writes a class as text and a status as a number.
func (s Status) MarshalJSON() ([]byte, error) {
	if s < 10 {
		return fmt.Appendf(nil, `"%dxx"`, int(s)), nil
	}
	return strconv.AppendInt(nil, int64(s), 10), nil
}

// wanted reports whether a request with this response is to be copied.
func (h *Handler) wanted(status int) bool {
	for _, s := range h.OnlyStatus {
		if caddyhttp.StatusCodeMatches(status, int(s)) {
			return true
		}
	}
	return len(h.OnlyStatus) == 0
}
