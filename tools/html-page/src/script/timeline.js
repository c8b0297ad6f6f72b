
const COPY = 255;
const OTHER = 254;
async function timeline(canvas) {
  const data = await timelineData();
  if (!data) return document.documentElement.classList.remove('js');
  const length = Math.max(1, data.length_ns);
  const status = document.getElementById('timeline-status');
  const rows = data.gpus.length;
  const MARGIN = 66;
  const AXIS = 22;
  let view = [0, length];
  let width = 0;
  let density = 1;
  let rowHeight = 1;
  let shades;
  let ink;
  let matches;
  let isDrawn = false;
  let pictures = [];
  const context = canvas.getContext('2d');
  const image = document.createElement('canvas');

  const color = (item) => (item === COPY ? data.copies : item === OTHER ? data.other : data.kernels[item - 1]?.[1] ?? data.other);
  const name = (kernel) => (kernel < 0 ? 'copy' : data.kernels[kernel]?.[0] ?? 'a kernel behind the first ones');
  // All GPUs have the same levels.
  const cellsOf = (level) => data.gpus[0].levels[level].busy.length;
  const shade = (item, busy) => (busy === 0 ? 0 : shades[item][isDim(item) ? Math.min(busy, 12) : busy]);
  const isDim = (item) => matches !== undefined && (item === COPY || item === OTHER || !matches(data.kernels[item - 1]?.[0] ?? ''));

  // Colours of the style; of each item one for every busy share.
  function readColors() {
    const style = getComputedStyle(document.documentElement);
    const rgb = (variable) => [1, 3, 5].map((at) => parseInt(style.getPropertyValue(variable).trim().slice(at, at + 2), 16));
    ink = { ground: style.getPropertyValue('--raised'), text: style.getPropertyValue('--text'), faint: style.getPropertyValue('--faint'), line: style.getPropertyValue('--line') };
    const ground = rgb('--raised');
    ink.colors = Array.from({ length: data.colors }, (_, number) => style.getPropertyValue(`--c${number}`).trim());
    const mixed = ink.colors.map((_, number) => {
      const full = rgb(`--c${number}`);
      return Uint32Array.from({ length: 256 }, (_, busy) => {
        const part = busy === 0 ? 0 : 0.15 + (0.85 * busy) / 255;
        const [r, g, b] = full.map((value, at) => Math.round(ground[at] + (value - ground[at]) * part));
        return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
      });
    });
    shades = Array.from({ length: 256 }, (_, item) => mixed[color(item)]);
    pictures = [];
  }

  function resize() {
    density = devicePixelRatio || 1;
    width = Math.max(200, canvas.clientWidth);
    rowHeight = Math.min(rows < 4 ? 44 : 26, Math.max(1, Math.floor(640 / rows)));
    canvas.width = width * density;
    canvas.height = (rows * rowHeight + AXIS) * density;
    canvas.style.height = `${rows * rowHeight + AXIS}px`;
    image.width = Math.max(1, Math.round((width - MARGIN) * density));
    image.height = rows;
    // A canvas of another size is empty until it is painted.
    paint();
  }

  // The cells of a level, a pixel each: made once for all views.
  function pictureOf(level) {
    if (pictures[level]) return pictures[level];
    const picture = document.createElement('canvas');
    [picture.width, picture.height] = [cellsOf(level), rows];
    const target = picture.getContext('2d');
    const pixels = target.createImageData(picture.width, rows);
    const colors = new Uint32Array(pixels.data.buffer);
    data.gpus.forEach((gpu, row) => {
      const { busy, item } = gpu.levels[level];
      for (let at = 0; at < busy.length; at++) colors[row * busy.length + at] = shade(item[at], busy[at]);
    });
    target.putImageData(pixels, 0, 0);
    pictures[level] = picture;
    return picture;
  }

  // Several cells for each pixel: their mean, and the item of the busiest.
  function joined(level) {
    const cells = cellsOf(level);
    const target = image.getContext('2d');
    const pixels = target.createImageData(image.width, rows);
    const colors = new Uint32Array(pixels.data.buffer);
    const [start, step] = [(view[0] / length) * cells, ((view[1] - view[0]) / length / image.width) * cells];
    data.gpus.forEach((gpu, row) => {
      const { busy, item } = gpu.levels[level];
      for (let x = 0; x < image.width; x++) {
        const first = Math.floor(start + x * step);
        const end = Math.min(cells, Math.max(first + 1, Math.floor(start + (x + 1) * step)));
        let sum = 0;
        let most = first;
        for (let at = first; at < end; at++) {
          sum += busy[at];
          if (busy[at] > busy[most]) most = at;
        }
        if (sum > 0) colors[row * image.width + x] = shade(item[most], Math.ceil(sum / (end - first)));
      }
    });
    target.putImageData(pixels, 0, 0);
    return image;
  }

  function drawCells() {
    const wanted = (image.width * length) / (view[1] - view[0]);
    const found = data.gpus[0].levels.findIndex((level) => level.busy.length >= wanted);
    const level = found < 0 ? data.gpus[0].levels.length - 1 : found;
    const cells = cellsOf(level);
    const [source, from, count] = found < 0
      ? [pictureOf(level), (view[0] / length) * cells, ((view[1] - view[0]) / length) * cells]
      : [joined(level), 0, image.width];
    context.fillStyle = ink.ground;
    context.fillRect(MARGIN * density, 0, image.width, rows * rowHeight * density);
    context.imageSmoothingEnabled = false;
    context.drawImage(source, from, 0, count, rows, MARGIN * density, 0, image.width, rows * rowHeight * density);
  }

  const isFine = (gpu) => (length / gpu.levels[gpu.levels.length - 1].busy.length) * (width - MARGIN) > 2 * (view[1] - view[0]);

  function drawOps(gpu, row) {
    const scale = ((width - MARGIN) / (view[1] - view[0])) * density;
    const top = row * rowHeight * density;
    const height = rowHeight * density;
    const { ops } = gpu;
    if (data.is_complete) {
      context.fillStyle = ink.ground;
      context.fillRect(MARGIN * density, top, image.width, height);
    }
    for (let at = firstOp(ops, view[0]), left = 20000; at < ops.count && ops.start[at] < view[1] && left > 0; at++, left--) {
      const kernel = ops.kernel[at];
      const item = kernel < 0 ? COPY : Math.min(kernel + 1, OTHER);
      const x = Math.max(0, (ops.start[at] - view[0]) * scale);
      const end = Math.min(image.width, (ops.end[at] - view[0]) * scale);
      context.globalAlpha = isDim(item) ? 0.15 : 0.9;
      context.fillStyle = ink.colors[color(item)];
      context.fillRect(MARGIN * density + x, top, Math.max(1, end - x - (end - x > 4 ? 1 : 0)), height);
    }
    context.globalAlpha = 1;
  }

  function drawAxis() {
    const bottom = rows * rowHeight;
    context.setTransform(density, 0, 0, density, 0, 0);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.fillStyle = ink.faint;
    const every = Math.ceil(13 / rowHeight);
    for (let row = 0; row < rows; row += every) context.fillText(data.gpus[row].label, 0, row * rowHeight + Math.max(rowHeight, 11) / 2, MARGIN - 6);
    if (rowHeight >= 6) {
      context.fillStyle = ink.line;
      for (let row = 1; row < rows; row++) context.fillRect(MARGIN, row * rowHeight - 0.5, width - MARGIN, 1);
    }
    const wanted = (view[1] - view[0]) / 6;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wanted) ?? wanted;
    const offset = data.offset_ns;
    for (let tick = Math.ceil((view[0] + offset) / step) * step; tick <= view[1] + offset; tick += step) {
      const x = MARGIN + ((tick - offset - view[0]) / (view[1] - view[0])) * (width - MARGIN);
      context.fillStyle = ink.line;
      context.fillRect(x, bottom, 1, 5);
      context.fillStyle = ink.faint;
      const [unit, name] = UNITS.find(([unit]) => Math.abs(view[1] + offset) >= unit) ?? UNITS[3];
      const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
      context.fillText(`${(tick / unit).toFixed(digits)} ${name}`, Math.min(x + 3, width - 60), bottom + 13);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  function paint() {
    context.clearRect(0, 0, canvas.width, canvas.height);
    drawCells();
    data.gpus.forEach((gpu, row) => { if (isFine(gpu)) drawOps(gpu, row); });
    drawAxis();
    canvas.dataset.frames = Number(canvas.dataset.frames ?? 0) + 1;
  }
  function draw() {
    if (isDrawn) return;
    isDrawn = true;
    requestAnimationFrame(() => {
      isDrawn = false;
      paint();
    });
  }

  let telling;
  function set(start, end, isLinked = true) {
    const span = Math.min(length, Math.max(20, end - start));
    const from = Math.max(0, Math.min(length - span, start));
    view = [from, from + span];
    draw();
    clearTimeout(telling);
    telling = setTimeout(() => {
      const [first, last] = view.map((ns) => ns + data.offset_ns);
      status.textContent = `${duration(first)} to ${duration(last)}`;
      const link = span < length ? `#t=${Math.round(first)},${Math.round(last)}` : '';
      if (isLinked && (link || location.hash.startsWith('#t='))) {
        try { history.replaceState(null, '', link || '#timeline'); } catch { /* A file may have no history. */ }
      }
    }, 150);
  }
  const zoom = (factor, at = (view[0] + view[1]) / 2) => set(at - (at - view[0]) * factor, at + (view[1] - at) * factor);
  const pan = (part) => set(view[0] + (view[1] - view[0]) * part, view[1] + (view[1] - view[0]) * part);
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - MARGIN) / (width - MARGIN);
    return [view[0] + x * (view[1] - view[0]), Math.floor((event.clientY - box.top) / rowHeight)];
  };

  function describe(event) {
    const [ns, row] = at(event);
    const gpu = data.gpus[row];
    if (!gpu || ns < view[0]) return '';
    const where = `${gpu.label} at ${duration(ns + data.offset_ns)}`;
    const { ops } = gpu;
    const found = [];
    if (isFine(gpu) || data.is_complete) {
      for (let op = firstOp(ops, ns); op < ops.count && ops.start[op] <= ns && found.length < 4; op++) {
        if (ops.end[op] < ns) continue;
        found.push(`${name(ops.kernel[op])}\n${exact(ops.end[op] - ops.start[op])} from ${duration(ops.start[op] + data.offset_ns)}`);
      }
    }
    if (found.length > 0) return [where, ...found].join('\n');
    const { busy, item } = gpu.levels[gpu.levels.length - 1];
    const cell = Math.min(busy.length - 1, Math.max(0, Math.floor((ns / length) * busy.length)));
    if (busy[cell] === 0) return `${where}\nidle`;
    const most = item[cell] === COPY ? 'copies' : item[cell] === OTHER ? 'kernels behind the first ones' : name(item[cell] - 1);
    return `${where}\nbusy ${Math.round((busy[cell] / 255) * 100)} % of ${duration(length / busy.length)}\nmostly ${most}`;
  }

  let grabbed;
  canvas.addEventListener('pointerdown', (event) => {
    grabbed = { x: event.clientX, view: [...view] };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointerup', () => { grabbed = undefined; });
  canvas.addEventListener('pointermove', (event) => {
    if (grabbed) {
      const moved = ((grabbed.x - event.clientX) / (width - MARGIN)) * (grabbed.view[1] - grabbed.view[0]);
      set(grabbed.view[0] + moved, grabbed.view[1] + moved);
    }
    showTip(grabbed ? '' : describe(event), event);
  });
  canvas.addEventListener('pointerleave', (event) => showTip('', event));
  canvas.addEventListener('dblclick', (event) => zoom(0.4, at(event)[0]));
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
    event.preventDefault();
    if (event.shiftKey) pan(Math.sign(event.deltaY || event.deltaX) * 0.15);
    else zoom(event.deltaY > 0 ? 1.25 : 0.8, at(event)[0]);
  }, { passive: false });
  const keys = {
    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), a: () => pan(-0.2), d: () => pan(0.2), '+': () => zoom(0.6), '=': () => zoom(0.6),
    w: () => zoom(0.6), '-': () => zoom(1.6), s: () => zoom(1.6), 0: () => set(0, length), Home: () => set(0, length),
  };
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    keys[event.key]();
    event.preventDefault();
  });
  for (const button of $('[data-key]')) button.addEventListener('click', () => keys[button.dataset.key]());

  function follow() {
    const [start, end] = (/^#t=(.*)$/.exec(location.hash)?.[1] ?? '').split(',').map((text) => moment(decodeURIComponent(text)) - data.offset_ns);
    if (Number.isNaN(start)) return;
    if (end > start) set(start, end, false);
    else set(start - length / 200, start + length / 200, false);
    document.getElementById('timeline').scrollIntoView();
    canvas.focus({ preventScroll: true });
  }
  filters.push((table, wanted) => {
    if (table !== 'kernels') return;
    matches = wanted;
    pictures = [];
    draw();
  });
  const recolor = () => { readColors(); draw(); };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolor);
  readColors();
  new ResizeObserver(resize).observe(canvas);
  resize();
  set(0, length, false);
  addEventListener('hashchange', follow);
  follow();
}
const canvas = document.getElementById('timeline-canvas');
if (canvas) timeline(canvas);
