// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package eval is what mappings compute from a request: JSON, JSONPath as
// Jayway's implementation evaluates it and Java's regular expressions. All of
// it is drawn from a Budget, so that no request costs more than its size allows.
package eval

// Budget bounds the work and the memory that a computation takes, in steps: a
// value that is looked at or a byte that is written is one, a value that is
// kept four, and 32 bytes that are only read one. The zero value has none left.
type Budget struct{ left int }

// BaseBudget is what requests of any size may spend, about a tenth of a second.
// PerByte is what comes to it for each byte of what is looked at.
const (
	BaseBudget = 2 << 20
	PerByte    = 8
)

// NewBudget returns the budget of a condition or a template that looks at so
// many bytes of a request.
func NewBudget(size int) Budget { return Budget{BaseBudget + PerByte*size} }

// What is counted as more than a step, or less.
const (
	kept     = 4
	readFree = 32 // bytes
)

// Spend takes n steps off the budget and reports whether there were as many.
func (b *Budget) Spend(n int) bool {
	b.left -= n
	return b.left >= 0
}

// Read takes what it costs to read n bytes off the budget.
func (b *Budget) Read(n int) bool { return b.Spend(1 + n/readFree) }

// Grow adds n steps.
func (b *Budget) Grow(n int) { b.left += n }

// Exceeded reports whether more was spent than there was: what was computed
// then is not whole.
func (b *Budget) Exceeded() bool { return b.left < 0 }

// exhaust leaves nothing of the budget.
func (b *Budget) exhaust() { b.left = -1 }
