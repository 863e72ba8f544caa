// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// version is that of the files that are read and written.
const version = 1

// File is what is written about the conversations of a recording, to be read,
// edited and used.
type File struct {
	// Session is what of a request names its session, the most telling first.
	Session []SessionKey `json:"session"`

	// Links are what requests have from earlier responses.
	Links []Link `json:"links"`

	// Sessions has the sessions of those records, by identifier, whose requests
	// alone do not name them: a login, whose response hands out the key, or what
	// follows once the key was replaced.
	Sessions map[string]string `json:"sessions,omitempty"`
}

// Write writes the file as JSON. The same file is always the same text.
func (f *File) Write(w io.Writer) error {
	data, err := json.MarshalIndent(struct {
		Version int `json:"version"`
		*File
	}{version, f}, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// ParseFile reads a file. The error names the line and what was expected there:
// name:12: ….
func ParseFile(name string, data []byte) (*File, error) {
	f := &File{Session: []SessionKey{}, Links: []Link{}}
	r := newLineReader(data)
	said := 0
	err := r.object(map[string]func() error{
		"version": func() error {
			if err := r.value(&said); err != nil {
				return err
			}
			if said != version {
				return fmt.Errorf("version %d is not known: expected %d", said, version)
			}
			return nil
		},
		"session": func() error {
			return r.array(func() error {
				var key SessionKey
				err := r.value(&key)
				f.Session = append(f.Session, key)
				return err
			})
		},
		"links": func() error {
			lines := make(map[[2]Slot]int)
			return r.array(func() error {
				r.mark()
				at := r.at
				link, err := readLink(r)
				if err != nil {
					return err
				}
				f.Links = append(f.Links, link)
				pair := [2]Slot{link.Consumer, link.Producer}
				r.at = at
				if before, known := lines[pair]; known {
					return fmt.Errorf("the link from %s to %s is there twice, first in line %d", link.Producer, link.Consumer, before)
				}
				lines[pair] = r.line()
				return nil
			})
		},
		"sessions": func() error {
			f.Sessions = make(map[string]string)
			return r.members(func(id string) error {
				var session string
				err := r.value(&session)
				f.Sessions[id] = session
				return err
			})
		},
	}, "version", "session", "links")
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, r.line(), err)
	}
	return f, nil
}

func readLink(r *lineReader) (Link, error) {
	var l Link
	share := func(to *float64) func() error {
		return func() error {
			if err := r.value(to); err != nil {
				return err
			}
			if !(*to >= 0 && *to <= 1) {
				return fmt.Errorf("%v is not a share: expected a number from 0 to 1", *to)
			}
			return nil
		}
	}
	err := r.object(map[string]func() error{
		"consumer": func() error { return readSlot(r, &l.Consumer, "requests", Place.InRequest) },
		"producer": func() error { return readSlot(r, &l.Producer, "responses", Place.InResponse) },
		"sessions": func() error { return r.value(&l.Sessions) },
		"support":  share(&l.Support),
		"chance":   share(&l.Chance),
		"example": func() error {
			return r.object(map[string]func() error{
				"value":    func() error { return r.value(&l.Example.Value) },
				"producer": func() error { return r.value(&l.Example.Producer) },
				"consumer": func() error { return r.value(&l.Example.Consumer) },
			})
		},
	}, "consumer", "producer")
	return l, err
}

func readSlot(r *lineReader, s *Slot, of string, has func(Place) bool) error {
	return r.object(map[string]func() error{
		"endpoint": func() error {
			if err := r.value(&s.Endpoint); err != nil {
				return err
			}
			if s.Endpoint == "" {
				return fmt.Errorf("the endpoint is empty: expected method and path, like GET /orders/*")
			}
			if method, path, _ := strings.Cut(s.Endpoint, " "); method == "" || path == "" {
				return fmt.Errorf("'%s' is not an endpoint: expected method and path, like GET /orders/*", s.Endpoint)
			}
			return nil
		},
		"place": func() error {
			if err := r.value(&s.Place); err != nil {
				return err
			}
			if !has(s.Place) {
				return fmt.Errorf("%s have no place '%s'", of, s.Place)
			}
			return nil
		},
	}, "endpoint", "place")
}
