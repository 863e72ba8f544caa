// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers and times as text.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const count = (n) => whole.format(n);
export const rate = (n) => (n > 0 && n < 100 ? fine : whole).format(n);
export const share = (n) => `${n > 0 && n < 0.1 ? fine.format(n * 100) : whole.format(n * 100)}%`;

const units = [["d", 86400], ["h", 3600], ["m", 60]];

// duration writes seconds in at most two units.
export function duration(seconds) {
  if (seconds > 0 && seconds < 1) return `${fine.format(seconds * 1000)}ms`;
  const parts = [];
  let rest = Math.round(seconds * 10) / 10;
  for (const [unit, size] of units) {
    const n = Math.floor(rest / size);
    if (n > 0) parts.push(`${n}${unit}`);
    rest -= n * size;
  }
  rest = Math.round(rest * 10) / 10;
  if (rest > 0 || parts.length === 0) parts.push(`${seconds < 60 ? rest : Math.floor(rest)}s`);
  return parts.slice(0, 2).join(" ");
}

// kind is the class of a status: 2 to 5, and 9 for any other.
export function kind(status) {
  const first = Math.floor(status / 100);
  return first >= 2 && first <= 5 ? first : 9;
}
