// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// The form that posts recipes.

import { byId, element, say } from "./dom.js";

const example = {
  route: "/example",
  body: '{"hello": "world", "filler": "<<1kb>>"}',
  stages: [
    { at: 0, status: 200, latency: "50ms" },
    { at: "10s", status: 503, latency: "lognormal(500ms,0.3)" },
    { at: "20s", status: 200, latency: "50ms..100ms" },
  ],
};

// accept makes the form work; changed is called after every change.
export function accept(changed) {
  const text = byId("recipe");
  const fill = (value) => {
    text.value = value;
    fault(null);
    text.focus();
  };
  if (!text.value) text.value = write(example); // unless the browser has kept what was there
  byId("example").addEventListener("click", () => fill(write(example)));
  byId("current").addEventListener("click", () => current().then(fill, (error) => fault({ error: error.message })));
  byId("post").addEventListener("submit", async (event) => {
    event.preventDefault();
    fault(null);
    say(byId("recipe-notice"), "");
    try {
      const answer = await fetch("add_recipe", { method: "POST", body: text.value, headers: { "Content-Type": "application/json" } });
      if (answer.status !== 201) throw await problem(answer);
      const list = await answer.json();
      say(byId("recipe-notice"), `Posted. Recipes in force: ${list.length}.`);
    } catch (error) {
      fault(error instanceof Error ? { error: error.message } : error);
    }
    changed();
  });
}

const write = (value) => JSON.stringify(value, null, 2);

async function current() {
  const answer = await fetch("current_recipe");
  const recipes = await answer.json();
  if (!answer.ok || !Array.isArray(recipes)) throw new Error("There is no recipe yet.");
  return write(recipes);
}

// problem reads what the server says is wrong.
async function problem(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    return { error: text || `the server answers ${answer.status}` };
  }
}

// fault shows what is wrong, and where.
function fault(found) {
  const text = byId("recipe");
  const place = byId("recipe-problem");
  place.replaceChildren();
  if (!found) {
    text.removeAttribute("aria-invalid");
    return;
  }
  text.setAttribute("aria-invalid", "true");
  const { field, error } = found;
  if (field) place.append(element("code", "field", field), " ");
  place.append(field && error.startsWith(`${field}: `) ? error.slice(field.length + 2) : error);
  text.focus();
}
