// How fast a page is in a window of 1300 x 1000: node measure.mjs CHROMIUM PAGE
// Prints medians of five: first paint and full load in ms, over those of an empty page, until the timeline is drawn, and of the
// time between two frames while the timeline pans.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { start } from './chromium.mjs';

const [chromium, file] = process.argv.slice(2);
const empty = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'empty-')), 'empty.html');
fs.writeFileSync(empty, '<!DOCTYPE html><html lang="en"><title>empty</title><p>empty</p></html>');
const browser = await start(chromium, { height: 1000 });
const median = (values) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)];

async function load(page) {
  await browser.send('Page.navigate', { url: 'about:blank' });
  await browser.send('Page.navigate', { url: pathToFileURL(page).href });
  await browser.until(`location.href !== 'about:blank' && performance.getEntriesByType('navigation')[0]?.loadEventEnd > 0 && performance.getEntriesByName('first-contentful-paint').length > 0`);
  return browser.evaluate(`({
    paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    load: performance.getEntriesByType('navigation')[0].loadEventEnd,
  })`);
}
const runs = { empty: [], page: [] };
for (let round = 0; round < 5; round += 1) {
  runs.empty.push(await load(empty));
  runs.page.push(await load(file));
  await browser.until(`document.getElementById('timeline-canvas')?.dataset.frames > 0`);
}
const over = (what) => Math.round(median(runs.page.map((run) => run[what])) - median(runs.empty.map((run) => run[what])));
const frames = await browser.evaluate(`(async () => {
  const canvas = document.getElementById('timeline-canvas');
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  for (let times = 0; times < 4; times += 1) press('+');
  const times = [];
  for (let frame = 0, last; frame < 90; frame += 1) {
    press(Math.floor(frame / 5) % 2 ? 'ArrowLeft' : 'ArrowRight');
    const now = await new Promise(requestAnimationFrame);
    if (last !== undefined) times.push(now - last);
    last = now;
  }
  return times;
})()`);
console.log(JSON.stringify({ bytes: fs.statSync(file).size, first_paint_ms: over('paint'), load_ms: over('load'), frame_ms: median(frames), frames_a_second: Math.round(1000 / median(frames)) }));
await browser.stop();
fs.rmSync(path.dirname(empty), { recursive: true });
