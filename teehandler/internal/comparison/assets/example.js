// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// One pair of responses, in full or as far as it is kept.

import { byId, element, say } from "./dom.js";

// open shows the pair of a row.
export async function open(row) {
  say(byId("example-title"), `${row.field} of ${row.endpoint}`);
  byId("pair").replaceChildren(element("p", "small", "Loading"));
  byId("example").showModal();
  try {
    const response = await fetch(`example.json?id=${encodeURIComponent(row.id)}`);
    const found = await response.json();
    if (!response.ok) throw new Error(found.error);
    byId("pair").replaceChildren(...pair(found));
  } catch (error) {
    byId("pair").replaceChildren(element("p", "problem", error.message));
  }
}

function pair({ id, request, old, new: fresh }) {
  const sides = [lines(old), lines(fresh)];
  return [
    part(`Request ${id}`, [request.line, ...text(request.header), "", ...pretty(request.body)].map((line) => [line, false])),
    element("div", "sides",
      part("Old: the primary", marked(sides[0], sides[1])),
      part("New: the shadow", marked(sides[1], sides[0]))),
  ];
}

function lines(response) {
  const end = response.error ? [`(broke off: ${response.error})`] : [];
  const trailer = response.trailer ? ["", ...text(response.trailer)] : [];
  return [`status ${response.status}`, ...text(response.header), "", ...pretty(response.body), ...trailer, ...end];
}

const text = (block) => (block ? block.split("\n") : []);

// pretty writes JSON with a line for each value, so that lines can be compared.
function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2).split("\n");
  } catch {
    return text(body);
  }
}

// marked says of each line whether the other side lacks it.
function marked(own, other) {
  const known = new Set(other.map(bare));
  return own.map((line) => [line, !known.has(bare(line))]);
}

const bare = (line) => line.replace(/,$/, "");

function part(title, lines) {
  const shown = element("pre", "", ...lines.map(([line, differs]) => element(differs ? "mark" : "span", "", `${differs ? "≠ " : "  "}${line}\n`)));
  shown.tabIndex = 0; // so that it can be scrolled by keyboard
  shown.setAttribute("aria-label", title);
  return element("section", "", element("h3", "", title), shown);
}
