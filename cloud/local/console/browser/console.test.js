// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// What a user of the console sees. TestConsoleInABrowser starts the cloud and runs these tests.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { chromium } from 'playwright-core';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const { CONSOLE: cloud, CONTROL: control } = process.env;
const address = `${cloud}/console/`;
const full = 'token-of-red';
const viewer = 'viewer-token-of-red';
const views = ['overview', 'instances', 'pools', 'load-balancers', 'faults', 'events'];
const clusterTags = { 'cluster.x-k8s.io/cluster': 'default/demo', 'cluster.x-k8s.io/role': 'worker' };

let browser;
let context;
let page;
let requests;
let complaints;

before(async () => { browser = await chromium.launch({ executablePath: '/usr/bin/chromium', timeout: 180_000 }); });
after(() => browser.close());

beforeEach(() => open());
afterEach(async () => {
  await context.close();
  for (const url of requests) {
    assert.ok(url.startsWith(`${cloud}/`), `the page loads nothing from elsewhere: ${url}`);
    assert.ok(!url.includes('token'), `no address holds a token: ${url}`);
  }
  assert.deepEqual(complaints, [], 'the browser has nothing to complain about');
});

async function open(options = {}) {
  await context?.close();
  context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 }, ...options });
  page = await context.newPage();
  page.setDefaultTimeout(60_000);
  requests = [];
  complaints = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // The browser reports each answer that is an error; the page handles those.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text());
  });
}

async function signIn(token, view = '') {
  await page.goto(`${address}#token=${token}`);
  await shows('#connection', 'Live');
  if (view) await page.goto(`${address}#${view}`);
}

const shows = (selector, text) => page.locator(selector).filter({ hasText: text }).first().waitFor();

async function call(method, path, body, token = full) {
  const answer = await context.request.fetch(cloud + path, { method, data: body, headers: { Authorization: `Bearer ${token}` } });
  assert.ok(answer.ok(), `${method} ${path}: ${answer.status()} ${await answer.text()}`);
  return answer.headers()['content-type']?.includes('json') ? answer.json() : undefined;
}

const template = (tags = clusterTags) => ({ type: 'small', kubernetesVersion: 'v1.36.3', tags });
const create = (name, tags) => call('POST', '/v1/instances', { name, hostname: name, ...template(tags) });
const operate = (path) => fetch(control + path, { method: 'POST' });

async function remove(...instances) {
  for (const { id } of instances) await call('DELETE', `/v1/instances/${id}`);
}

test('the address signs in and keeps no token', async () => {
  await signIn(viewer);
  assert.equal(page.url(), address);
  await shows('#tenant', 'Tenant red, read only');
  await page.reload();
  await shows('#connection', 'Live');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length + localStorage.length + document.cookie.length), 0);
});

test('a token can be entered, and a wrong one is refused', async () => {
  await page.goto(address);
  await page.getByLabel('Token').fill('wrong');
  await page.keyboard.press('Enter');
  await shows('#problem', 'the token belongs to no tenant');
  await page.getByLabel('Token').fill(full);
  await page.keyboard.press('Enter');
  await shows('#tenant', 'Tenant red, read and write');
  assert.equal(page.url(), address);
});

test('a cloud with nothing in it says so', async () => {
  await signIn('token-of-empty');
  await shows('#nothing', 'This tenant has nothing yet');
  for (const [view, text] of [['instances', 'No instances'], ['pools', 'No pools'], ['load-balancers', 'No load balancers'], ['faults', 'No faults'], ['events', 'No changes yet']]) {
    await page.goto(`${address}#${view}`);
    await shows(`#view-${view}`, text);
  }
});

test('an address that names no view does not break the page', async () => {
  await signIn(viewer);
  for (const [view, title] of [['constructor', 'Overview'], ['__proto__', 'Overview'], ['nothing', 'Overview'], ['instances/%', 'Instance']]) {
    await page.goto(`${address}#${view}`);
    await page.reload();
    await shows('#connection', 'Live');
    assert.equal(await page.title(), `${title} · Foo cloud`);
  }
  await page.goto(`${address}#token=%`);
  await shows('#problem', 'the token belongs to no tenant');
});

