// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/endpoint"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Bounds of what finding keeps, whatever the size of the recording.
const (
	maxSample      = 4096     // records that are held until the keys of sessions are chosen
	maxSampleBytes = 32 << 20 // of them together
	maxEndpoints   = 2000
	maxConsumers   = 128     // slots of an endpoint's requests
	maxProducers   = 256     // slots of an endpoint's responses
	maxEntries     = 1 << 18 // values that are kept of all sessions together
	maxMet         = 1 << 15 // sessions that are known to have been met
	maxNamed       = 1 << 18 // records that are listed with their sessions
)

// Left is what finding has left out, since there was more than is kept.
type Left struct {
	Endpoints int64 // requests of endpoints beyond the first 2,000
	Slots     int64 // values at places beyond the first 128 of an endpoint's requests and 256 of its responses
	Values    int64 // values beyond those that are kept of a session
	Sessions  int64 // sessions that were not looked into, or not as wholes, since too many went on at once
	Pairs     int64 // pairs of slots beyond the first 1,024 of a consumer, or 524,288 of all
	Records   int64 // records that the file does not list with their session, beyond 262,144
}

// Finder finds links. Records are added in the order of their times, once.
type Finder struct {
	// Listing makes the result list the records whose requests alone do not name
	// their sessions. It is set before the first record.
	Listing bool
	// Ending makes the result know which records are the last of their sessions. It
	// is set before the first record.
	Ending bool

	sessions *Sessions // nil until the keys are chosen
	sample   []*recording.Copy
	held     int // bytes of the sample
	chooser  *chooser
	reader   Reader
	name     []byte

	ofRequest, ofResponse []item

	endpoints map[string]*slots
	consumers []*consumer // all of them
	pairs     int         // of all consumers
	live      live
	met       recent[meeting]
	result    Result
}

// NewFinder returns a finder for sessions of these keys. Without any, the keys
// are chosen among cookies and bearer tokens, by the first records.
func NewFinder(keys []SessionKey) *Finder {
	f := &Finder{endpoints: make(map[string]*slots)}
	f.live.left, f.live.most, f.met.most = &f.result.Left, maxEntries, maxMet
	if len(keys) > 0 {
		f.sessions = NewSessions(keys, nil)
	} else {
		f.chooser = newChooser()
	}
	return f
}

// Add takes the next record. It keeps nothing that aliases the record's memory.
func (f *Finder) Add(q *recording.Request) {
	if f.sessions != nil {
		f.read(q)
		f.find(q)
		return
	}
	f.read(q)
	f.chooser.add(f.ofRequest, f.ofResponse)
	c := new(recording.Copy)
	c.Take(q)
	f.sample = append(f.sample, c)
	if f.held += c.Size(); len(f.sample) == maxSample || f.held >= maxSampleBytes {
		f.choose()
	}
}

// read reads the values of a record.
func (f *Finder) read(q *recording.Request) {
	f.ofRequest = f.reader.requestItems(f.ofRequest[:0], q)
	f.ofResponse = f.reader.responseItems(f.ofResponse[:0], q.Response)
}

// choose chooses the keys and goes on with the records that were held.
func (f *Finder) choose() {
	f.sessions = NewSessions(f.chooser.keys(), nil)
	sample := f.sample
	f.sample, f.chooser = nil, nil
	for _, c := range sample {
		f.Add(&c.Request)
	}
}

// find looks for links to one record.
func (f *Finder) find(q *recording.Request) {
	f.result.Records++
	if q.Response != nil {
		f.result.Responses++
	}
	id, by := f.sessions.assign(q, 0, f.ofRequest, f.ofResponse)
	if id == 0 {
		f.result.Outside++
		return
	}
	if f.Ending {
		if f.result.Ends == nil {
			f.result.Ends = newEnds()
		}
		f.result.Ends.meet(id, f.result.Records)
	}
	s := f.session(id, f.enter(id, q, by))
	if s == nil {
		return
	}
	e := f.endpoint(q)
	if e == nil {
		f.result.Left.Endpoints++
		return
	}
	s.publish(q.TimeNS)
	for from := 0; from < len(f.ofRequest); {
		place := f.ofRequest[from].place
		values := f.sameRequestPlace(from, place)
		from += len(values)
		c := e.consumer(f, place)
		if c == nil {
			f.result.Left.Slots += int64(len(values))
			continue
		}
		c.meet(f, s, values, q)
	}
	for _, item := range f.ofRequest {
		s.ask(item.hash)
	}
	if q.Response != nil && len(f.ofResponse) > 0 {
		s.answer(f, e, q)
	}
	f.live.trim()
}

