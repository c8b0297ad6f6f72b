// How the Perfetto UI draws a trace:
//   node screenshot.mjs [--select SLICE] UI CHROMIUM TRACE PICTURE TITLE...
// UI is the folder of the Perfetto UI (scripts/fetch/perfetto-ui), shown by a headless Chromium that reaches nothing but this
// program. Waits until all groups are open and a track has each of these titles, then takes the picture and prints the
// titles of all tracks from top to bottom, as JSON. With --select the first slice of that name that an arrow leaves is
// selected, and the picture shows the time up to the end of what it leads to: an API call, its arrows and its kernels.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const words = process.argv.slice(2);
const chosen = words[0] === '--select' ? words.splice(0, 2)[1] : undefined;
const [ui, chromium, trace, picture, ...wanted] = words;
const MINUTES = 5;

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.wasm': 'application/wasm' };
const server = http.createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
  const file = name === '/trace' ? trace : path.join(ui, name === '/' ? 'index.html' : path.normalize(name));
  if (!fs.existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
  fs.createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const site = `http://127.0.0.1:${server.address().port}`;

// Chromium speaks its DevTools protocol on descriptors 3 and 4: JSON, each message ended by a zero byte.
// Its profile goes with the folder of the picture.
const profile = fs.mkdtempSync(path.join(path.dirname(picture), 'chromium-'));
const browser = spawn(
  chromium,
  ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-quic', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    `--user-data-dir=${profile}`, '--window-size=1600,2000', '--remote-debugging-pipe'],
  { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
);
const waiting = new Map();
let unread = Buffer.alloc(0);
browser.stdio[4].on('data', (data) => {
  unread = Buffer.concat([unread, data]);
  for (let end; (end = unread.indexOf(0)) >= 0; unread = unread.subarray(end + 1)) {
    const { id, result, error } = JSON.parse(unread.subarray(0, end));
    if (id === undefined) continue;
    const { resolve, reject } = waiting.get(id);
    if (error) reject(new Error(error.message));
    else resolve(result);
  }
});
let last = 0;
let sessionId;
const send = (method, params = {}) =>
  new Promise((resolve, reject) => {
    last += 1;
    waiting.set(last, { resolve, reject });
    browser.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
  });

function leave(code, message) {
  if (message) console.error(message);
  browser.stdio.forEach((stream) => stream?.removeAllListeners().on('error', () => {}));
  browser.on('exit', () => process.exit(code));
  sessionId = undefined;
  send('Browser.close').catch(() => {});
  setTimeout(() => browser.kill('SIGKILL'), 10_000);
}
browser.on('error', (error) => {
  console.error(String(error));
  process.exit(1);
});
setTimeout(() => leave(1, `after ${MINUTES} minutes: ${seen}`), MINUTES * 60_000);
let seen = 'nothing is drawn';

// Nothing where the page is on its way to another.
const page = (expression) =>
  send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true }).then((told) => told.result.value, () => undefined);
async function until(what) {
  while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 100));
}
// The title as it is shown may be cut; its popup has it whole.
const titles = `[...document.querySelectorAll('.pf-track__title-popup')].map((title) => title.textContent)`;

const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
({ sessionId } = await send('Target.attachToTarget', { targetId, flatten: true }));
await send('Page.navigate', { url: `${site}/#!/?url=${site}/trace` });
await until(() => page(`location.hash.includes('viewer') && document.querySelector('.pf-track') !== null`));
let shown;
await until(async () => {
  await page(`app.commands.runCommand('dev.perfetto.ExpandAllGroups'), null`);
  shown = await page(titles);
  seen = JSON.stringify(shown);
  return shown !== undefined && wanted.every((title) => shown.includes(title));
});
await until(() => page(`!document.body.textContent.includes('Loading...')`));
if (chosen !== undefined) {
  const name = chosen.replaceAll("'", "''");
  const first = `select one.id as id, one.ts as start, max(other.ts + other.dur) as finish
    from slice one join flow on slice_out = one.id join slice other on other.id = slice_in
    where one.name = '${name}' group by one.id order by one.ts limit 1`;
  const found = await page(`(async () => {
    const row = (await app.trace.engine.query(${JSON.stringify(first)})).maybeFirstRow({ id: 0, start: 0n, finish: 0n });
    if (row === undefined) return false;
    app.trace.selection.selectSqlEvent('slice', row.id, { switchToCurrentSelectionTab: true, scrollToSelection: true });
    window.chosen = row;
    return true;
  })()`);
  if (!found) leave(1, `no arrow leaves a slice called ${chosen}`);
  seen = 'the selected slice is not described';
  await until(() => page(`document.body.textContent.includes('Following Flows')`));
  await until(() => page(`!document.body.textContent.includes('Loading...')`));
  // Scrolling to the slice moves the time, too.
  await page(`(() => {
    const room = (chosen.finish - chosen.start) / 10n + 1n;
    app.trace.timeline.setViewportTime(chosen.start - room, chosen.finish + room);
  })()`);
  await until(() => page(`!document.body.textContent.includes('Loading...')`));
  // What is drawn on a canvas follows with the next frames.
  await page('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))');
}
const { data } = await send('Page.captureScreenshot', { format: 'png' });
fs.writeFileSync(picture, Buffer.from(data, 'base64'));
console.log(JSON.stringify(shown));
leave(0);
