// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

import { offer } from "./actions.js";
import { byId, say } from "./dom.js";
import { follow } from "./feed.js";
import { count } from "./format.js";
import { show } from "./shadows.js";

const look = follow((feed) => {
  say(byId("name"), feed.tee);
  document.title = `${feed.tee} – tee`;
  say(byId("since"), new Date(feed.since).toLocaleString());
  byId("since").dateTime = feed.since;
  say(byId("found"), summary(feed));
  show(feed.shadows);
});

offer([
  {
    button: "reset",
    path: "reset",
    title: "Reset the counts?",
    text: "Pairs are counted from 0 again, for everybody who reads them. Metrics go on counting, and what was saved stays.",
    yes: "Reset",
    done: "The counts begin at zero.",
  },
], look);

function summary({ all, found, shadows }) {
  const shown = shadows.reduce((sum, shadow) => sum + shadow.fields.length, 0);
  if (all === 0) return "Nothing has differed yet";
  if (found === 0) return `None of ${count(all)} fields match`;
  if (shown < found) return `${count(shown)} of ${count(found)} fields shown: find others by their name`;
  return found < all ? `${count(found)} of ${count(all)} fields` : `${count(all)} fields`;
}
