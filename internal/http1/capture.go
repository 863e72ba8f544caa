// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

// Capture keeps a response as it was received. It may be used again, and then
// keeps its memory. What had come of a response that broke off is there as well.
type Capture struct {
	// MaxBody is how many bytes of the body are kept; the rest is counted.
	MaxBody int
	// Hold reports whether the body, or the head, may have so many bytes more of
	// memory. It is asked for what goes beyond FreeBody. nil: it always may.
	Hold func(bytes int) bool
	// Return takes back all that Hold has granted, when it refuses: with it a part
	// of a response is of no use, and not kept. nil: it is.
	Return func(bytes int)

	// Head is the status line and the header of the final response with their
	// line ends, the empty line included.
	Head []byte
	// Body is the beginning of the body, without its framing.
	Body []byte
	// Trailers are the lines behind a chunked body, without the empty one.
	Trailers []byte
	// Refused is set where Hold has refused, so that less of the body is there, or
	// no head.
	Refused bool
}

// FreeBody is how much memory a body, and a head, may have that nobody is asked
// for.
const FreeBody = 64 << 10

// firstBody is the memory that a body gets before it is known to need more.
const firstBody = 4 << 10

// Reset empties the capture and keeps its memory.
func (c *Capture) Reset() {
	c.Head, c.Body, c.Trailers, c.Refused = c.Head[:0], c.Body[:0], c.Trailers[:0], false
}

// Held returns how many bytes Hold was asked for, and has granted, of the memory
// that the body and the head have.
func (c *Capture) Held() int { return c.HeldBody() + max(0, cap(c.Head)-FreeBody) }

// HeldBody returns how many of these bytes the body has.
func (c *Capture) HeldBody() int { return max(0, cap(c.Body)-FreeBody) }

// Discard drops the memory that Held counts, with what is in it.
func (c *Capture) Discard() {
	if cap(c.Body) > FreeBody {
		c.Body = nil
	}
	if cap(c.Head) > FreeBody {
		c.Head = nil
	}
}

// SetHead keeps a head, which was appended to Head.
func (c *Capture) SetHead(head []byte) {
	if more := cap(head) - max(cap(c.Head), FreeBody); more > 0 && c.Hold != nil && !c.Hold(more) {
		c.Head = c.Head[:0]
		c.refuse()
		return
	}
	c.Head = head
}

// Room returns how many bytes more of a body are wanted.
func (c *Capture) Room() int {
	if c.Refused {
		return 0
	}
	return c.MaxBody - len(c.Body)
}

// Grow makes room for so many bytes of the body and reports whether there is; if
// not, no more is kept. They are no more than Room.
func (c *Capture) Grow(bytes int) bool {
	if len(c.Body)+bytes <= cap(c.Body) {
		return true
	}
	size := min(max(len(c.Body)+bytes, 2*cap(c.Body), firstBody), c.MaxBody)
	if more := size - max(cap(c.Body), FreeBody); more > 0 && c.Hold != nil && !c.Hold(more) {
		c.refuse()
		return false
	}
	c.Body = append(make([]byte, 0, size), c.Body...)
	return true
}

func (c *Capture) refuse() {
	c.Refused = true
	if c.Return != nil {
		c.Return(c.Held())
		c.Discard()
	}
}
