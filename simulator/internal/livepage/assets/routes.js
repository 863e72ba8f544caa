// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// A card for every route.

import { histogram, mix } from "./charts.js";
import { byId, element, list, say } from "./dom.js";
import { count, duration, rate } from "./format.js";
import { History, total } from "./history.js";
import { chip, move, timeline } from "./timeline.js";

let histories = new Map(); // by route

// show brings the cards up to date.
export function show(feed) {
  const kept = new Map();
  for (const route of feed.routes) {
    const history = histories.get(route.route) ?? new History();
    history.add(feed.time, route);
    kept.set(route.route, history);
  }
  histories = kept;
  list(byId("routes"), feed.routes, (route) => route.id, newCard, (card, route) => update(card, route, feed.bounds));
  say(byId("found"), summary(feed));
}

function summary({ all, found, routes }) {
  if (all === 0) return "No recipe yet: requests are answered 406";
  if (found === 0) return `None of ${count(all)} match`;
  if (routes.length < found) return `${count(routes.length)} of ${count(found)} shown: find others by their path`;
  return found < all ? `${count(found)} of ${count(all)}` : count(all);
}

// hidden tells of the stages that are not shown, and what comes after them.
function hidden({ more, period }) {
  if (more === 0) return "";
  const after = period > 0 ? `, and all begin again after ${duration(period)}` : ", the last of which stays";
  return `${count(more)} more stages are not shown${after}`;
}

const parts = new WeakMap(); // of cards

function newCard(route) {
  const made = {
    where: element("p", "where"),
    bar: route.stages ? timeline(route) : null, // a mapping has none
    rate: element("strong", ""),
    total: element("span", ""),
    clock: element("span", ""),
    mix: element("div", "mix"),
    latency: element("div", "chart"),
  };
  const title = element("h3", "", element("code", "", route.route));
  const card = element("article", "panel route",
    element("div", "title", title, made.where),
    element("p", "words", ...route.words.map(chip)),
    made.bar ?? "",
    element("p", "small", hidden(route)),
    element("p", "numbers", made.rate, " requests per second · ", made.total, " in all", made.clock),
    element("div", "pair",
      element("section", "", element("h4", "", "Status mix"), made.mix),
      element("section", "", element("h4", "", "Imposed latency"), made.latency)));
  card.setAttribute("aria-label", `Route ${route.route}`);
  parts.set(card, made);
  return card;
}

function update(card, route, bounds) {
  const history = histories.get(route.route);
  const made = parts.get(card);
  say(made.rate, rate(history.rate()));
  say(made.total, count(total(route.requests)));
  if (made.bar) {
    say(made.where, move(made.bar, route));
    say(made.clock, ` · clock at ${duration(Math.max(0, Math.floor(route.elapsed)))}`);
  }
  mix(made.mix, history.requests(), route.requests);
  histogram(made.latency, bounds, history.latencies());
}
