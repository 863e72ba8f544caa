// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import "sync"

// place is one connection that several clients share, and the one that follows it.
type place struct {
	mu   sync.Mutex
	conn *shared
}

// shared is a connection in the hands of several clients. The last one closes it.
type shared struct {
	connection
	place *place
	users int
}

// newPlace returns the place of the next client, nil if it shares none.
func (d *Dialer) newPlace() *place {
	if d.options.Streams < 2 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.places%d.options.Streams == 0 {
		d.last = new(place)
	}
	d.places++
	return d.last
}

// join returns the connection of the place, or opens one. Others that join wait
// for that.
func (p *place) join(open func() (connection, error)) (connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil || p.conn.stale() {
		conn, err := open()
		if err != nil {
			return nil, err
		}
		p.conn = &shared{connection: conn, place: p}
	}
	p.conn.users++
	return p.conn, nil
}

// close leaves the connection to the others.
func (s *shared) close() {
	s.place.mu.Lock()
	s.users--
	last := s.users == 0
	if last && s.place.conn == s {
		s.place.conn = nil
	}
	s.place.mu.Unlock()
	if last {
		s.connection.close()
	}
}
