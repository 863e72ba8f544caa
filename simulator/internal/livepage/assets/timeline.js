// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// The stages of a route in their order, and the place where it is.

import { element } from "./dom.js";
import { duration, kind } from "./format.js";

// timeline makes the list of a route's stages. What is before the first one is
// stage 0.
export function timeline(route) {
  const stages = [...route.stages];
  if (stages[0].at > 0) stages.unshift({ at: 0, outcomes: [{ status: 200, latency: "0", words: ["before the first stage"] }] });
  const ends = stages.slice(1).map((stage) => stage.at);
  ends.push(route.end > 0 ? route.end : Infinity);
  const shortest = Math.min(...stages.map((stage, i) => ends[i] - stage.at));
  const bar = element("ol", "timeline", ...stages.map((stage, i) => segment(stage, ends[i], shortest)));
  bar.setAttribute("aria-label", `Stages of ${route.route}`);
  bar.tabIndex = 0; // so that a long one can be scrolled by keyboard
  return bar;
}

// segment makes one stage. Its breadth grows with its length, but so that the
// shortest and the longest can be read side by side. Its color is that of the
// last outcome, which is for most of the requests.
function segment(stage, end, shortest) {
  const made = element("li", `segment kind${kind(stage.outcomes.at(-1).status)}`,
    element("span", "at", duration(stage.at)),
    ...stage.outcomes.flatMap(outcome),
    element("span", "marker"));
  made.style.flexGrow = end === Infinity ? 2 : Math.min(8, 1 + Math.log2((end - stage.at) / shortest));
  made.classList.toggle("endless", end === Infinity);
  spans.set(made, { at: stage.at, end });
  return made;
}

// outcome shows what may become of a request.
function outcome({ status, latency, words }) {
  return [
    element("span", `answer kind${kind(status)}`, element("strong", "status", String(status)), " ",
      element("span", "latency", latency === "0" ? "no latency" : latency)),
    element("span", "words", ...words.map(chip)),
  ];
}

const spans = new WeakMap(); // of segments, in seconds

// chip shows something else that a recipe or a stage says.
export const chip = (word) => element("span", word.startsWith("fault ") ? "word fault" : "word", word);

// move puts the marker where the route is, and gives it in words.
export function move(bar, route) {
  const first = bar.children.length > route.stages.length ? 0 : 1;
  const now = bar.children[route.stage - first];
  for (const made of bar.children) {
    if (made.classList.toggle("current", made === now)) made.setAttribute("aria-current", "step");
    else made.removeAttribute("aria-current");
  }
  if (route.elapsed < 0) return `Begins in ${left(-route.elapsed)}`;
  const place = route.stage === 0 ? "Before the first stage" : `Stage ${route.stage} of ${route.stages.length + route.more}`;
  if (!now) return place; // it is not among those that are shown
  const { at, end } = spans.get(now);
  const gone = route.elapsed - at;
  const done = end === Infinity ? endless(gone) : gone / (end - at);
  now.style.setProperty("--done", `${(100 * Math.min(1, Math.max(0, done))).toFixed(2)}%`);
  return `${place}, ${end === Infinity ? "which stays" : `${left(end - route.elapsed)} left`}`;
}

const left = (seconds) => duration(Math.max(1, Math.ceil(seconds)));

// endless moves ever more slowly towards the end of a stage that has none.
const endless = (seconds) => seconds / (seconds + 60);
