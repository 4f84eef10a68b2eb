// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// The views that are one table: instances, pools, load balancers and events.

import { age, badge, byID, countBy, instanceLink, link, make, number, shares, tones } from './dom.js';
import { clusterTag } from './overview.js';
import { Table } from './table.js';

const instances = new Table(byID('instances'), {
  key: (one) => one.id,
  empty: 'No instances',
  sort: 'Name',
  columns: [
    { title: 'Name', text: (one) => one.name, nodes: (one) => [instanceLink(one)] },
    { title: 'State', text: stateText, nodes: stateNodes },
    { title: 'Bootstrap', text: (one) => one.bootstrap.state, nodes: (one) => [badge(one.bootstrap.state, tones[one.bootstrap.state])] },
    { title: 'Cluster', text: (one) => one.tags?.[clusterTag] || '' },
    { title: 'Zone', text: (one) => one.zone },
    { title: 'Type', text: (one) => one.type },
    { title: 'Version', text: (one) => one.kubernetesVersion },
    { title: 'Address', text: (one) => one.address || '', className: 'code' },
    { title: 'Pool', text: (one) => one.pool || '' },
    { title: 'Age', text: (one) => age(one.createdAt), sort: (one) => -new Date(one.createdAt), className: 'number' },
  ],
});

function stateText(one) {
  return [one.state, one.draining && 'draining', one.reclaimAt && 'will be reclaimed'].filter(Boolean).join(', ');
}

function stateNodes(one) {
  return [badge(one.state, tones[one.state]), ...stateText(one).split(', ').slice(1).map((more) => badge(more, 'warn'))];
}

const pools = new Table(byID('pools'), {
  key: (pool) => pool.name,
  empty: 'No pools',
  sort: 'Name',
  columns: [
    { title: 'Name', text: (pool) => pool.name },
    { title: 'Size', text: (pool) => number(pool.size), sort: (pool) => pool.size, className: 'number' },
    { title: 'Instances', text: (pool) => number(pool.instances), sort: (pool) => pool.instances, className: 'number' },
    { title: 'Revision', text: (pool) => pool.revision, className: 'code' },
    {
      title: 'Instances by revision',
      plain: true,
      text: (pool) => JSON.stringify([pool.revision, pool.revisions]),
      nodes: (pool) => [shares(pool.revisions.map(([name, count]) => (
        { name: name === pool.revision ? `${name} (current)` : name, count, tone: name === pool.revision ? 'good' : 'busy' })))],
    },
    { title: 'Version', text: (pool) => pool.template.kubernetesVersion },
    { title: 'Zones', text: (pool) => pool.zones?.join(', ') || 'All' },
    { title: 'Problem', text: problemText, nodes: (pool) => (problemText(pool) ? [badge(problemText(pool), pool.deleting ? 'busy' : 'warn')] : []) },
  ],
});

function problemText(pool) {
  return pool.deleting ? 'Deleting' : pool.problem ? `${pool.problem.reason}: ${pool.problem.message}` : '';
}

const balancers = new Table(byID('balancers'), {
  key: (balancer) => balancer.name,
  empty: 'No load balancers',
  sort: 'Name',
  columns: [
    { title: 'Name', text: (balancer) => balancer.name },
    { title: 'Address', text: (balancer) => `${balancer.address}:${balancer.port}`, className: 'code' },
    { title: 'State', text: readyText, nodes: (balancer) => [badge(readyText(balancer), balancer.ready ? 'good' : 'warn')] },
    {
      title: 'Backends',
      plain: true,
      text: (balancer) => JSON.stringify(balancer.backends.map((backend) => [backend.name, backend.address, backend.draining])),
      nodes: (balancer) => [backendList(balancer)],
    },
  ],
});

function readyText(balancer) {
  return balancer.ready ? 'Ready' : `Not ready${balancer.message ? `: ${balancer.message}` : ''}`;
}

function backendList(balancer) {
  if (!balancer.backends.length) return make('span', 'hint', 'None');
  return make('ul', 'plain', ...balancer.backends.map((backend) => make('li', '',
    instanceLink({ id: backend.instanceID, name: backend.name }), ' ', make('span', 'code hint', backend.address),
    ...(backend.draining ? [' ', badge('draining', 'warn')] : []))));
}

const kindNames = { Instance: 'Instance', Pool: 'Pool', LoadBalancer: 'Load balancer' };
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

const events = new Table(byID('events'), {
  key: (event) => event.number,
  empty: 'No changes yet',
  columns: [
    { title: 'Time', text: (event) => clock.format(event.time), className: 'code' },
    { title: 'Kind', text: (event) => kindNames[event.kind] },
    { title: 'Object', text: (event) => event.name, nodes: (event) => [eventObject(event)] },
    { title: 'Change', text: (event) => event.change },
  ],
});

function eventObject(event) {
  if (event.kind === 'Instance') return instanceLink(event);
  return link(event.kind === 'Pool' ? '#pools' : '#load-balancers', event.name);
}

let shownFilter = '';

export function showInstances(model) {
  offerZones(model);
  const [text, state, zone] = ['text', 'state', 'zone'].map((name) => byID(`filter-${name}`).value);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [...model.instances.values()].filter((one) => (!state || one.state === state) && (!zone || one.zone === zone) && contains(one, words));
  const filter = JSON.stringify([text, state, zone]);
  instances.show(found, { restart: filter !== shownFilter });
  shownFilter = filter;
}

function contains(one, words) {
  const text = [one.name, one.id, one.address, one.pool, one.tags?.[clusterTag], one.kubernetesVersion].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

function offerZones(model) {
  const select = byID('filter-zone');
  for (const { name } of model.zones) {
    if (![...select.options].some((option) => option.value === name)) select.append(new Option(name, name));
  }
}

export function showPools(model) {
  const members = Map.groupBy(model.instances.values(), (one) => one.pool || '');
  pools.show([...model.pools.values()].map((pool) => (
    { ...pool, revisions: countBy(members.get(pool.name) || [], (one) => one.revision || 'none') })));
}

export function showBalancers(model) {
  balancers.show([...model.balancers.values()].map((balancer) => ({
    ...balancer,
    backends: (balancer.backends || []).map((backend) => ({ ...backend, name: model.instances.get(backend.instanceID)?.name || backend.instanceID })),
  })));
}

export function showEvents(model) {
  events.show(model.events);
}
