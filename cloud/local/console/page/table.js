// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

import { button, make, number, setText } from './dom.js';

const pageSize = 100;
const collator = new Intl.Collator('en', { numeric: true });

// Table fills a table element with rows, a page at a time. Rows that stay keep their elements, and
// cells that do not change are not touched, so focus and selections survive updates.
//
// A column has a title and a text of each item, which decides whether its cell changed. It may have
// nodes, which make the cell's content in place of the text, and sort, which makes the value to sort
// by. Columns with plain: true cannot be sorted.
export class Table {
  #columns;
  #key;
  #body = make('tbody');
  #rows = new Map();
  #items = [];
  #sort = null;
  #page = 0;
  #pages = make('div', 'pages');
  #range = make('span', '');
  #previous = button('Previous', '', () => this.#turn(-1));
  #next = button('Next', '', () => this.#turn(1));
  #empty;

  constructor(element, { columns, key, empty, sort }) {
    this.#columns = columns;
    this.#key = key;
    this.#empty = empty;
    if (sort) this.#sort = { column: columns.find((column) => column.title === sort), descending: false };
    const heads = columns.map((column) => this.#head(column));
    element.append(make('thead', '', make('tr', '', ...heads)), this.#body);
    this.#pages.append(this.#previous, this.#range, this.#next);
    this.#pages.hidden = true;
    element.parentElement.after(this.#pages);
    this.#showSort(heads);
  }

  #head(column) {
    const head = make('th', column.className === 'number' ? 'number' : '');
    head.scope = 'col';
    if (column.plain || !this.#sort) {
      head.append(column.title);
      return head;
    }
    head.append(button(column.title, 'sort', () => {
      const descending = this.#sort.column === column && !this.#sort.descending;
      this.#sort = { column, descending };
      this.#showSort([...head.parentElement.children]);
      this.#page = 0;
      this.#draw();
    }));
    return head;
  }

  #showSort(heads) {
    heads.forEach((head, i) => {
      if (this.#sort?.column === this.#columns[i]) head.setAttribute('aria-sort', this.#sort.descending ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
  }

  #turn(by) {
    this.#page += by;
    this.#draw();
  }

  // show replaces the items. With restart, it also goes back to the first page.
  show(items, { restart } = {}) {
    this.#items = items;
    if (restart) this.#page = 0;
    this.#draw();
  }

  #draw() {
    const items = this.#sorted();
    this.#page = Math.max(0, Math.min(this.#page, Math.ceil(items.length / pageSize) - 1));
    const from = this.#page * pageSize;
    const shown = items.slice(from, from + pageSize);
    const before = this.#rows;
    this.#rows = new Map();
    shown.forEach((item, i) => {
      const key = this.#key(item);
      const row = before.get(key) || this.#newRow();
      before.delete(key);
      this.#rows.set(key, row);
      this.#fill(row, item);
      if (this.#body.children[i] !== row) this.#body.insertBefore(row, this.#body.children[i] || null);
    });
    while (this.#body.children.length > shown.length) this.#body.lastChild.remove();
    if (shown.length === 0) this.#showEmpty();
    this.#pages.hidden = items.length <= pageSize;
    this.#previous.disabled = this.#page === 0;
    this.#next.disabled = from + pageSize >= items.length;
    setText(this.#range, `${number(from + 1)} to ${number(from + shown.length)} of ${number(items.length)}`);
  }

  #sorted() {
    if (!this.#sort) return this.#items;
    const { column, descending } = this.#sort;
    const value = column.sort || column.text;
    const keyed = this.#items.map((item) => [value(item), item]);
    keyed.sort(([a], [b]) => (typeof a === 'number' ? a - b : collator.compare(a, b)));
    if (descending) keyed.reverse();
    return keyed.map(([, item]) => item);
  }

  #newRow() {
    return make('tr', '', ...this.#columns.map((column, i) => {
      const cell = make(i === 0 ? 'th' : 'td', column.className || '');
      if (i === 0) cell.scope = 'row';
      return cell;
    }));
  }

  #fill(row, item) {
    this.#columns.forEach((column, i) => {
      const cell = row.children[i];
      const text = column.text(item);
      if (cell.shown === text) return;
      cell.shown = text;
      cell.replaceChildren(...(column.nodes ? column.nodes(item) : [text]));
    });
  }

  #showEmpty() {
    const cell = make('td', 'empty', this.#empty);
    cell.colSpan = this.#columns.length;
    this.#body.replaceChildren(make('tr', '', cell));
  }
}
