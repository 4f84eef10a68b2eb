// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// The first view: what there is in sum.

import { byID, bytes, countBy, make, number, setText, shares, tones } from './dom.js';
import { Table } from './table.js';

export const clusterTag = 'cluster.x-k8s.io/cluster';
const roleTag = 'cluster.x-k8s.io/role';

const clusterTable = new Table(byID('clusters'), {
  key: (cluster) => cluster.name,
  empty: 'No clusters',
  columns: [
    { title: 'Cluster', text: (cluster) => cluster.name },
    { title: 'Control plane', text: (cluster) => number(cluster.controlPlane), className: 'number' },
    { title: 'Workers', text: (cluster) => number(cluster.workers), className: 'number' },
    {
      title: 'Kubernetes versions',
      text: (cluster) => JSON.stringify(cluster.versions),
      nodes: (cluster) => [shares(cluster.versions.map(([name, count], i) => ({ name, count, tone: `series-${i % 4}` })))],
    },
  ],
});

const zones = new Table(byID('zones'), {
  key: (zone) => zone.name,
  empty: 'No zones',
  columns: [
    { title: 'Zone', text: (zone) => zone.name },
    { title: 'For', text: (zone) => (zone.controlPlane ? 'Everything' : 'Workers') },
    { title: 'Instances', text: (zone) => number(zone.instances), className: 'number' },
    { title: 'Running', text: (zone) => number(zone.running), className: 'number' },
    { title: 'Faults', text: (zone) => zone.faults || 'None' },
  ],
});

const quota = new Table(byID('quota'), {
  key: (resource) => resource.title,
  empty: 'No quota',
  columns: [
    { title: 'Resource', text: (resource) => resource.title },
    { title: 'Used', text: (resource) => resource.show(resource.used), className: 'number' },
    { title: 'Limit', text: (resource) => (resource.limit ? resource.show(resource.limit) : 'No limit'), className: 'number' },
    {
      title: 'Used of the limit',
      text: (resource) => (resource.limit ? `${Math.round((100 * resource.used) / resource.limit)}%` : ''),
      nodes: (resource) => (resource.limit ? [gauge(resource.used / resource.limit)] : []),
    },
  ],
});

const types = new Table(byID('types'), {
  key: (type) => type.name,
  empty: 'No instance types',
  columns: [
    { title: 'Instance type', text: (type) => type.name },
    { title: 'CPUs', text: (type) => number(type.cpus), className: 'number' },
    { title: 'Memory', text: (type) => bytes(type.memoryBytes), className: 'number' },
    { title: 'Disk', text: (type) => (type.diskBytes ? bytes(type.diskBytes) : 'No limit'), className: 'number' },
  ],
});

function gauge(share) {
  const fill = make('span', share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'good');
  fill.style.width = `${Math.min(100, 100 * share)}%`;
  const track = make('span', 'gauge', fill);
  track.setAttribute('aria-hidden', 'true');
  return make('span', 'used', track, `${Math.round(100 * share)}%`);
}

export function showOverview(model) {
  const instances = [...model.instances.values()];
  byID('nothing').hidden = !model.loaded || instances.length + model.pools.size + model.balancers.size > 0;
  showTotals(model, instances);
  clusterTable.show(clustersOf(instances));
  zones.show(model.zones.map((zone) => {
    const inZone = instances.filter((one) => one.zone === zone.name);
    return {
      ...zone, instances: inZone.length, running: inZone.filter((one) => one.state === 'Running').length,
      faults: model.faults.filter((rule) => rule.zone === zone.name).map((rule) => rule.kind).join(', '),
    };
  }));
  quota.show(model.quota ? [
    ['Instances', 'instances', number], ['CPUs', 'cpus', number], ['Memory', 'memoryBytes', bytes], ['Load balancers', 'loadBalancers', number],
  ].map(([title, field, show]) => ({ title, show, used: model.quota.used[field], limit: model.quota.limits[field] })) : []);
  types.show(model.types);
  setText(byID('images'), `Images: ${model.images.map((image) => [image.name, image.kubernetesVersion].filter(Boolean).join(' ')).join(', ') || 'none'}`);
}

function clustersOf(instances) {
  const clusters = Map.groupBy(instances.filter((one) => one.tags?.[clusterTag]), (one) => one.tags[clusterTag]);
  return [...clusters].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, own]) => {
    const controlPlane = own.filter((one) => one.tags[roleTag] === 'control-plane').length;
    return { name, controlPlane, workers: own.length - controlPlane, versions: countBy(own, (one) => one.kubernetesVersion) };
  });
}

let shownTotals = '';

function showTotals(model, instances) {
  const ready = [...model.balancers.values()].filter((one) => one.ready).length;
  const states = countBy(instances, (one) => one.state).map(([name, count]) => ({ name, count, tone: tones[name] }));
  const totals = [
    ['Instances', instances.length, states],
    ['Pools', model.pools.size, []],
    ['Load balancers', model.balancers.size, model.balancers.size ? [
      { name: 'Ready', count: ready, tone: 'good' }, { name: 'Not ready', count: model.balancers.size - ready, tone: 'warn' },
    ].filter((part) => part.count) : []],
    ['Fault rules', model.faults.length, []],
  ];
  const text = JSON.stringify(totals);
  if (text === shownTotals) return;
  shownTotals = text;
  byID('totals').replaceChildren(...totals.map(([title, count, parts]) => make('li', 'card',
    make('span', 'total', number(count)), make('span', 'title', title), ...(parts.length ? [shares(parts)] : []))));
}
