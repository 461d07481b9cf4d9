// The dashboard in a real browser: what it says under load, in both color schemes, on a phone, to operators and to tenants;
// nothing on its console, and nothing fetched from elsewhere.
//
// Environment: as openai_testing.mjs; HEADSTART_NODE_MODULES has puppeteer-core. HEADSTART_SCREENSHOTS: a folder to leave
// pictures in.

import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import {load, run, SKIPPED, withKeys, withServer} from './openai_testing.mjs';

const puppeteer = load('puppeteer-core');
const CHROMIUM = process.env.HEADSTART_CHROMIUM || '/usr/bin/chromium';
const COLORS = ['red', 'blue', 'green', 'white', 'black', 'brown'];
const THINGS = ['lamp', 'box', 'chair', 'cup', 'key', 'book', 'ball', 'door'];
const INVENTORY = COLORS.flatMap((color, i) => THINGS.map((thing, k) => `The ${color} ${thing} is in room ${1 + (3 * i + k) % 9}.`)).join(' ');
const PRICES = 'currency: USD\nversions:\n  - version: "1"\n    effective_from: 2020-01-01T00:00:00Z\n    models:\n' +
    '      "*": {input: 0.5, cached_input: 0.05, output: 1.5}\n';

if (!fs.existsSync(CHROMIUM)) {
  console.log(`skipped: needs Debian's package chromium (${CHROMIUM} is not there)`);
  process.exit(SKIPPED);
}

async function ask(url, key, system, user) {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {'Content-Type': 'application/json', ...(key ? {Authorization: `Bearer ${key}`} : {})},
    body: JSON.stringify({messages: [{role: 'system', content: system}, {role: 'user', content: user}], max_tokens: 8, temperature: 0}),
  });
  assert.strictEqual(answer.status, 200, await answer.clone().text());
  return answer.json();
}

// A warm conversation, and one whose prompt begins with what changes every time. Prompts carry markup, as attackers' do.
async function load_(url, key) {
  let cached = 0;
  for (let i = 0; i < 8; i += 1) {
    const warm = await ask(url, key, INVENTORY, `Where is the ${COLORS[i % 6]} lamp?`);
    cached += warm.usage.prompt_tokens_details.cached_tokens;
    await ask(url, key, `Today is day ${10 + i}. <b id="injected">bold</b> ${INVENTORY}`, 'Where is the red lamp?');
  }
  return cached;
}

// A page whose console and requests are watched.
async function open(browser, url, viewport, scheme) {
  const page = await browser.newPage();
  const faults = [];
  page.on('console', (message) => { if (['error', 'warn'].includes(message.type())) faults.push(message.text()); });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) faults.push(`fetched ${request.url()}`);
  });
  await page.setViewport(viewport);
  await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
  await page.goto(url, {waitUntil: 'load'});
  return {page, faults};
}

async function text(page, selector) {
  return page.$eval(selector, (element) => element.innerText);
}

// Rows of cards that end before the page does, each by its first card's heading.
async function unfinishedRows(page) {
  return page.evaluate(() => {
    const edge = document.querySelector('.tiles').getBoundingClientRect().right;
    const rows = new Map();
    for (const card of document.querySelectorAll('.tile, .panel')) {
      const {top, right, width} = card.getBoundingClientRect();
      if (width === 0) continue;
      const row = rows.get(Math.round(top)) || {right: 0, heading: card.querySelector('h2').innerText};
      rows.set(Math.round(top), {...row, right: Math.max(row.right, right)});
    }
    return [...rows.values()].filter((row) => Math.abs(row.right - edge) > 2).map((row) => row.heading);
  });
}

async function picture(page, name) {
  if (!process.env.HEADSTART_SCREENSHOTS) return;
  await page.screenshot({path: path.join(process.env.HEADSTART_SCREENSHOTS, `${name}.png`), fullPage: true});
}

async function waitForFigures(page) {
  await page.waitForFunction(() => document.getElementById('live-text').textContent === 'live' &&
                             /%/.test(document.getElementById('hit-rate').textContent) &&
                             document.querySelectorAll('#hottest tr').length > 1, {timeout: 30000});
}

async function operatorSees(browser, url) {
  const cached = await load_(url, '');
  for (const [name, viewport, scheme] of [['light', {width: 1280, height: 900}, 'light'], ['dark', {width: 1280, height: 900}, 'dark'],
                                           ['wide', {width: 1920, height: 1080}, 'light'], ['tablet', {width: 900, height: 1100}, 'light'],
                                           ['phone', {width: 390, height: 844, isMobile: true}, 'light']]) {
    const {page, faults} = await open(browser, url, viewport, scheme);
    await waitForFigures(page);
    const saved = await text(page, '#tokens-saved');
    assert.match(saved, cached >= 1000 ? /K$/ : /^\d+$/, 'tokens saved');
    assert.match(await text(page, '#money-saved'), /USD$/);
    assert.match(await text(page, '#ttft-note'), /times sooner/);
    assert.match(await text(page, '#explanations'), /differ.* at token \d+/s);
    assert.match(await text(page, '#hottest'), /The red lamp is in room/);
    assert.match(await text(page, '#tenants'), /default/);
    assert.match(await text(page, '#tiers'), /device/);
    assert.strictEqual(await page.$('#injected'), null, 'text of prompts became markup');
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wider <= 0, `the page is ${wider} pixels wider than the ${name} screen`);
    assert.deepStrictEqual(await unfinishedRows(page), [], `rows with a hole on the ${name} screen`);
    await picture(page, `dashboard-${name}`);
    assert.deepStrictEqual(faults, []);
    await page.close();
  }
}

async function enterKey(page, key) {
  await page.waitForSelector('#key-form:not([hidden])');
  await page.type('#key', key);
  await page.click('#key-form button');
}

async function tenantSeesItself(browser, url, {user, operator}) {
  await load_(url, user);
  await ask(url, operator, 'The operators have their own secret prompt, which is long enough to share.', 'Where is the red lamp?');
  await ask(url, operator, 'The operators have their own secret prompt, which is long enough to share.', 'Where is the blue lamp?');
  const {page} = await open(browser, url, {width: 1280, height: 900}, 'light');
  await enterKey(page, 'hsk_wrong');
  await page.waitForFunction(() => document.getElementById('key-error').textContent !== '');
  await page.$eval('#key', (input) => { input.value = ''; });
  await enterKey(page, user);
  await waitForFigures(page);
  const all = await text(page, 'body');
  assert.match(all, /acme/);
  assert.doesNotMatch(all, /platform|secret prompt|Slowest requests/);
  assert.strictEqual((await fetch(`${url}/metrics`, {headers: {Authorization: `Bearer ${user}`}})).status, 403);
  assert.strictEqual((await fetch(`${url}/metrics`, {headers: {Authorization: `Bearer ${operator}`}})).status, 200);
  await page.close();
}

run(async () => {
  const browser = await puppeteer.launch({executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu']});
  const folder = fs.mkdtempSync('/tmp/headstart-prices-');
  try {
    fs.writeFileSync(path.join(folder, 'prices.yaml'), PRICES);
    await withServer(['--prices', path.join(folder, 'prices.yaml')], (url) => operatorSees(browser, url));
    await withKeys([], (url, keys) => tenantSeesItself(browser, url, keys));
  } finally {
    fs.rmSync(folder, {recursive: true});
    await browser.close();
  }
});
