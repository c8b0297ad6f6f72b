// What a page of rtl-report is in a browser:
//   node page.mjs CHROMIUM PAGE [AXE]
// Opens the page in a headless Chromium that reaches nothing, uses it by keyboard, and prints what it saw as JSON: requests and
// errors, the cells of all tables, the report in the page, what keys, sorting, filters, copies and links did, violations that
// axe-core (the file AXE) finds in light and in dark, and what is shown without JavaScript.
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { start } from './chromium.mjs';

const [chromium, file, axe] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const browser = await start(chromium);
const { send, evaluate, until } = browser;
const seen = { requests: [], errors: [] };
browser.on((method, params) => {
  if (method === 'Network.requestWillBeSent' && params.request.url.split('#')[0] !== url && !params.request.url.startsWith('data:')) seen.requests.push(params.request.url);
  if (method === 'Runtime.exceptionThrown') seen.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  if (method === 'Runtime.consoleAPICalled' && params.type === 'error') seen.errors.push(JSON.stringify(params.args));
  if (method === 'Log.entryAdded' && params.entry.level === 'error') seen.errors.push(params.entry.text);
});
for (const domain of ['Network', 'Runtime', 'Log', 'Page']) await send(`${domain}.enable`);
async function open(address) {
  await send('Page.navigate', { url: 'about:blank' });
  await send('Page.navigate', { url: address });
  await until(`document.readyState === 'complete' && location.href !== 'about:blank'`);
}
const codes = { Enter: 13, Tab: 9, ArrowRight: 39 };
async function press(key, text = key.length === 1 ? key : key === 'Enter' ? '\r' : undefined) {
  const event = { key, code: key, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0), text };
  await send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', ...event });
  await send('Input.dispatchKeyEvent', { type: 'keyUp', key, code: key, windowsVirtualKeyCode: event.windowsVirtualKeyCode });
}
const status = `document.getElementById('timeline-status')?.textContent`;

await open(url);
const hasTimeline = await evaluate(`document.getElementById('timeline-canvas') !== null`);
if (hasTimeline) await until(`document.getElementById('timeline-canvas').dataset.frames > 0 && ${status} !== ''`);
seen.tables = await evaluate(`Object.fromEntries([...document.querySelectorAll('table')].map((table) => {
  const heads = [...table.tHead.rows[0].cells];
  return [table.id, [...table.tBodies[0].rows].map((row) => Object.fromEntries(heads.flatMap((head, at) => {
    if (!head.dataset.f) return [];
    const cell = row.cells[at];
    return [[head.dataset.f, { value: cell.dataset.v ?? (cell.title || cell.textContent), shown: cell.textContent, isNumber: 'v' in cell.dataset }]];
  })))];
}))`);
seen.findings = await evaluate(`[...document.querySelectorAll('[data-finding]')].map((cell) => ({ id: cell.dataset.finding, cost_ns: Number(cell.dataset.v) }))`);
const report = (id) => evaluate(`(async () => {
  const element = document.getElementById('${id}');
  if (!element) return null;
  const bytes = Uint8Array.from(atob(element.textContent), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text();
})()`);
seen.report = await report('rtl-summary');
seen.comparison = await report('rtl-diff');
seen.badges = await evaluate(`[...document.querySelectorAll('.badge')].map((badge) => badge.textContent)`);
seen.elements = await evaluate(`[...new Set([...document.querySelectorAll('*')].map((element) => element.localName))].sort()`);
seen.attributes = await evaluate(`[...new Set([...document.querySelectorAll('*')].flatMap((element) => element.getAttributeNames()))].sort()`);
seen.scripts = await evaluate(`[...document.scripts].filter((script) => script.type === '').length`);

// Tab reaches everything that can be used.
const focused = new Set();
for (let left = 100; left > 0; left -= 1) {
  await press('Tab', undefined);
  const name = await evaluate(`document.activeElement.id || document.activeElement.closest('th')?.dataset.f || document.activeElement.dataset.filter || document.activeElement.localName`);
  focused.add(name);
}
seen.focused = [...focused];

if (hasTimeline) {
  const all = await evaluate(status);
  await evaluate(`document.getElementById('timeline-canvas').focus()`);
  await press('+');
  await press('+');
  await until(`${status} !== ${JSON.stringify(all)} && location.hash.startsWith('#t=')`);
  const zoomed = await evaluate(status);
  await press('ArrowRight');
  await until(`${status} !== ${JSON.stringify(zoomed)}`);
  const link = await evaluate('location.hash');
  const linked = await evaluate(status);
  await press('0');
  await until(`${status} === ${JSON.stringify(all)}`);
  await open(url + link);
  await until(`${status} !== undefined && ${status} !== ''`);
  seen.timeline = { all, zoomed, moved: linked, link, reopened: await evaluate(status) };
}

if (seen.tables.kernels?.length > 1) {
  await evaluate(`document.querySelector('#kernels th[data-f="calls"] button').focus()`);
  await press('Enter');
  const calls = `[...document.querySelectorAll('#kernels tbody tr')].map((row) => Number(row.cells[2].dataset.v))`;
  seen.sorted = { down: await evaluate(calls), state: await evaluate(`document.querySelector('#kernels th[data-f="calls"]').ariaSort`) };
  await press('Enter');
  seen.sorted.up = await evaluate(calls);
  const first = seen.tables.kernels[0].name.value;
  await evaluate(`(() => { const input = document.querySelector('[data-filter="kernels"]'); input.value = ${JSON.stringify(first)}; input.dispatchEvent(new Event('input', { bubbles: true })); })()`);
  seen.filtered = await evaluate(`[...document.querySelectorAll('#kernels tbody tr')].filter((row) => !row.hidden).map((row) => row.cells[0].title || row.cells[0].textContent)`);
  await evaluate(`Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } })`);
  await evaluate(`document.querySelector('[data-copy="kernels"]').click()`);
  await until(`document.querySelector('[data-told="kernels"]').textContent.startsWith('copied')`);
  seen.copied = await evaluate('window.copied');
}

if (axe) {
  const source = fs.readFileSync(axe, 'utf8');
  seen.axe = [];
  for (const value of ['light', 'dark']) {
    await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
    await open(url);
    await evaluate(`${source}; null`);
    const found = await evaluate(`axe.run().then(({ violations }) => violations.map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(' | ')))`);
    seen.axe.push(...found.map((text) => `${value}: ${text}`));
  }
}

await send('Emulation.setScriptExecutionDisabled', { value: true });
await open(url);
seen.plain = await evaluate(`({
  tables: [...document.querySelectorAll('table')].filter((table) => table.checkVisibility()).map((table) => table.id),
  drawings: [...document.querySelectorAll('svg')].filter((svg) => svg.checkVisibility()).length,
  canvases: [...document.querySelectorAll('canvas, .tools, .controls')].filter((element) => element.checkVisibility()).length,
})`);
await browser.stop();
console.log(JSON.stringify(seen));
