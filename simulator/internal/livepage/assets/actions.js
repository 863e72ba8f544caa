// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// The buttons that change what runs.

import { byId, say } from "./dom.js";

const actions = [
  {
    button: "restart-clock",
    path: "restart_clock",
    title: "Restart the clock?",
    text: "Every recipe in force begins again with its first stage. Recipes with a start time keep to it.",
    yes: "Restart",
    done: "The clock has started again.",
  },
  {
    button: "clear-counts",
    path: "clear_current_count",
    title: "Clear the counts?",
    text: "Requests are counted from 0 again, for everybody who reads current_count. Metrics go on counting.",
    yes: "Clear",
    done: "Counts were cleared.",
  },
  {
    button: "remove-recipes",
    path: "restart",
    title: "Remove all recipes?",
    text: "Until a recipe is posted, requests are answered 406; with mappings, 404 where none of them matches. The recipes of the configuration return when it is loaded again.",
    yes: "Remove",
    done: "All recipes were removed.",
  },
];

// offer makes the buttons work; changed is called after every change.
export function offer(changed) {
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