// session returns a session, of which there may have been another record, nil if
// it is not looked into.
func (f *Finder) session(id SessionID, before meeting) *session {
	s, isBack := f.live.session(id, before != meeting{})
	switch {
	case s != nil, before.lost:
	case isBack:
		f.met.put(id, meeting{counted: true, lost: true})
		f.result.Left.Sessions += 1 + f.live.cameBack()
	case before == meeting{}:
		f.result.Left.Sessions++
	}
	return s
}

// enter counts a record of a session, and lists it if its request alone does not
// name the session. It returns what was known of the session.
func (f *Finder) enter(id SessionID, q *recording.Request, by naming) (before meeting) {
	is, _ := f.met.get(id)
	if by == byItself { // it is outside, unless another record follows
		f.result.Outside++
		f.met.put(id, meeting{first: string(q.ID), met: true})
		return is
	}
	if !is.counted {
		f.result.Sessions++
		if is.first != "" {
			f.result.Outside--
			f.list(is.first, id)
		}
		f.met.put(id, meeting{counted: true})
	}
	if by == byAnswers {
		f.list(string(q.ID), id)
	}
	return is
}

// meeting is what is kept of a session that was met lately.
type meeting struct {
	counted, lost bool   // it is counted; it went and came back
	met           bool   // there was a record
	first         string // the record before it was counted, that no key names
}

func (f *Finder) list(record string, id SessionID) {
	switch {
	case record == "" || !f.Listing:
	case len(f.result.File.Sessions) < maxNamed:
		if f.result.File.Sessions == nil {
			f.result.File.Sessions = make(map[string]string)
		}
		f.result.File.Sessions[record] = id.String()
	default:
		f.result.Left.Records++
	}
}

// sameRequestPlace returns the values from one on that stand at the same place.
func (f *Finder) sameRequestPlace(from int, place Place) []item {
	to := from + 1
	for to < len(f.ofRequest) && f.ofRequest[to].place == place {
		to++
	}
	return f.ofRequest[from:to]
}

// slots are the slots of one endpoint.
type slots struct {
	name      string
	consumers map[Place]*consumer
	producers map[Place]*producer
	before    []*producer // of the values of the response before, which is often alike
}

// endpoint returns the slots of a request's endpoint, nil if there are too many.
func (f *Finder) endpoint(q *recording.Request) *slots {
	f.name = endpoint.AppendName(f.name[:0], q.Method, q.URI, q.Body)
	if e := f.endpoints[string(f.name)]; e != nil {
		return e
	}
	if len(f.endpoints) == maxEndpoints {
		return nil
	}
	e := &slots{name: string(f.name), consumers: make(map[Place]*consumer), producers: make(map[Place]*producer)}
	f.endpoints[e.name] = e
	return e
}

// consumer returns the consumer at a place, nil if the endpoint has too many.
func (e *slots) consumer(f *Finder, at Place) *consumer {
	c := e.consumers[at]
	if c == nil && len(e.consumers) < maxConsumers {
		c = &consumer{slot: Slot{e.name, at}, pairs: make(map[*producer]*pair)}
		e.consumers[at] = c
		f.consumers = append(f.consumers, c)
	}
	return c
}

// producer returns the producer at the place of a value, by its number in its
// response, nil if the endpoint has too many.
func (e *slots) producer(at Place, number int) *producer {
	if number < len(e.before) && e.before[number].slot.Place == at {
		return e.before[number]
	}
	p := e.producers[at]
	if p == nil && len(e.producers) < maxProducers {
		p = &producer{slot: Slot{e.name, at}}
		e.producers[at] = p
	}
	if p != nil && number <= len(e.before) && number < maxProducers {
		e.before = append(e.before[:number], p)
	}
	return p
}

// Earlier is how long after a request came a response may have ended and still
// count as earlier: clocks that time both are read a little late.
const Earlier = 50 * time.Millisecond
