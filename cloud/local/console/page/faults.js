// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// The view of fault rules.

import { age, button, byID, number, setText } from './dom.js';
import { Table } from './table.js';

// fields of a rule that apply to each kind. Those with a value must be given.
const ofInstances = ['zone', 'pool', 'probability', 'count'];
const ofCalls = ['probability', 'count'];
const kinds = {
  BootFailure: ofInstances,
  SlowBoot: [...ofInstances, 'delaySeconds'],
  LostInstance: [...ofInstances, 'delaySeconds'],
  StoppedInstance: [...ofInstances, 'delaySeconds'],
  SpotReclaim: [...ofInstances, 'delaySeconds', 'noticeSeconds'],
  ZoneOutage: ['zone', 'afterOutage'],
  Stockout: ofInstances,
  APILatency: [...ofCalls, 'delaySeconds'],
  Throttling: [...ofCalls, 'retryAfterSeconds'],
  ServerError: [...ofCalls, 'status'],
};
const texts = ['zone', 'pool', 'afterOutage'];
const input = (field) => byID('fault-form').querySelector(`[data-field="${field}"] :is(input, select)`);

const details = [['delay', 'delaySeconds', 's'], ['notice', 'noticeSeconds', 's'], ['retry after', 'retryAfterSeconds', 's'], ['status', 'status', ''], ['then', 'afterOutage', '']];

// FaultsView shows the rules, and injects and removes them if the tenant permits that.
export class FaultsView {
  #api = null;
  #model = null;
  #table;

  constructor() {
    this.#table = new Table(byID('faults'), {
      key: (rule) => `${rule.tenant}/${rule.name}`,
      empty: 'No faults are injected',
      sort: 'Name',
      columns: [
        { title: 'Name', text: (rule) => rule.name },
        { title: 'Kind', text: (rule) => rule.kind },
        { title: 'Tenant', text: (rule) => (rule.tenant === '*' ? 'All' : rule.tenant) },
        { title: 'Zone', text: (rule) => rule.zone || 'Any' },
        { title: 'Pool', text: (rule) => rule.pool || 'Any' },
        { title: 'Probability', text: (rule) => String(rule.probability || 1), className: 'number' },
        { title: 'Strikes', text: (rule) => number(rule.strikes) + (rule.count ? ` of ${number(rule.count)}` : ''), sort: (rule) => rule.strikes, className: 'number' },
        { title: 'Details', plain: true, text: detailsOf },
        { title: 'Age', text: (rule) => age(rule.createdAt), sort: (rule) => -new Date(rule.createdAt), className: 'number' },
        {
          title: 'Actions', plain: true,
          text: () => (this.#model.tenant.readOnly ? 'None' : 'Remove'),
          nodes: (rule) => (this.#model.tenant.readOnly ? [] : [this.#removeButton(rule)]),
        },
      ],
    });
    byID('fault-kind').append(...Object.keys(kinds).sort().map((kind) => new Option(kind, kind)));
    byID('fault-kind').addEventListener('change', offerFields);
    byID('fault-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#inject();
    });
    offerFields();
  }

  open(api) { this.#api = api; }

  show(model) {
    this.#model = model;
    byID('fault-form').hidden = !model.tenant || model.tenant.readOnly;
    offer(input('zone'), model.zones.map((zone) => zone.name));
    offer(input('pool'), [...model.pools.keys()]);
    this.#table.show(model.tenant ? model.faults : []);
  }

  #removeButton(rule) {
    const remove = button('Remove', '', () => this.#order(
      'DELETE', `/v1/faults/${encodeURIComponent(rule.name)}?${new URLSearchParams({ tenant: rule.tenant })}`, undefined, `${rule.name} was removed.`));
    remove.setAttribute('aria-label', `Remove ${rule.name}`);
    return remove;
  }

  #inject() {
    const kind = byID('fault-kind').value;
    const rule = { name: byID('fault-name').value, kind };
    for (const field of kinds[kind]) {
      const { value } = input(field);
      if (value) rule[field] = texts.includes(field) ? value : Number(value);
    }
    this.#order('PUT', `/v1/faults/${encodeURIComponent(rule.name)}`, rule, `${rule.name} was injected.`);
  }

  async #order(method, path, body, done) {
    try {
      await this.#api.order(method, path, body);
      setText(byID('fault-result'), done);
    } catch (error) {
      setText(byID('fault-result'), `The cloud refused: ${error.message}`);
    }
    await this.#model.refreshSlow();
  }
}

function detailsOf(rule) {
  return details.filter(([, field]) => rule[field]).map(([name, field, unit]) => `${name} ${rule[field]}${unit}`).join(', ');
}

// offerFields shows the fields of the selected kind. Hidden ones are disabled, so that their values
// are not checked.
function offerFields() {
  const used = kinds[byID('fault-kind').value];
  for (const part of byID('fault-form').querySelectorAll('[data-field]')) {
    part.hidden = !used.includes(part.dataset.field);
    part.querySelector('input, select').disabled = part.hidden;
  }
}

// offer makes the names the options of a select, after its first one.
function offer(select, names) {
  const have = [...select.options].slice(1).map((option) => option.value);
  if (have.join('\n') === names.join('\n')) return;
  const { value } = select;
  select.replaceChildren(select.options[0], ...names.map((name) => new Option(name, name)));
  select.value = names.includes(value) ? value : '';
}
