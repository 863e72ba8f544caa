// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

import { offer } from "./actions.js";
import { actions } from "./buttons.js";
import { histogram, line, mix } from "./charts.js";
import { byId, say } from "./dom.js";
import { follow } from "./feed.js";
import { count, rate } from "./format.js";
import { History, total } from "./history.js";
import { accept } from "./posting.js";
import { showQueues } from "./queues.js";
import { show } from "./routes.js";

const history = new History();

const look = follow((feed) => {
  history.add(feed.time, feed);
  say(byId("name"), feed.name);
  document.title = `${feed.name} – simulator`;
  say(byId("rate"), rate(history.rate()));
  say(byId("total"), count(total(feed.requests)));
  line(byId("rates"), history.rates());
  mix(byId("mix"), history.requests(), feed.requests);
  histogram(byId("latency"), feed.bounds, history.latencies());
  show(feed);
  showQueues(feed);
});
offer(actions, look);
accept(look);
