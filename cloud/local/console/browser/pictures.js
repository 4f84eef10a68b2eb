// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Takes the pictures of docs/console.md, of any cloud:
//   node pictures.js ADDRESS FOLDER
// ADDRESS is what `foocloud console --write` prints.

import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [address, folder] = process.argv.slice(2);
const pictures = [
  { name: 'overview', view: 'overview', colorScheme: 'light' },
  { name: 'instances-dark', view: 'instances', colorScheme: 'dark', height: 480 },
  { name: 'instance', view: 'instance', colorScheme: 'light', height: 960 },
];

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium' });
for (const { name, view, colorScheme, height = 760 } of pictures) {
  const page = await browser.newPage({ ignoreHTTPSErrors: true, colorScheme, viewport: { width: 1240, height } });
  await page.goto(address);
  await page.locator('#connection', { hasText: 'Live' }).waitFor();
  await page.goto(`${new URL(address).origin}/console/#${view === 'instance' ? 'instances' : view}`);
  if (view === 'instance') {
    await page.locator('#instances a').first().click();
    await page.locator('#log:not(:empty)').waitFor();
    await page.locator('#main').blur();
  }
  await page.screenshot({ path: join(folder, `console-${name}.png`) });
  await page.close();
}
await browser.close();
