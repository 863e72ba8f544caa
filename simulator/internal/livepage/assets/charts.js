// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Charts of a few numbers, each with its text.

import { drawing, element, list, say } from "./dom.js";
import { count, duration, kind, rate, share } from "./format.js";
import { total } from "./history.js";

const points = 60;

// line draws numbers, the latest at the right.
export function line(place, numbers) {
  const top = Math.max(1, ...numbers);
  const path = numbers.map((n, i) => `${points - numbers.length + i + 1},${(30 - (28 * n) / top).toFixed(2)}`);
  if (path.length === 1) path.unshift(`${points - 1},${path[0].split(",")[1]}`);
  const shape = path.length ? `${points + 1 - Math.max(2, numbers.length)},30 ${path.join(" ")} ${points},30` : "";
  if (!place.firstChild) {
    place.append(
      drawing("svg", { viewBox: `0 0 ${points} 31`, preserveAspectRatio: "none", role: "img", class: "line" },
        drawing("polygon", {}), drawing("polyline", {})),
      element("p", "small top"),
    );
  }
  const [svg, caption] = place.children;
  svg.setAttribute("aria-label", `Requests per second over the last minute: at most ${rate(Math.max(0, ...numbers))}`);
  svg.children[0].setAttribute("points", shape);
  svg.children[1].setAttribute("points", path.join(" "));
  say(caption, numbers.length ? `peak ${rate(Math.max(...numbers))}` : "");
}

// histogram draws a bar for every range of latencies from the first to the last
// that has any.
export function histogram(place, bounds, numbers) {
  const all = numbers.reduce((sum, n) => sum + n, 0);
  const top = Math.max(1, ...numbers);
  const first = numbers.findIndex((n) => n > 0);
  const last = numbers.findLastIndex((n) => n > 0);
  const bars = all === 0 ? [] : numbers.slice(first, last + 1).map((n, i) => ({ n, name: rangeName(bounds, first + i) }));
  if (!place.firstChild) place.append(element("ol", "bars"), element("p", "small none"));
  const [rows, none] = place.children;
  say(none, all === 0 ? "No answers in the last minute" : "");
  list(rows, bars, (bar) => bar.name, newBar, (row, bar) => {
    row.children[1].firstChild.style.width = `${(100 * bar.n) / top}%`;
    say(row.children[2], share(bar.n / all));
    row.title = `${count(bar.n)} of ${count(all)}`;
  });
}

function newBar(bar) {
  return element("li", "", element("span", "name", bar.name), element("span", "track", element("span", "fill")), element("span", "value"));
}

function rangeName(bounds, i) {
  if (i === 0) return "none";
  if (i === bounds.length) return `over ${duration(bounds[i - 1])}`;
  return `${duration(bounds[i - 1])}–${duration(bounds[i])}`;
}

// mix draws what was answered in the last minute: the share and the number of
// each status that there was since counts were cleared.
export function mix(place, lately, ever) {
  const sum = total(lately);
  if (!place.firstChild) place.append(element("ol", "bars"), element("p", "small none"));
  const [rows, none] = place.children;
  const statuses = Object.keys(ever).sort();
  say(none, statuses.length ? "" : "No answers yet");
  list(rows, statuses, (status) => status, newStatus, (row, status) => {
    const part = sum === 0 ? 0 : (lately[status] ?? 0) / sum;
    row.children[1].firstChild.style.width = `${100 * part}%`;
    say(row.children[2], share(part));
    say(row.children[3], count(lately[status] ?? 0));
    row.title = `in the last minute; ${count(ever[status])} in all`;
  });
}

// newStatus makes a row; answers that were broken off have no status and count
// as 0.
function newStatus(status) {
  return element("li", `kind${kind(status)}`, element("span", "name status", status === "0" ? "fault" : status),
    element("span", "track", element("span", "fill")), element("span", "value"), element("span", "value all"));
}
