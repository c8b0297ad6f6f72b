
// The ops of GPUs: cells at several levels of detail, and single ops. Times are ns from the first op.
async function timelineData() {
  const [about, cells, ops] = [await json('timeline-data'), await unpacked('timeline-cells'), await unpacked('timeline-ops')];
  if (!about || !cells || !ops) return undefined;
  let at = 0;
  const next = numbers(ops);
  for (const gpu of about.gpus) {
    gpu.levels = gpu.levels.map((count) => {
      const level = { busy: cells.subarray(at, at + count), item: cells.subarray(at + count, at + 2 * count) };
      at += 2 * count;
      return level;
    });
    const count = gpu.ops;
    gpu.ops = { count, start: new Float64Array(count), end: new Float64Array(count), last: new Float64Array(count), kernel: new Int32Array(count) };
    let start = 0;
    let last = 0;
    for (let op = 0; op < count; op++) {
      start += next();
      gpu.ops.start[op] = start;
      gpu.ops.end[op] = start + next();
      // The kernel's position, -1 for a copy.
      gpu.ops.kernel[op] = next() - 1;
      last = Math.max(last, gpu.ops.end[op]);
      gpu.ops.last[op] = last;
    }
  }
  return about;
}

// The first op of which the ops up to it end after a moment.
function firstOp(ops, moment) {
  let [low, high] = [0, ops.count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ops.last[middle] > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

// A moment of a link, ns unless it has a unit.
function moment(text) {
  const [, number, unit] = /^(-?[\d.]+) ?(ns|us|ms|s)?$/.exec(text) ?? [];
  const length = UNITS.find(([, name]) => name === (unit ?? 'ns'))?.[0];
  return number === undefined ? NaN : Number(number) * length;
}
