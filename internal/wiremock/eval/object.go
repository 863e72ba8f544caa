// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

// Object is an object of JSON, its members in the order in which they are
// written. Where a name comes several times, the last value counts. What has been
// read is not to be changed by those who share it.
type Object struct {
	Members []Member
	places  map[string]int // of larger objects
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value any
}

// fewMembers is up to how many members are searched one after another.
const fewMembers = 8

// Len returns the number of members; no object has none.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.Members)
}

// Get returns the value of a member; no object has none.
func (o *Object) Get(name string) (value any, ok bool) {
	if i := o.find(name); i >= 0 {
		return o.Members[i].Value, true
	}
	return nil, false
}

// find returns the place of a member; less than 0: there is none.
func (o *Object) find(name string) int {
	switch {
	case o == nil:
		return -1
	case o.places != nil:
		if i, ok := o.places[name]; ok {
			return i
		}
		return -1
	}
	for i := range o.Members {
		if o.Members[i].Name == name {
			return i
		}
	}
	return -1
}

// Set sets the value of a member. A new one comes last.
func (o *Object) Set(name string, value any) {
	if i := o.find(name); i >= 0 {
		o.Members[i].Value = value
		return
	}
	o.Members = append(o.Members, Member{name, value})
	if o.places != nil {
		o.places[name] = len(o.Members) - 1
	} else if len(o.Members) > fewMembers {
		o.index()
	}
}

// Remove takes a member out.
func (o *Object) Remove(name string) {
	i := o.find(name)
	if i < 0 {
		return
	}
	o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
	if o.places != nil {
		o.index()
	}
}

func (o *Object) index() {
	o.places = make(map[string]int, len(o.Members))
	for i := range o.Members {
		o.places[o.Members[i].Name] = i
	}
}
