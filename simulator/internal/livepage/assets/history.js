// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// What was counted over the last minute, from counts that only grow.

const span = 60_000;

export const total = (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0);

// History keeps the counts of one route, or of all, as they were.
export class History {
  #kept = []; // {time, requests, latencies}, the latest last

  // add takes the counts of a moment. If they have become fewer, they were
  // cleared, and everything begins again.
  add(time, { requests, latencies }) {
    const last = this.#kept.at(-1);
    if (last && (time <= last.time || total(requests) < total(last.requests))) this.#kept = [];
    this.#kept.push({ time, requests, latencies });
    while (this.#kept.length > 2 && this.#kept[1].time <= time - span) this.#kept.shift();
  }

  // rates are the requests per second between one moment and the next.
  rates() {
    return this.#kept.slice(1).map((now, i) => {
      const before = this.#kept[i];
      return (1000 * (total(now.requests) - total(before.requests))) / (now.time - before.time);
    });
  }

  // rate is the latest of them, over about three seconds so that it stays
  // legible.
  rate() {
    const now = this.#kept.at(-1);
    const before = this.#kept.at(-4) ?? this.#kept[0];
    return now === before ? 0 : (1000 * (total(now.requests) - total(before.requests))) / (now.time - before.time);
  }

  // requests are those of the last minute by status.
  requests() {
    const before = this.#kept[0].requests;
    const entries = Object.entries(this.#kept.at(-1).requests);
    return Object.fromEntries(entries.map(([status, n]) => [status, n - (before[status] ?? 0)]));
  }

  // latencies are the requests of the last minute by imposed latency.
  latencies() {
    const before = this.#kept[0].latencies;
    return this.#kept.at(-1).latencies.map((n, i) => Math.max(0, n - before[i]));
  }
}
