// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// A card for every service of the queue simulator, if one runs.

import { byId, element, list, say } from "./dom.js";
import { count, rate, share } from "./format.js";
import { History, total } from "./history.js";
import { chip } from "./timeline.js";

let histories = new Map(); // by key
const parts = new WeakMap(); // of cards

const keyOf = ({ broker, service }) => JSON.stringify([broker, service]);

// kinds are the colors of what became of requests, as those of statuses.
const kinds = { answered: 2, dropped: 3, unmatched: 4, unanswerable: 4, dead_lettered: 4, failed: 5, returned: 9 };

// showQueues brings the cards up to date.
export function showQueues({ queues, time }) {
  byId("queues-part").hidden = !queues;
  const services = queues?.services ?? [];
  const kept = new Map();
  for (const one of services) {
    const history = histories.get(keyOf(one)) ?? new History();
    history.add(time, { requests: one.requests, latencies: [] });
    kept.set(keyOf(one), history);
  }
  histories = kept;
  list(byId("queues"), services, keyOf, newCard, update);
  say(byId("queues-found"), queues ? summary(queues, services.length) : "");
}

function summary({ all, found }, shown) {
  if (found === 0) return `None of ${count(all)} match`;
  if (shown < found) return `${count(shown)} of ${count(found)} shown: find others by their name`;
  return found < all ? `${count(found)} of ${count(all)}` : count(all);
}

function newCard(one) {
  const made = {
    state: element("span", ""),
    rate: element("strong", ""),
    numbers: element("span", ""),
    results: element("ol", "bars"),
  };
  const title = element("h3", "", element("code", "", one.service));
  const words = [`broker ${one.broker}`, one.place];
  if (one.address !== one.service) words.push(`address ${one.address}`);
  const card = element("article", "panel route",
    element("div", "title", title, made.state),
    element("p", "words", ...words.map(chip)),
    element("p", "numbers", made.rate, " requests per second · ", made.numbers),
    made.results);
  card.setAttribute("aria-label", `Service ${one.service}`);
  parts.set(card, made);
  return card;
}

function update(card, one) {
  const made = parts.get(card);
  say(made.state, one.receiving ? "Receiving" : "Not connected");
  made.state.className = one.receiving ? "up" : "down";
  const all = total(one.requests);
  say(made.rate, rate(histories.get(keyOf(one)).rate()));
  const said = [`${count(all)} in all`, `${count(one.in_hand)} in hand on the address`];
  if (one.stages > 0) said.push(one.stage > 0 ? `stage ${one.stage} of ${one.stages}` : "before the first stage");
  say(made.numbers, said.join(" · "));
  list(made.results, Object.entries(one.requests).sort(), ([result]) => result, newResult, (row, [, n]) => {
    row.children[1].firstChild.style.width = `${(100 * n) / all}%`;
    say(row.children[2], count(n));
    row.title = `${share(n / all)} of all`;
  });
}

function newResult([result]) {
  return element("li", `kind${kinds[result] ?? 9}`, element("span", "name status", result),
    element("span", "track", element("span", "fill")), element("span", "value"));
}
