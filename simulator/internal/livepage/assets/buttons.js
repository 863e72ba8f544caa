// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// What the buttons do.

export const actions = [
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