test('changes show up by themselves', async () => {
  await signIn(viewer);
  await page.goto(`${address}#instances`);
  const one = await create('default.demo-1');
  await shows('#instances tr', /default\.demo-1.*Running.*Pending.*default\/demo/);
  await operate(`/boot/${one.id}`);
  await shows('#instances tr', /default\.demo-1.*Running.*Succeeded/);
  await page.goto(`${address}#pools`);
  await call('PUT', '/v1/pools/default.workers', { name: 'default.workers', hostnamePrefix: 'w', size: 2, revision: 'r1', template: template() });
  await shows('#pools tr', /default\.workers.*2.*2.*r1 \(current\): 2/);
  const pool = await call('GET', '/v1/pools/default.workers');
  await call('PUT', `/v1/pools/default.workers?version=${pool.version}`, { name: 'default.workers', hostnamePrefix: 'w', size: 2, revision: 'r2', template: template() });
  await shows('#pools tr', /r1: 2/);
  await page.goto(`${address}#load-balancers`);
  await call('PUT', '/v1/load-balancers/default.demo', { name: 'default.demo', port: 6443, selector: clusterTags });
  await shows('#balancers tr', /default\.demo.*6443.*Ready.*default\.demo-1/);
  await page.goto(`${address}#overview`);
  await shows('#clusters tr', /default\/demo.*v1\.36\.3: 3/);
  await shows('#quota tr', /Instances.*3.*20.*15%/);
  await page.goto(`${address}#events`);
  await shows('#events tr', /Instance.*default\.demo-1.*created/);
  await shows('#events tr', /Pool.*default\.workers.*revision r1 → r2/);
  await remove(one);
  await shows('#events tr', /Instance.*default\.demo-1.*deleted/);
  await page.goto(`${address}#instances`);
  await page.locator('#instances tr', { hasText: 'default.demo-1' }).waitFor({ state: 'detached' });
  await call('DELETE', '/v1/pools/default.workers');
  await call('DELETE', '/v1/load-balancers/default.demo');
});

test('what an instance writes is only ever text', async () => {
  const one = await create('default.hostile', { '<img src=x onerror=alert(1)>': '<script>document.title="attacked"</script>' });
  await signIn(viewer, `instances/${one.id}`);
  await shows('#log', '<img src=x onerror=');
  await shows('#log', 'the console');
  await shows('#instance-facts', '<script>document.title="attacked"</script>');
  assert.equal(await page.locator('#log').evaluate((log) => log.children.length), 0);
  assert.ok(!(await page.locator('#log').textContent()).includes('\x1b'), 'codes for colors are left out');
  await operate(`/boot/${one.id}`);
  await shows('#instance-facts', 'Succeeded');
  await page.getByLabel('Source').selectOption('kubelet');
  await shows('#log', 'the kubelet');
  await page.getByLabel('Follow').uncheck();
  await shows('#log-status', 'The log ended');
  assert.equal(await page.title(), 'Instance · Foo cloud');
  assert.equal(await page.locator('#instance-actions').isVisible(), false, 'a viewer is offered no orders');
  await remove(one);
  await shows('#instance-gone', 'no such instance');
});

