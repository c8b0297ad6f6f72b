// How the Perfetto UI draws a trace:
//   node screenshot.mjs [--select SLICE] UI CHROMIUM TRACE PICTURE TITLE...
// UI is the folder of the Perfetto UI (scripts/fetch/perfetto-ui), shown by a headless Chromium that reaches nothing but this
// program. Waits until all groups are open and a track has each of these titles, then takes the picture and prints the
// titles of all tracks from top to bottom, as JSON. With --select the first slice of that name that an arrow leaves is
// selected, and the picture shows the time up to the end of what it leads to: an API call, its arrows and its kernels.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { start } from '../browser/chromium.mjs';

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

const { send, evaluate, stop } = await start(chromium, { width: 1600, height: 2000 });
async function leave(code, message) {
  if (message) console.error(message);
  await stop();
  process.exit(code);
}
setTimeout(() => leave(1, `after ${MINUTES} minutes: ${seen}`), MINUTES * 60_000);
let seen = 'nothing is drawn';

// Nothing where the page is on its way to another.
const page = (expression) => evaluate(expression).catch(() => undefined);
async function until(what) {
  while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 100));
}
// The title as it is shown may be cut; its popup has it whole.
const titles = `[...document.querySelectorAll('.pf-track__title-popup')].map((title) => title.textContent)`;

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
  if (!found) await leave(1, `no arrow leaves a slice called ${chosen}`);
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
await leave(0);
