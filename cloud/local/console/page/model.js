// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// What the page knows of the cloud. It follows the event stream, and gets what an event names.

import { CallError } from './api.js';

// All times are in milliseconds.
const pause = 500; // between two rounds of calls, so that many events need few calls
const slowPause = 5_000; // between two calls for what has no events
const maxWait = 10_000; // between two attempts to connect
const maxSingle = 20; // how many objects of a kind are got one by one rather than listed
const maxEvents = 500;

const kinds = {
  Instance: { path: '/v1/instances', field: 'instances', key: (one) => one.id },
  Pool: { path: '/v1/pools', field: 'pools', key: (one) => one.name },
  LoadBalancer: { path: '/v1/load-balancers', field: 'balancers', key: (one) => one.name },
};

const wait = (time) => new Promise((done) => { setTimeout(done, time); });

export class Model {
  instances = new Map();
  pools = new Map();
  balancers = new Map();
  faults = [];
  zones = [];
  types = [];
  images = [];
  quota = null;
  tenant = null;
  events = [];
  // state is Connecting, Connected or Disconnected, and problem says why it is the last.
  state = 'Connecting';
  problem = '';
  // loaded is true once the lists have been read.
  loaded = false;
  // connections counts how often the page connected.
  connections = 0;

  #api;
  #changed;
  #ended = new AbortController();
  #connection = null;
  #dirty = new Map();
  #working = false;

  // changed is called after every change.
  constructor(api, changed) {
    this.#api = api;
    this.#changed = changed;
  }

  // run follows the cloud until stop is called, or throws when the cloud refuses the token.
  async run() {
    const slow = setInterval(() => this.refreshSlow(), slowPause);
    let delay = pause;
    try {
      while (!this.#ended.signal.aborted) {
        try {
          await this.#follow();
          delay = pause;
        } catch (error) {
          if (!(error instanceof CallError) || error.unauthorized) throw error;
          if (this.state === 'Connected') delay = pause;
          this.#set('Disconnected', error.message);
          await wait(Math.max(delay * (0.75 + Math.random() / 2), (error.retryAfterSeconds || 0) * 1000));
          delay = Math.min(delay * 2, maxWait);
        }
      }
    } finally {
      clearInterval(slow);
      this.stop();
    }
  }

  stop() { this.#ended.abort(); }

  // #follow connects, reads everything, and keeps up until the connection ends.
  async #follow() {
    const connection = new AbortController();
    this.#connection = connection;
    const end = () => connection.abort();
    this.#ended.signal.addEventListener('abort', end, { once: true });
    let failed;
    try {
      this.tenant = await this.#api.get('/v1/tenant');
      await this.#api.watch((event) => {
        this.#note(event);
        this.#work().catch((error) => { failed = error; connection.abort(); });
      }, connection.signal);
      throw new CallError(0, 'the cloud ended the connection');
    } catch (error) {
      throw failed || error;
    } finally {
      this.#ended.signal.removeEventListener('abort', end);
      connection.abort();
    }
  }

  #set(state, problem = '') {
    this.state = state;
    this.problem = problem;
    this.#changed();
  }

  #note(event) {
    if (event.kind === 'Synced') { // the first event of a connection
      this.connections++;
      for (const kind of Object.keys(kinds)) this.#dirty.set(kind, null);
      this.#dirty.set('Catalog', null);
      return;
    }
    this.#mark(event.kind, event.kind === 'Instance' ? event.id : event.name);
    if (event.pool) this.#mark('Pool', event.pool);
  }

  // #mark notes an object to get; null stands for all objects of the kind.
  #mark(kind, key) {
    if (!this.#dirty.has(kind)) this.#dirty.set(kind, new Set());
    this.#dirty.get(kind)?.add(key);
    if (this.#dirty.get(kind)?.size > maxSingle) this.#dirty.set(kind, null);
  }

  // #work gets what events named, in rounds, until nothing is left.
  async #work() {
    if (this.#working) return;
    this.#working = true;
    const connection = this.#connection;
    try {
      while (this.#dirty.size && !connection.signal.aborted) {
        const dirty = this.#dirty;
        this.#dirty = new Map();
        await Promise.all([...dirty].map(([kind, keys]) => (kind === 'Catalog' ? this.#refreshCatalog() : this.#refresh(kinds[kind], kind, keys))));
        this.loaded = true;
        this.#set('Connected');
        await wait(pause);
      }
    } finally {
      this.#working = false;
      if (this.#connection !== connection && this.#dirty.size) this.#work().catch(() => this.#connection.abort());
    }
  }

  async #refresh({ path, field, key }, kind, keys) {
    const before = this[field];
    if (!keys) {
      const after = new Map((await this.#api.list(path)).map((one) => [key(one), one]));
      this[field] = after;
      if (this.loaded) this.#compare(kind, [...new Set([...before.keys(), ...after.keys()])], before, after);
      return;
    }
    const after = new Map(before);
    await Promise.all([...keys].map(async (name) => {
      const one = await this.#api.get(`${path}/${encodeURIComponent(name)}`).catch((error) => {
        if (!error.notFound) throw error;
      });
      if (one) after.set(name, one);
      else after.delete(name);
    }));
    this[field] = after;
    this.#compare(kind, [...keys], before, after);
  }

  // #compare writes down what changed.
  #compare(kind, keys, before, after) {
    const time = new Date();
    for (const key of keys) {
      const change = describe(before.get(key), after.get(key));
      const { name, id } = after.get(key) || before.get(key) || {};
      if (change) this.events.unshift({ number: (this.events[0]?.number || 0) + 1, time, kind, name, id, change });
    }
    this.events.length = Math.min(this.events.length, maxEvents);
  }

  async #refreshCatalog() {
    [this.zones, this.types, this.images] = await Promise.all(['/v1/zones', '/v1/instance-types', '/v1/images'].map((path) => this.#api.list(path)));
    await this.#getSlow();
  }

  async #getSlow() {
    [this.quota, this.faults] = await Promise.all([this.#api.get('/v1/quota'), this.#api.list('/v1/faults')]);
  }

  // refreshSlow gets what has no events. A failure is left for the next time.
  async refreshSlow() {
    if (this.state !== 'Connected' || document.hidden) return;
    await this.#getSlow().catch(() => {});
    this.#changed();
  }
}

// describe says what became of an object; empty if it shows no change.
function describe(before, after) {
  if (!before && !after) return '';
  if (!before) return `created${after.state ? `, ${after.state}` : ''}`;
  if (!after) return 'deleted';
  const changes = [];
  const compare = (name, value) => {
    const [old, now] = [value(before), value(after)];
    if (old !== now) changes.push(`${name} ${old || 'none'} → ${now || 'none'}`);
  };
  compare('state', (one) => one.state);
  compare('bootstrap', (one) => one.bootstrap?.state);
  compare('size', (one) => (one.size === undefined ? undefined : String(one.size)));
  compare('instances', (one) => (one.instances === undefined ? undefined : String(one.instances)));
  compare('revision', (one) => one.revision);
  compare('ready', (one) => (one.ready === undefined ? undefined : String(one.ready)));
  compare('backends', (one) => (one.ready === undefined ? undefined : String(one.backends?.length || 0)));
  if (!before.draining && after.draining) changes.push('draining');
  if (!before.deleting && after.deleting) changes.push('deleting');
  if (!before.reclaimAt && after.reclaimAt) changes.push('will be reclaimed');
  if (after.message && before.message !== after.message) changes.push(after.message);
  if (after.problem && before.problem?.message !== after.problem.message) changes.push(after.problem.message);
  return changes.join(', ');
}
