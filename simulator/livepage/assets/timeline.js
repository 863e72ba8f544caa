// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// The stages of a route in their order, and the place where it is.

import { element, say } from "./dom.js";
import { duration, kind } from "./format.js";

// timeline makes the list of a route's stages. What is before the first one is
// stage 0.
export function timeline(route) {
  const stages = [...route.stages];
  if (stages[0].at > 0) stages.unshift({ at: 0, status: 200, latency: "0", words: ["before the first stage"] });
  const lengths = stages.map((stage, i) => (i + 1 < stages.length ? stages[i + 1].at - stage.at : null));
  const shortest = Math.min(...lengths.filter((length) => length !== null));
  const bar = element("ol", "timeline", ...stages.map((stage, i) => segment(stage, lengths[i], shortest)));
  bar.setAttribute("aria-label", `Stages of ${route.route}`);
  bar.tabIndex = 0; // so that a long one can be scrolled by keyboard
  return bar;
}

// segment makes one stage. Its breadth grows with its length, but so that the
// shortest and the longest can be read side by side.
function segment(stage, length, shortest) {
  const made = element("li", `segment kind${kind(stage.status)}`,
    element("span", "at", duration(stage.at)),
    element("span", "answer", element("strong", "status", String(stage.status)), " ",
      element("span", "latency", stage.latency === "0" ? "no latency" : stage.latency)),
    element("span", "words", ...stage.words.map((word) => element("span", "word", word))),
    element("span", "marker"));
  made.style.flexGrow = length === null ? 2 : Math.min(8, 1 + Math.log2(length / shortest));
  made.dataset.at = stage.at;
  if (length === null) made.classList.add("endless");
  return made;
}

// move puts the marker where the route is, and gives it in words.
export function move(bar, route) {
  const before = bar.children.length > route.stages.length ? 0 : 1;
  const now = route.stage - before;
  [...bar.children].forEach((made, i) => {
    const current = i === now;
    if (made.classList.contains("current") === current) return;
    made.classList.toggle("current", current);
    current ? made.setAttribute("aria-current", "step") : made.removeAttribute("aria-current");
  });
  const made = bar.children[now];
  if (!made) return `Stage ${route.stage} of ${route.stages.length + route.more}`;
  const at = Number(made.dataset.at);
  const next = bar.children[now + 1];
  const left = next ? Number(next.dataset.at) - route.elapsed : null;
  const done = next ? (route.elapsed - at) / (Number(next.dataset.at) - at) : endless(route.elapsed - at);
  made.style.setProperty("--done", `${(100 * Math.min(1, Math.max(0, done))).toFixed(2)}%`);
  return `${place(route)}, ${left === null ? "which stays" : `${duration(Math.max(1, Math.ceil(left)))} left`}`;
}

const place = (route) => (route.stage === 0 ? "Before the first stage" : `Stage ${route.stage} of ${route.stages.length + route.more}`);

// endless moves ever more slowly towards the end of a stage that has none.
const endless = (seconds) => seconds / (seconds + 60);
