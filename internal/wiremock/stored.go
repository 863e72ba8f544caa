// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// stored is a mapping as those see it who administer mappings.
type stored struct {
	source     json.RawMessage // the mapping as it was read
	id         string
	metadata   json.RawMessage // nil: it has none
	persistent bool
}

// ID returns the UUID that a mapping has or, without one, one that is made of the
// mapping, its file and its place in there.
func (m *Mapping) ID() string { return m.stored.id }

// identify sets the ID of the mapping at a place in its file.
func (m *Mapping) identify(index int) {
	if m.stored.id = strings.ToLower(m.id); IsUUID(m.stored.id) {
		return
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%d\n", m.file, index)
	sum.Write(m.stored.source)
	m.stored.id = UUID([16]byte(sum.Sum(nil)))
}

// UUID returns 16 random bytes as a UUID.
func UUID(random [16]byte) string {
	random[6] = random[6]&0x0f | 0x40 // version 4, which makes no promise of what it is made of
	random[8] = random[8]&0x3f | 0x80
	text := hex.EncodeToString(random[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// IsUUID reports whether a text is a UUID, in any case.
func IsUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (text[i] == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", rune(text[i])) {
			return false
		}
	}
	return true
}

// Size returns about how much memory the mapping takes, in bytes.
func (m *Mapping) Size() int64 {
	return 4*int64(len(m.stored.source)) + int64(len(m.response.fixed.Body)) + 1024
}

// Persistent reports whether a mapping that is added while the server runs is to be
// saved.
func (m *Mapping) Persistent() bool { return m.stored.persistent }

// File returns the file that the mapping was read from, or what stands for it.
func (m *Mapping) File() string { return m.file }

// HasName reports whether the mapping has a name of its own, and returns it.
func (m *Mapping) HasName() (name string, ok bool) { return m.name, m.name != "" }

// JSON returns the mapping as it was read, with its ID in both of WireMock's fields
// for it.
func (m *Mapping) JSON() json.RawMessage {
	data, err := WithID(m.stored.source, m.ID())
	if err != nil {
		return m.stored.source
	}
	return data
}

// ResponseJSON returns the response as it was read.
func (m *Mapping) ResponseJSON() json.RawMessage {
	var whole struct {
		Response json.RawMessage `json:"response"`
	}
	if json.Unmarshal(m.stored.source, &whole) != nil || len(whole.Response) == 0 {
		return json.RawMessage("{}")
	}
	return whole.Response
}

// IDOf returns the ID that the JSON of a mapping has; empty without one. It has two
// names, of which WireMock goes by the one that is written last.
func IDOf(data []byte) (id string) {
	members, err := orderedMembers(data)
	if err != nil {
		return ""
	}
	for _, one := range members {
		if one.name == "id" || one.name == "uuid" {
			_ = json.Unmarshal(one.data, &id) // null leaves it as it is
		}
	}
	return id
}

// WithID returns the JSON of a mapping with another ID. The rest stays as it is
// written.
func WithID(data []byte, id string) (json.RawMessage, error) {
	members, err := orderedMembers(data)
	if err != nil {
		return nil, err
	}
	quoted := strconv.Quote(id)
	var out bytes.Buffer
	out.WriteString(`{"id":` + quoted)
	for _, one := range members {
		if one.name == "id" || one.name == "uuid" {
			continue
		}
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, err
		}
		out.WriteByte(',')
		out.Write(name)
		out.WriteByte(':')
		out.Write(compact(one.data))
	}
	out.WriteString(`,"uuid":` + quoted + "}")
	return out.Bytes(), nil
}

// Metadata returns the metadata of the mapping; nil if it has none.
func (m *Mapping) Metadata() json.RawMessage { return m.stored.metadata }
