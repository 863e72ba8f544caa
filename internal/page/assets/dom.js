// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Making and changing elements. Text goes in as text, never as markup: routes
// and recipes are what somebody has posted.

export const byId = (id) => document.getElementById(id);

// element makes an element of a class with what is in it: elements and text.
export function element(tag, className, ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

// drawing makes an SVG element with attributes.
export function drawing(tag, attributes, ...content) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

// say sets a text if it is another one, so that nothing is read out twice.
export function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

// list brings a container's children in line with items, each known by its key.
// Children that stay are changed in place and keep the focus.
export function list(container, items, key, make, change) {
  const names = items.map((item) => String(key(item)));
  const wanted = new Set(names);
  const known = new Map();
  for (const child of [...container.children]) {
    if (wanted.has(child.dataset.key)) known.set(child.dataset.key, child);
    else child.remove();
  }
  items.forEach((item, i) => {
    const child = known.get(names[i]) ?? make(item);
    child.dataset.key = names[i];
    if (container.children[i] !== child) container.insertBefore(child, container.children[i] ?? null);
    change(child, item);
  });
}
