// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// The page as a whole: signing in, choosing a view, and saying what happens.

import { API } from './api.js';
import { byID, number, setText } from './dom.js';
import { FaultsView } from './faults.js';
import { InstanceView } from './instance.js';
import { showBalancers, showEvents, showInstances, showPools } from './lists.js';
import { Model } from './model.js';
import { showOverview } from './overview.js';
import { decode, forgetToken, keepToken, takeToken } from './session.js';

// Screen readers are told of changes at most this often, in milliseconds.
const announcePause = 10_000;

const instanceView = new InstanceView();
const faultsView = new FaultsView();
const views = {
  overview: { title: 'Overview', show: showOverview },
  instances: { title: 'Instances', show: showInstances },
  instance: { title: 'Instance', show: (model) => instanceView.show(model) },
  pools: { title: 'Pools', show: showPools },
  'load-balancers': { title: 'Load balancers', show: showBalancers },
  faults: { title: 'Faults', show: (model) => faultsView.show(model) },
  events: { title: 'Events', show: showEvents },
};

let api = null;
let model = null;
let view = '';
let drawing = false;
let announced = { number: 0, time: 0 };

// draw shows the model at the next frame, however often it changes until then.
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    if (!model) return;
    showState();
    views[view].show(model);
    announce();
  });
}

function showState() {
  const words = { Connecting: 'Connecting', Connected: 'Live', Disconnected: 'Disconnected, connecting again' };
  byID('connection').dataset.state = model.state;
  setText(byID('connection'), words[model.state]);
  byID('problem').hidden = !model.problem;
  setText(byID('problem'), model.problem && `Trouble with the cloud: ${model.problem}.${model.loaded ? ' The console shows what it saw last.' : ''}`);
  byID('main').setAttribute('aria-busy', !model.loaded);
  byID('tenant').hidden = !model.tenant;
  setText(byID('tenant'), model.tenant ? `Tenant ${model.tenant.name}, ${model.tenant.readOnly ? 'read only' : 'read and write'}` : '');
  const counts = { instances: model.instances.size, pools: model.pools.size, balancers: model.balancers.size, faults: model.faults.length };
  for (const count of document.querySelectorAll('[data-count]')) setText(count, model.loaded ? number(counts[count.dataset.count]) : '');
}

// announce sums up changes for screen readers.
function announce() {
  const last = model.events[0]?.number || 0;
  if (last === announced.number || Date.now() - announced.time < announcePause) return;
  const count = last - announced.number;
  const { name, change } = model.events[0];
  announced = { number: last, time: Date.now() };
  setText(byID('announcements'), count === 1 ? `${name}: ${change}` : `${number(count)} changes, the last one: ${name}: ${change}`);
}

// route shows the view that the address names.
function route() {
  if (!model) return;
  const [name, id = ''] = location.hash.slice(1).split('/');
  const wanted = name === 'instances' && id ? 'instance' : Object.hasOwn(views, name) && name !== 'instance' ? name : 'overview';
  instanceView.open(api, wanted === 'instance' ? decode(id) : '');
  for (const link of document.querySelectorAll('#navigation a')) {
    const current = link.hash === `#${wanted === 'instance' ? 'instances' : wanted}`;
    if (current) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const moved = view && (view !== wanted || wanted === 'instance');
  view = wanted;
  reveal(view, views[view].title);
  views[view].show(model);
  if (moved) byID('main').focus({ preventScroll: true });
  scrollTo(0, 0);
}

function reveal(name, title) {
  for (const section of document.querySelectorAll('main > section')) section.hidden = section.id !== `view-${name}`;
  document.title = `${title} · Foo cloud`;
}

async function signIn(token) {
  api = new API(token);
  const mine = new Model(api, () => { if (model === mine) draw(); });
  model = mine;
  view = '';
  announced = { number: 0, time: 0 };
  faultsView.open(api);
  byID('navigation').hidden = false;
  byID('sign-out').hidden = false;
  route();
  draw();
  try {
    await mine.run();
  } catch (error) {
    if (model === mine) signOut(error.unauthorized ? `You are signed out: ${error.message}.` : `The console failed: ${error.message}.`);
  }
}

function signOut(reason) {
  model?.stop();
  instanceView.open(api, '');
  model = null;
  api = null;
  forgetToken();
  for (const id of ['navigation', 'sign-out', 'tenant']) byID(id).hidden = true;
  setText(byID('connection'), '');
  delete byID('connection').dataset.state;
  byID('problem').hidden = !reason;
  setText(byID('problem'), reason);
  byID('main').setAttribute('aria-busy', false);
  reveal('sign-in', 'Sign in');
  byID('token').focus();
}

byID('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  const token = byID('token').value.trim();
  byID('token').value = '';
  if (!token) return;
  keepToken(token);
  signIn(token);
});
byID('sign-out').addEventListener('click', () => signOut(''));
byID('skip').addEventListener('click', (event) => {
  event.preventDefault();
  byID('main').focus();
});
byID('instance-filters').addEventListener('input', draw);
byID('instance-filters').addEventListener('submit', (event) => event.preventDefault());

function begin() {
  const token = takeToken();
  if (token) signIn(token);
  else signOut('');
}

addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) {
    model?.stop();
    begin();
  } else {
    route();
  }
});
// Ages grow without events.
setInterval(draw, 30_000);
begin();
