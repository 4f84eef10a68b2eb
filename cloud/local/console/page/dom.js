// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Helpers to build parts of the page. Text from the cloud is only ever set as text.

export const byID = (id) => document.getElementById(id);

// make creates an element with a class and children, which are elements or texts.
export function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

// setText leaves an element alone that has the text, so that screen readers and selections are not
// disturbed.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function link(href, text) {
  const element = make('a', '', text);
  element.href = href;
  return element;
}

export function button(text, className, action) {
  const element = make('button', className, text);
  element.type = 'button';
  element.addEventListener('click', action);
  return element;
}

// badge shows a state as a word with a color.
export const badge = (word, tone) => make('span', `badge ${tone}`, word);

export const instanceLink = (instance) => link(`#instances/${encodeURIComponent(instance.id)}`, instance.name);

export const tones = {
  Running: 'good', Succeeded: 'good', Pending: 'busy', Deleting: 'busy', Stopped: 'warn', Failed: 'bad',
};

// shares draws a bar whose parts are as wide as their counts, with the counts as text.
export function shares(parts) {
  const bar = make('span', 'bar-parts');
  bar.setAttribute('aria-hidden', 'true');
  const legend = make('span', 'legend');
  for (const { name, count, tone } of parts) {
    const part = make('span', tone);
    part.style.flexGrow = count;
    bar.append(part);
    legend.append(make('span', `key ${tone}`, `${name}: ${number(count)}`), ' ');
  }
  return make('span', 'shares', bar, legend);
}

const numbers = new Intl.NumberFormat('en');

export const number = (value) => numbers.format(value);

export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${number(Math.round(value * 10) / 10)} ${units[unit]}`;
}

export function age(time) {
  const seconds = Math.max(0, (Date.now() - new Date(time)) / 1000);
  const units = [['d', 86400], ['h', 3600], ['m', 60]];
  const [unit, length] = units.find(([, size]) => seconds >= 2 * size) || ['s', 1];
  if (seconds < 10) return 'now';
  // Seconds in steps of ten, so that the page does not change all the time.
  return unit === 's' ? `${Math.floor(seconds / 10) * 10}s` : `${Math.floor(seconds / length)}${unit}`;
}

// countBy returns how many items have each value, sorted by value.
export function countBy(items, value) {
  const counts = new Map();
  for (const item of items) counts.set(value(item), (counts.get(value(item)) || 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}
