// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// The buttons that change what runs.

import { byId, say } from "./dom.js";

// offer makes the buttons of actions work, each with its path and its words;
// changed is called after every change.
export function offer(actions, changed) {
  const dialog = byId("confirm");
  for (const action of actions) {
    byId(action.button).addEventListener("click", () => {
      say(byId("confirm-title"), action.title);
      say(byId("confirm-text"), action.text);
      say(byId("confirm-yes"), action.yes);
      dialog.returnValue = "no";
      dialog.onclose = () => {
        if (dialog.returnValue === "yes") act(action, changed);
      };
      dialog.showModal();
    });
  }
}

async function act(action, changed) {
  say(byId("problem"), "");
  say(byId("notice"), "");
  try {
    const answer = await fetch(action.path, { method: "POST" });
    if (!answer.ok) throw new Error(await reason(answer));
    say(byId("notice"), action.done);
  } catch (error) {
    say(byId("problem"), `${action.path}: ${error.message}`);
  }
  changed();
}

// reason gives what the server says of a failure.
async function reason(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text).error;
  } catch {
    return text || `the server answers ${answer.status}`;
  }
}
