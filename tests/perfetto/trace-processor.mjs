// What Perfetto's own trace processor makes of traces, asked in SQL:
//   node trace-processor.mjs UI ANSWERS SQL... -- TRACE...
// UI is the folder of the Perfetto UI (scripts/fetch/perfetto-ui), whose worker is run here as if in a browser. ANSWERS
// becomes JSON: for each trace, for each question, the rows; every value is a text or null. A file, because what does
// not fit into a pipe is lost when node exits.
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

const [ui, answers, ...rest] = process.argv.slice(2);
const questions = rest.slice(0, rest.indexOf('--'));
const traces = rest.slice(rest.indexOf('--') + 1);
const folder = path.join(ui, fs.readdirSync(ui).find((name) => /^v\d/.test(name)));

// The worker's bundle looks for a browser around it.
const bytes = (url) => new Uint8Array(fs.readFileSync(path.join(folder, path.basename(String(url))))).buffer;
process.type = 'renderer';
Object.assign(globalThis, {
  self: globalThis,
  WorkerGlobalScope: function WorkerGlobalScope() {},
  importScripts: () => {},
  location: { href: 'http://localhost/engine_bundle.js', protocol: 'http:', host: 'localhost' },
  fetch: async (url) => ({ ok: true, status: 200, headers: new Map(), url: String(url), arrayBuffer: async () => bytes(url) }),
  XMLHttpRequest: class {
    open(method, url) {
      this.url = url;
    }
    send() {
      this.response = bytes(this.url);
      this.status = 200;
    }
  },
});
// It says there how it loads itself.
console.warn = () => {};

// When the trace processor in it is ready, which it tells nobody.
const ready = new Promise((resolve) => {
  WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
    construct(Instance, source) {
      const { exports } = new Instance(...source);
      const trace_processor_rpc_init = (...given) => {
        const buffer = exports.trace_processor_rpc_init(...given);
        resolve();
        return buffer;
      };
      return { exports: { ...exports, trace_processor_rpc_init } };
    },
  });
});

// Protocol buffers: the numbers of fields are those of perfetto's trace_processor.proto.
function varint(value) {
  const out = [];
  for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) | 128);
  return Buffer.from([...out, value]);
}
const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const content = (field, data) => Buffer.concat([varint(field * 8 + 2), varint(data.length), data]);

class Reader {
  constructor(data) {
    this.data = data;
    this.at = 0;
  }
  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.data[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  }
  take(length) {
    return this.data.subarray(this.at, (this.at += length));
  }
  *fields() {
    while (this.at < this.data.length) {
      const tag = Number(this.varint());
      const wire = tag & 7;
      const value = wire === 0 ? this.varint() : this.take(wire === 1 ? 8 : wire === 5 ? 4 : Number(this.varint()));
      yield [tag >>> 3, value];
    }
  }
}
const fields = (data) => new Reader(data).fields();
const field = (data, wanted) => [...fields(data)].find(([name]) => name === wanted)?.[1];

// One message in, some messages out: all but a question's have one. They come in pieces, each message after the tag of a
// field and its length.
const METHOD = { append: 1, finalize: 2, query: 3, reset: 11 };
let answer = () => {};
let unread = Buffer.alloc(0);
function whole() {
  const last = unread.findIndex((byte, at) => at > 0 && byte < 128);
  if (last < 0) return undefined;
  const end = last + 1 + Number(new Reader(unread.subarray(1)).varint());
  if (end > unread.length) return undefined;
  const message = unread.subarray(last + 1, end);
  unread = unread.subarray(end);
  return message;
}
const port = {
  postMessage(piece) {
    unread = Buffer.concat([unread, Buffer.from(piece)]);
    for (let message; (message = whole()); ) answer(message);
  },
};
let sequence = 0;
function call(method, result, rows, ...more) {
  return new Promise((resolve, reject) => {
    answer = (message) => {
      const fatal = field(message, 5);
      if (fatal) return reject(new Error(String(fatal)));
      try {
        const done = rows(field(message, result));
        if (done) resolve();
      } catch (error) {
        reject(error);
      }
    };
    sequence += 1;
    port.onmessage({ data: new Uint8Array(content(1, Buffer.concat([number(1, sequence), number(2, method), ...more]))) });
  });
}
function check(result, wrong) {
  const error = result && field(result, wrong);
  if (error?.length) throw new Error(String(error));
  return true;
}

async function load(trace) {
  const file = fs.openSync(trace);
  const chunk = Buffer.alloc(4 << 20);
  for (;;) {
    const length = fs.readSync(file, chunk);
    if (length === 0) break;
    await call(METHOD.append, 201, (result) => check(result, 2), content(101, chunk.subarray(0, length)));
  }
  fs.closeSync(file);
  await call(METHOD.finalize, 212, (result) => check(result, 1));
}

async function ask(question) {
  let columns = 0;
  const cells = [];
  await call(
    METHOD.query,
    203,
    (result) => {
      check(result, 2);
      let last = false;
      for (const [name, value] of fields(result)) {
        if (name === 1) columns += 1;
        if (name === 3) last = batch(value, cells);
      }
      return last;
    },
    content(103, content(1, Buffer.from(question))),
  );
  const rows = [];
  for (let at = 0; at < cells.length; at += columns) rows.push(cells.slice(at, at + columns));
  return rows;
}

// Appends the cells of one batch; whether it is the last.
function batch(data, cells) {
  const values = { 2: [], 3: [], 4: [] };
  let [types, last] = [[], false];
  for (const [name, value] of fields(data)) {
    if (name === 1) types = value;
    if (name === 2) for (const reader = new Reader(value); reader.at < value.length; ) values[2].push(reader.varint());
    if (name === 3) for (let at = 0; at < value.length; at += 8) values[3].push(value.readDoubleLE(at));
    if (name === 5) values[4] = value.toString().split('\0');
    if (name === 6) last = value !== 0n;
  }
  const next = { 2: 0, 3: 0, 4: 0 };
  for (const type of types) cells.push(type in values ? String(values[type][next[type]++]) : null);
  return last;
}

vm.runInThisContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'));
globalThis.onmessage({ data: port });
await ready;
const told = [];
for (const trace of traces) {
  if (told.length) await call(METHOD.reset, 0, () => true);
  await load(trace);
  const rows = [];
  for (const question of questions) rows.push(await ask(question));
  told.push(rows);
}
fs.writeFileSync(answers, JSON.stringify(told));
process.exit(0);
