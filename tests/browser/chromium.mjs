// A headless Chromium, driven by its DevTools protocol on descriptors 3 and 4: JSON, each message ended by a zero byte.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export async function start(chromium, { width = 1300, height = 2000 } = {}) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'chromium-'));
  const browser = spawn(
    chromium,
    ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--disable-quic', '--hide-scrollbars',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', `--user-data-dir=${profile}`, `--window-size=${width},${height}`,
      '--remote-debugging-pipe'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const waiting = new Map();
  const listeners = [];
  let unread = Buffer.alloc(0);
  browser.stdio[4].on('data', (data) => {
    unread = Buffer.concat([unread, data]);
    for (let end; (end = unread.indexOf(0)) >= 0; unread = unread.subarray(end + 1)) {
      const message = JSON.parse(unread.subarray(0, end));
      if (message.id === undefined) {
        listeners.forEach((listener) => listener(message.method, message.params));
        continue;
      }
      const { resolve, reject } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
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
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  ({ sessionId } = await send('Target.attachToTarget', { targetId, flatten: true }));

  // The value of an expression in the page; an exception there is one here.
  async function evaluate(expression) {
    const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  async function until(expression, seconds = 30) {
    for (let left = seconds * 20; left > 0; left -= 1) {
      if (await evaluate(expression)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`not within ${seconds} s: ${expression}`);
  }
  async function stop() {
    browser.stdio.forEach((stream) => stream?.removeAllListeners().on('error', () => {}));
    const ended = new Promise((resolve) => browser.on('exit', resolve));
    sessionId = undefined;
    send('Browser.close').catch(() => {});
    const timer = setTimeout(() => browser.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
    fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
  return { send, evaluate, until, stop, on: (listener) => listeners.push(listener) };
}
