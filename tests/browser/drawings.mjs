// The drawings of pages as text, for tests: node drawings.mjs CHROMIUM PAGE...
// Prints for each page its drawings in order, as JSON: the label, and rows of letters. A letter is a part of the drawing of 16 by 12
// pixels: the colour of the style that fills most of it, and at least a twelfth, `.` where none does. Texts in drawings are left out
// and drawings begin at whole pixels, so that fonts change nothing.
import { pathToFileURL } from 'node:url';
import { start } from './chromium.mjs';

const [chromium, ...pages] = process.argv.slice(2);
const browser = await start(chromium, { height: 1000 });
const { send, evaluate, until } = browser;
await send('Page.enable');
await send('Page.addScriptToEvaluateOnNewDocument', { source: 'CanvasRenderingContext2D.prototype.fillText = () => {};' });

const DRAWINGS = `[...document.querySelectorAll('canvas, svg:not(.strip)')].filter((drawing) => drawing.checkVisibility())`;
// The policy of the page allows this way to set a style.
const PREPARE = `document.styleSheets[0].insertRule('svg text { visibility: hidden }');
for (const drawing of ${DRAWINGS}) {
  const { left, top } = drawing.getBoundingClientRect();
  drawing.style.position = 'relative';
  drawing.style.left = Math.ceil(left + scrollX) - left - scrollX + 'px';
  drawing.style.top = Math.ceil(top + scrollY) - top - scrollY + 'px';
}`;

// Runs in the page, with a picture of it.
async function letters(picture, drawings) {
  const [WIDTH, HEIGHT] = [16, 12];
  const style = getComputedStyle(document.documentElement);
  const names = { 0: '--c0', 1: '--c1', 2: '--c2', 3: '--c3', 4: '--c4', 5: '--c5', 6: '--c6', 7: '--c7', 8: '--c8', 9: '--c9', a: '--c10', b: '--c11', c: '--c12', i: '--idle', '+': '--better', '-': '--worse', '#': '--faint' };
  const empty = ['--ground', '--raised', '--line'];
  const rgb = (name) => [1, 3, 5].map((at) => parseInt(style.getPropertyValue(name).trim().slice(at, at + 2), 16));
  const colors = [...empty.map((name) => ['.', rgb(name)]), ...Object.entries(names).map(([letter, name]) => [letter, rgb(name)])];
  const known = new Map();
  const letter = (r, g, b) => {
    const key = (r << 16) | (g << 8) | b;
    if (!known.has(key)) {
      const distance = ([, color]) => (color[0] - r) ** 2 + (color[1] - g) ** 2 + (color[2] - b) ** 2;
      known.set(key, colors.reduce((best, color) => (distance(color) < distance(best) ? color : best))[0]);
    }
    return known.get(key);
  };
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  return drawings.map((drawing) => {
    const box = drawing.getBoundingClientRect();
    const { data, width, height } = context.getImageData(Math.round(box.left + scrollX), Math.round(box.top + scrollY), Math.round(box.width), Math.round(box.height));
    const rows = [];
    for (let top = 0; top + HEIGHT <= height; top += HEIGHT) {
      let row = '';
      for (let left = 0; left + WIDTH <= width; left += WIDTH) {
        const counts = {};
        for (let y = top; y < top + HEIGHT; y++) {
          for (let x = left; x < left + WIDTH; x++) {
            const at = (y * width + x) * 4;
            const found = letter(data[at], data[at + 1], data[at + 2]);
            if (found !== '.') counts[found] = (counts[found] ?? 0) + 1;
          }
        }
        const [[most, count] = ['.', 0]] = Object.entries(counts).sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
        row += count * 12 >= WIDTH * HEIGHT ? most : '.';
      }
      rows.push(row);
    }
    return { label: drawing.getAttribute('aria-label'), rows };
  });
}

async function drawings() {
  await evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))');
  const [width, height] = await evaluate('[document.documentElement.scrollWidth, document.documentElement.scrollHeight]');
  const { data } = await send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip: { x: 0, y: 0, width, height, scale: 1 } });
  return evaluate(`(${letters})(${JSON.stringify(data)}, ${DRAWINGS})`);
}

// A picture beyond the window resizes the page, after which canvases are drawn again: a drawing counts when the next one is the same.
async function steady(pictures = 20) {
  for (let last; pictures > 0; pictures -= 1) {
    const now = await drawings();
    if (JSON.stringify(now) === JSON.stringify(last)) return now;
    last = now;
  }
  throw new Error('drawings never become steady');
}

const seen = [];
for (const page of pages) {
  await send('Page.navigate', { url: 'about:blank' });
  await send('Page.navigate', { url: pathToFileURL(page).href });
  await until(`document.readyState === 'complete' && location.href !== 'about:blank'`);
  await until(`!document.getElementById('timeline-canvas') || document.getElementById('timeline-canvas').dataset.frames > 0`);
  // A drawing follows the data of its own, and the next frame shows it.
  await until(`!document.getElementById('arrivals-canvas') || document.getElementById('arrivals-canvas').style.height !== ''`);
  await evaluate(PREPARE);
  seen.push(await steady());
}
await browser.stop();
console.log(JSON.stringify(seen));
