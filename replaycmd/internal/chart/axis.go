// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"slices"
)

// Axis places values between its ends, and those beyond at them.
type Axis struct {
	Label    string
	Low      float64
	High     float64
	Log      bool                 // each step is a factor
	Ticks    []float64            // nil: as they come out even
	Format   func(float64) string // of a tick
	MaxTicks int                  // 0: 6
}

// share returns where a value is: 0 at the lower end, 1 at the upper.
func (a *Axis) share(v float64) float64 {
	low, high := a.Low, a.High
	if a.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(max(v, a.Low))
	}
	if !(high > low) {
		return 0.5
	}
	return min(max((v-low)/(high-low), 0), 1)
}

func (a *Axis) ticks() []float64 {
	switch {
	case a.Ticks != nil:
		return slices.DeleteFunc(slices.Clone(a.Ticks), func(v float64) bool { return v < a.Low || v > a.High })
	case a.Log:
		return a.logTicks()
	}
	return a.evenTicks()
}

func (a *Axis) most() int {
	if a.MaxTicks > 0 {
		return a.MaxTicks
	}
	return 6
}

// evenTicks returns multiples of 1, 2 or 5 times a power of ten.
func (a *Axis) evenTicks() (ticks []float64) {
	step := NiceStep((a.High - a.Low) / float64(a.most()))
	if !(step > 0) {
		return []float64{a.Low}
	}
	for i := math.Ceil(a.Low/step-1e-9) + 0; i*step <= a.High+step*1e-9; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// NiceStep returns 1, 2 or 5 times a power of ten that is not below a value.
func NiceStep(least float64) float64 {
	if !(least > 0) || math.IsInf(least, 0) {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= least*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// logTicks returns 1, 2 and 5 times the powers of ten, or of fewer if that is too
// many.
func (a *Axis) logTicks() []float64 {
	if !(a.Low > 0) || !(a.High >= a.Low) {
		return nil
	}
	first, last := int(math.Floor(math.Log10(a.Low))), int(math.Ceil(math.Log10(a.High)))
	var ticks []float64
	for _, of := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		ticks = nil
		for power := first; power <= last; power++ {
			for _, factor := range of {
				if v := factor * math.Pow(10, float64(power)); v >= a.Low*(1-1e-9) && v <= a.High*(1+1e-9) {
					ticks = append(ticks, v)
				}
			}
		}
		if len(ticks) <= a.most()+2 {
			break
		}
	}
	return ticks
}

// Around returns the ends of an axis on which all values are, even ones; the
// lower is 0 unless it is logarithmic.
func Around(log bool, values ...float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || log && v <= 0 {
			continue
		}
		low, high = min(low, v), max(high, v)
	}
	switch {
	case low > high && log:
		return 1, 10
	case low > high, !log && high <= 0:
		return 0, 1
	case !log:
		step := NiceStep(high / 5)
		return 0, math.Ceil(high/step-1e-9) * step
	}
	low, high = evenBelow(low), evenAbove(high)
	if low == high {
		high *= 2
	}
	return low, high
}

func evenBelow(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	switch {
	case v >= 5*power*(1-1e-9):
		return 5 * power
	case v >= 2*power*(1-1e-9):
		return 2 * power
	}
	return power
}

func evenAbove(v float64) float64 { return NiceStep(v) }
