// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Asking once a second how things are, as long as somebody looks.

import { byId, say } from "./dom.js";

const pause = 1000;
const longestPause = 8000;
const patience = 10_000;

let timer = 0;
let failures = 0;
let running = null; // the controller of the request that is on its way

// follow calls show with every document that comes.
export function follow(show) {
  const look = async () => {
    clearTimeout(timer);
    running?.abort();
    running = null;
    if (document.hidden) {
      say(byId("connection"), "Paused");
      return;
    }
    const mine = (running = new AbortController());
    try {
      const signal = AbortSignal.any([mine.signal, AbortSignal.timeout(patience)]);
      const answer = await fetch(`live.json?find=${encodeURIComponent(byId("find").value)}`, { signal });
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      const feed = await answer.json();
      if (running !== mine) return;
      failures = 0;
      show(feed);
      say(byId("connection"), "Live");
    } catch (error) {
      if (running !== mine) return; // a later one is on its way
      failures++;
      say(byId("connection"), `No connection, trying again: ${error.message}`);
    }
    byId("connection").dataset.lost = failures > 0;
    timer = setTimeout(look, Math.min(longestPause, pause * 2 ** failures));
  };
  document.addEventListener("visibilitychange", look);
  byId("find").addEventListener("input", look);
  look();
  return look;
}
