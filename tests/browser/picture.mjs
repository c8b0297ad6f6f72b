// A picture of a page: node picture.mjs CHROMIUM PAGE PICTURE [--dark] [--height N] [--hash T]
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { start } from './chromium.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dark: { type: 'boolean' }, height: { type: 'string', default: '2000' }, width: { type: 'string', default: '1300' }, hash: { type: 'string', default: '' } },
});
const [chromium, page, picture] = positionals;
const browser = await start(chromium, { width: Number(values.width), height: Number(values.height) });
browser.on((method, params) => {
  if (method === 'Runtime.consoleAPICalled' || method === 'Log.entryAdded' || method === 'Runtime.exceptionThrown') console.error(JSON.stringify(params));
});
await browser.send('Runtime.enable');
await browser.send('Log.enable');
await browser.send('Page.enable');
if (values.dark) await browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
await browser.send('Page.navigate', { url: pathToFileURL(page).href + values.hash });
await new Promise((resolve) => setTimeout(resolve, 1500));
const { data } = await browser.send('Page.captureScreenshot', { format: 'png' });
fs.writeFileSync(picture, Buffer.from(data, 'base64'));
await browser.stop();
