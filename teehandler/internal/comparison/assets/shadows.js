// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// A panel for every shadow, with its table of fields.

import { byId, element, list, say } from "./dom.js";
import { count, duration, share } from "./format.js";
import { open } from "./example.js";

const parts = new WeakMap(); // of panels and rows

// show brings the panels up to date.
export function show(shadows) {
  list(byId("shadows"), shadows, (shadow) => shadow.shadow, newPanel, updatePanel);
}

const columns = ["Endpoint", "Field", "Class", "Kind", "Share", "Old", "New", "Only where", "Example"];

function newPanel(shadow) {
  const made = { facts: element("p", "facts"), left: element("p", "small"), rows: element("tbody", "") };
  const head = element("tr", "", ...columns.map((name) => {
    const cell = element("th", "", name);
    cell.scope = "col";
    return cell;
  }));
  made.table = element("table", "", element("thead", "", head), made.rows);
  made.table.setAttribute("aria-label", `Fields of ${shadow.shadow}`);
  const panel = element("section", "panel shadow", element("h3", "", element("code", "", shadow.shadow)), made.facts, made.left, made.table);
  panel.setAttribute("aria-label", `Shadow ${shadow.shadow}`);
  parts.set(panel, made);
  return panel;
}

function updatePanel(panel, shadow) {
  const made = parts.get(panel);
  say(made.facts, facts(shadow));
  say(made.left, notCompared(shadow));
  made.table.hidden = shadow.fields.length === 0;
  list(made.rows, shadow.fields, (row) => `${row.endpoint} ${row.field}`, newRow, updateRow);
}

function facts(shadow) {
  const said = [`${count(shadow.pairs)} pairs compared`, `${count(shadow.requests)} different requests`];
  said.push(shadow.noise_measured ? "noise is measured" : "noise is not measured");
  if (shadow.latency.pairs > 0) {
    const late = shadow.latency.median_ns / 1e9;
    said.push(late === 0 ? "as fast as the primary" : `${duration(Math.abs(late))} ${late > 0 ? "slower" : "faster"} than the primary in the median`);
  }
  return said.join(" · ");
}

function notCompared({ partial, unequal, ignored, left_out: left }) {
  const said = Object.entries(partial).sort().map(([reason, n]) => `${reason} ${count(n)}`);
  if (unequal > 0) said.push(`require_equal ${count(unequal)}`);
  const all = said.length ? [`Not compared, or not in full: ${said.join(", ")}`] : [];
  if (ignored > 0) all.push(`differences ignored by rules: ${count(ignored)}`);
  const beyond = left.endpoints + left.differences + left.collapsed;
  if (beyond > 0) all.push(`left out by limits: ${count(beyond)}`);
  return all.join(" · ");
}

function newRow() {
  const cells = columns.map((name) => {
    const cell = element("td", "");
    cell.dataset.label = name;
    return cell;
  });
  const made = { cells, button: element("button", "", "Show"), row: null };
  made.button.type = "button";
  made.button.addEventListener("click", () => open(made.row));
  cells[8].append(made.button);
  const row = element("tr", "", ...cells);
  parts.set(row, made);
  return row;
}

function updateRow(row, found) {
  const made = parts.get(row);
  made.row = found;
  row.dataset.class = found.class;
  const texts = [
    found.endpoint, found.field, found.class, found.kind,
    `${share(found.share)} (${share(found.share_low)}–${share(found.share_high)})`,
    found.old, found.new, found.only_where ?? "",
  ];
  texts.forEach((text, i) => say(made.cells[i], text));
  made.button.setAttribute("aria-label", `Show a pair for ${found.field} of ${found.endpoint}`);
}
