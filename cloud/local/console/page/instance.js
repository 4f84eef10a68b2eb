// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// The view of one instance: what it is, its logs, and the orders for it.

import { age, badge, button, byID, bytes, make, setText, tones } from './dom.js';

// A log shows its last lines, and keeps at most this many characters.
const firstLines = 500;
const maxText = 400_000;

const orders = [
  { title: 'Stop', action: 'stop', states: ['Running'], warning: 'Its processes are stopped. Its data is kept.' },
  { title: 'Start', action: 'start', states: ['Stopped'] },
  { title: 'Reboot', action: 'reboot', states: ['Running'], warning: 'It is stopped and started again.' },
  { title: 'Freeze', action: 'freeze', states: ['Running'], warning: 'All its processes are suspended until it is thawed.' },
  { title: 'Thaw', action: 'thaw', states: ['Running'] },
  {
    title: 'Delete', states: ['Pending', 'Running', 'Stopped', 'Failed'], className: 'danger',
    warning: 'The instance and its data are deleted. If it is in a pool, the pool shrinks by one.',
  },
];

// InstanceView shows one instance at a time.
export class InstanceView {
  #id = '';
  #api = null;
  #log = null;
  // lost is true if the log ended with the connection.
  #lost = false;
  // A log that ended may grow again once what is known changes. ended is what was known when a log
  // that is followed ended, and otherwise empty.
  #known = '';
  #ended = '';
  #shown = '';

  constructor() {
    byID('log-source').addEventListener('change', () => this.#openLog());
    byID('log-follow').addEventListener('change', () => this.#openLog());
  }

  // open shows an instance, by ID. An empty ID closes the view.
  open(api, id) {
    this.#api = api;
    if (id === this.#id) return;
    this.#id = id;
    this.#shown = '';
    setText(byID('instance-result'), '');
    this.#openLog();
  }

  show(model) {
    const instance = model.instances.get(this.#id);
    this.#known = JSON.stringify([model.connections, instance?.state, instance?.bootstrap.state]);
    // The log of an instance that is being deleted stays in view.
    const grows = this.#ended && this.#ended !== this.#known && instance && instance.state !== 'Deleting';
    if ((this.#lost || grows) && model.state === 'Connected') this.#openLog();
    byID('instance-gone').hidden = !model.loaded || Boolean(instance);
    if (!instance) {
      setText(byID('instance-name'), this.#id);
      byID('instance-actions').replaceChildren();
      this.#shown = '';
      return;
    }
    const facts = factsOf(instance, model);
    const shown = JSON.stringify([instance.state, model.tenant, facts.map(([name, value]) => [name, String(value.textContent ?? value)])]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    setText(byID('instance-name'), instance.name);
    byID('instance-facts').replaceChildren(...facts.map(([name, value]) => make('div', '', make('dt', '', name), make('dd', '', value))));
    this.#offer(instance, model.tenant);
  }

  // #offer keeps the buttons while it can, since one of them may have the focus.
  #offer(instance, tenant) {
    const group = byID('instance-actions');
    group.hidden = !tenant || tenant.readOnly;
    if (group.dataset.id !== instance.id || !group.children.length) {
      group.dataset.id = instance.id;
      group.replaceChildren(...orders.map((order) => button(order.title, order.className || '', () => this.#order(instance, order))));
    }
    orders.forEach((order, i) => { group.children[i].disabled = !order.states.includes(instance.state); });
  }

  async #order(instance, { title, action, warning }) {
    if (warning && !await confirm(`${title} ${instance.name}?`, warning, title)) return;
    const path = `/v1/instances/${encodeURIComponent(instance.id)}`;
    try {
      await (action ? this.#api.order('POST', `${path}/power/${action}`) : this.#api.order('DELETE', path));
      setText(byID('instance-result'), `${title} was requested.`);
    } catch (error) {
      setText(byID('instance-result'), `${title} failed: ${error.message}`);
    }
  }

  // #openLog ends the log that is shown, and reads the one that is selected.
  async #openLog() {
    this.#log?.abort();
    this.#lost = false;
    this.#ended = '';
    byID('log').replaceChildren();
    setText(byID('log-status'), '');
    if (!this.#id) return;
    const log = new AbortController();
    this.#log = log;
    const follow = byID('log-follow').checked;
    const query = new URLSearchParams({ source: byID('log-source').value, follow, tail: firstLines });
    const end = (status, lost = false) => {
      if (log.signal.aborted) return;
      setText(byID('log-status'), status);
      this.#lost = lost;
      this.#ended = follow ? this.#known : '';
    };
    try {
      await this.#api.stream(`/v1/instances/${encodeURIComponent(this.#id)}/console?${query}`, (text) => { if (!log.signal.aborted) append(text); }, log.signal);
      end('The log ended.');
    } catch (error) {
      end(`No log: ${error.message}.`, error.status === 0);
    }
  }
}

// append adds text to the log, and keeps its end in view if that is in view.
function append(text) {
  const log = byID('log');
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 8;
  log.append(text.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '')); // without the codes for colors
  while (log.childNodes.length > 1 && log.textContent.length > maxText) log.firstChild.remove();
  if (atEnd) log.scrollTop = log.scrollHeight;
}

function factsOf(instance, model) {
  const balancers = [...model.balancers.values()].filter((balancer) => balancer.backends?.some((backend) => backend.instanceID === instance.id));
  return [
    ['State', badge(instance.state, tones[instance.state])],
    ['Message', instance.message],
    ['Bootstrap', [instance.bootstrap.state, instance.bootstrap.message].filter(Boolean).join(': ')],
    ['ID', instance.id],
    ['Provider ID', instance.providerID],
    ['Host name', instance.hostname],
    ['Address', instance.address],
    ['Zone', instance.zone],
    ['Type', instance.type],
    ['Kubernetes', [instance.kubernetesVersion, instance.image].filter(Boolean).join(', image ')],
    ['Disk', instance.diskBytes && bytes(instance.diskBytes)],
    ['Pool', instance.pool && `${instance.pool}, revision ${instance.revision}`],
    ['Load balancers', balancers.map((balancer) => balancer.name).join(', ') + (balancers.length && instance.draining ? ' (draining)' : '')],
    ['Interruptible', instance.interruptible && (instance.reclaimAt ? `will be reclaimed at ${instance.reclaimAt}` : 'yes')],
    ['Age', age(instance.createdAt)],
    ...Object.entries(instance.tags || {}).map(([key, value]) => [key, value]),
  ].filter(([, value]) => value);
}

function confirm(title, text, yes) {
  const dialog = byID('confirm');
  setText(byID('confirm-title'), title);
  setText(byID('confirm-text'), text);
  setText(byID('confirm-yes'), yes);
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((done) => {
    // The event of an earlier question may come only now.
    dialog.onclose = () => { if (!dialog.open) done(dialog.returnValue === 'yes'); };
  });
}