test('orders are given with the keyboard, and confirmed', async () => {
  const one = await create('default.operated');
  await signIn(full, `instances/${one.id}`);
  await page.getByRole('button', { name: 'Stop', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Stop default.operated?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#confirm').waitFor({ state: 'hidden' });
  assert.equal((await call('GET', `/v1/instances/${one.id}`)).state, 'Running');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Stop default.operated?' }).waitFor();
  // The question is asked again before the browser says that the first one is closed.
  await page.evaluate(() => {
    document.getElementById('confirm').close();
    document.querySelector('#instance-actions button').click();
  });
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await shows('#instance-facts', 'Stopped');
  await shows('#instance-result', 'Stop was requested');
  await page.getByRole('button', { name: 'Start' }).click();
  await shows('#instance-facts', 'Running');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.locator('#confirm').getByRole('button', { name: 'Delete' }).click();
  await shows('#instance-gone', 'no such instance');
});

test('faults are injected and removed', async () => {
  await signIn(full, 'faults');
  const form = page.getByRole('form', { name: 'Inject a fault' });
  await form.getByLabel('Kind').selectOption('Stockout');
  await form.getByLabel('Name').fill('full');
  await form.getByLabel('Zone').selectOption('zone-a');
  await form.getByLabel('Probability').fill('0.5');
  await form.getByRole('button', { name: 'Inject' }).click();
  await shows('#faults tr', /full.*Stockout.*red.*zone-a.*0\.5/);
  await form.getByLabel('Kind').selectOption('APILatency');
  await form.getByLabel('Name').fill('slow');
  await form.getByRole('button', { name: 'Inject' }).click();
  await shows('#fault-result', 'The cloud refused: delaySeconds');
  assert.equal(await form.getByLabel('Zone').isVisible(), false, 'only what a kind has is asked for');
  await page.goto(`${address}#overview`);
  await shows('#zones tr', /zone-a.*Stockout/);
  await page.goto(`${address}#faults`);
  await page.getByRole('button', { name: 'Remove full' }).click();
  await shows('#faults', 'No faults are injected');
});

test('thousands of instances are paged and filtered, and updates keep the focus', async () => {
  const known = await create('default.demo-00000');
  const many = Array.from({ length: 5000 }, (_, i) => ({
    ...known, id: `i${i}`, name: `default.demo-${String(i).padStart(5, '0')}`, zone: i % 2 ? 'zone-a' : 'zone-b', state: i % 10 ? 'Running' : 'Stopped',
  }));
  await page.route('**/v1/instances', (route) => route.fulfill({ json: { items: many } }));
  await signIn(viewer, 'instances');
  await shows('.pages', '1 to 100 of 5,000');
  assert.equal(await page.locator('#instances tbody tr').count(), 100);
  await page.getByRole('button', { name: 'Next' }).click();
  await shows('.pages', '101 to 200 of 5,000');
  await page.getByLabel('State').selectOption('Stopped');
  await shows('.pages', '1 to 100 of 500');
  await page.getByLabel('Search').fill('demo-0012');
  await page.locator('#instances tbody tr').nth(1).waitFor({ state: 'detached' });
  await shows('#instances tbody tr', 'default.demo-00120');
  await page.getByLabel('Search').fill('');
  await page.getByLabel('State').selectOption('');
  await page.getByRole('button', { name: 'Name' }).click();
  await shows('#instances tbody tr:first-child', 'default.demo-04999');
  assert.equal(await page.locator('#instances th', { hasText: 'Name' }).getAttribute('aria-sort'), 'descending');

  const link = page.getByRole('link', { name: 'default.demo-04999' });
  await link.focus();
  const mark = await link.evaluateHandle((element) => element);
  const two = await create('default.zzz');
  await shows('#instances tbody tr:first-child', 'default.zzz');
  assert.ok(await mark.evaluate((element) => element === document.activeElement && element.isConnected), 'rows are not built again');
  await remove(known, two);
});

test('a restart of the daemon is survived', async () => {
  await signIn(viewer, 'instances');
  const one = await create('default.before');
  await shows('#instances', 'default.before');
  await operate('/stop');
  await shows('#connection', 'Disconnected, connecting again');
  await shows('#problem', 'The console shows what it saw last');
  assert.ok(await page.locator('#instances', { hasText: 'default.before' }).isVisible(), 'what is known stays in view');
  await operate(`/start/${full}`);
  await shows('#connection', 'Live');
  await page.locator('#problem').waitFor({ state: 'hidden' });

  await page.goto(`${address}#instances/${one.id}`);
  await shows('#log', 'the console');
  for (const [end, status] of [['stop', 'The log ended'], ['kill', 'No log: the connection was lost']]) {
    await operate(`/${end}`);
    await shows('#log-status', status);
    await shows('#connection', 'Disconnected, connecting again');
    await operate(`/start/${full}`);
    await shows('#connection', 'Live');
    await followsOnce('the console');
  }
  await remove(one);
  await shows('#instance-gone', 'no such instance');
});

// followsOnce waits until a log with this text is followed, which is then shown once.
async function followsOnce(text) {
  await page.locator('#log-status:empty').waitFor({ state: 'attached' });
  await shows('#log', text);
  assert.equal((await page.locator('#log').textContent()).split(text).length, 2, 'nothing is shown twice');
}

test('a log that ended is followed again after a change of the instance', async () => {
  const one = await create('default.followed');
  await signIn(viewer, `instances/${one.id}`);
  await shows('#instance-facts', 'Running');
  await page.getByLabel('Source').selectOption('kubelet');
  await shows('#log-status', 'No log: ');
  await operate(`/boot/${one.id}`);
  await followsOnce('the kubelet');

  await operate('/end-logs');
  await shows('#log-status', 'The log ended');
  const logs = () => requests.filter((url) => url.includes('/console?')).length;
  const before = logs();
  const two = await create('default.other');
  await shows('[data-count="instances"]', '2');
  await shows('#log-status', 'The log ended');
  assert.equal(logs(), before, 'it is not read again without a change');
  await call('POST', `/v1/instances/${one.id}/power/stop`);
  await followsOnce('the kubelet');
  assert.equal(logs(), before + 1);

  await page.getByLabel('Follow').uncheck();
  await shows('#log-status', 'The log ended');
  await call('POST', `/v1/instances/${one.id}/power/start`);
  await shows('#instance-facts', 'Running');
  assert.equal(logs(), before + 2, 'a log that is not followed stays as it is');

  await page.getByLabel('Follow').check();
  await followsOnce('the kubelet');
  await operate('/end-logs');
  await shows('#log-status', 'The log ended');
  await remove(one, two);
  await shows('#instance-gone', 'no such instance');
  await shows('#log', 'the kubelet');
});

test('a tenant that may only call now and then is shown too', async () => {
  await signIn('token-of-slow');
  await shows('#zones', 'zone-a');
});

test('an expired token signs out', async () => {
  await signIn(viewer);
  await operate('/stop');
  await operate('/start/another-of-red');
  await shows('#problem', 'You are signed out: the token belongs to no tenant');
  await page.getByLabel('Token').waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await operate('/stop');
  await operate(`/start/${full}`);
});

test('the keyboard reaches everything', async () => {
  await signIn(viewer);
  await page.locator('body').press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'skip');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  await page.getByRole('link', { name: 'Pools' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Pools' }).waitFor();
  assert.equal(await page.locator('nav [aria-current]').textContent().then((text) => text.trim().slice(0, 5)), 'Pools');
});

for (const colorScheme of ['light', 'dark']) {
  test(`every view is accessible and fits a narrow window, ${colorScheme}`, async () => {
    const one = await create('default.a-rather-long-name-of-an-instance-that-does-not-fit');
    await call('PUT', '/v1/faults/full', { name: 'full', kind: 'Stockout', pool: 'none' });
    // Axe runs in the page, which accepts no script but its own.
    await open({ colorScheme, bypassCSP: true });
    await page.goto(address);
    await checkAccess('sign-in');
    await signIn(full);
    for (const view of [...views, `instances/${one.id}`]) {
      await page.goto(`${address}#${view}`);
      await page.locator('main > section:not([hidden]) h1').waitFor();
      await page.setViewportSize({ width: 1280, height: 800 });
      await checkAccess(view);
      await page.setViewportSize({ width: 360, height: 640 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view} fits`);
    }
    await call('DELETE', '/v1/faults/full');
    await remove(one);
  });
}

async function checkAccess(view) {
  await page.addScriptTag({ path: axe });
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const found = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).join(' ')}`);
  assert.deepEqual(found, [], view);
}
