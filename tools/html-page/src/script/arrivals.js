
// How late ranks come to collectives: a row a rank, a column a collective.
async function arrivals(canvas) {
  const [about, bytes] = [await json('arrivals-data'), await unpacked('arrivals-late')];
  if (!about || !bytes) return;
  const { ranks, kernels, end_ns: ends, most_ns: most } = about;
  const next = numbers(bytes);
  // One more than the ns; 0 where the rank was in none.
  const late = ranks.map(() => Float64Array.from({ length: kernels.length }, () => next() - 1));
  const MARGIN = 66;
  const rowHeight = Math.min(22, Math.max(1, Math.floor(640 / ranks.length)));
  let matches;
  function draw() {
    const style = getComputedStyle(document.documentElement);
    const density = devicePixelRatio || 1;
    const width = Math.max(200, canvas.clientWidth);
    canvas.width = width * density;
    canvas.height = ranks.length * rowHeight * density;
    canvas.style.height = `${ranks.length * rowHeight}px`;
    const context = canvas.getContext('2d');
    context.scale(density, density);
    const cell = (width - MARGIN) / kernels.length;
    context.fillStyle = style.getPropertyValue('--raised');
    context.fillRect(MARGIN, 0, width - MARGIN, canvas.height);
    context.fillStyle = style.getPropertyValue('--c2');
    late.forEach((row, rank) => {
      row.forEach((ns, column) => {
        if (ns <= 0) return;
        const isDim = matches && !matches(ranks[rank]);
        context.globalAlpha = isDim ? 0.06 : 0.08 + 0.92 * Math.min(1, ns / most);
        const height = rowHeight > 3 ? rowHeight - 1 : rowHeight;
        context.fillRect(MARGIN + column * cell, rank * rowHeight, Math.max(1, cell - (cell > 3 ? 0.5 : 0)), height);
      });
    });
    context.globalAlpha = 1;
    context.fillStyle = style.getPropertyValue('--faint');
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (let row = 0; row < ranks.length; row += Math.ceil(13 / rowHeight)) context.fillText(ranks[row], 0, row * rowHeight + Math.max(rowHeight, 11) / 2, MARGIN - 6);
  }
  canvas.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left - MARGIN) / (box.width - MARGIN)) * kernels.length);
    const row = Math.floor((event.clientY - box.top) / rowHeight);
    const ns = late[row]?.[column];
    if (ns === undefined) return showTip('', event);
    const when = `${kernels[column]}\ncollective ${column * about.each + 1} of ${about.collectives}, at ${duration(ends[column])}`;
    showTip(`${ranks[row]}: ${ns < 0 ? 'not in it' : `${exact(ns)} after the first rank`}\n${when}`, event);
  });
  canvas.addEventListener('pointerleave', (event) => showTip('', event));
  filters.push((table, wanted) => {
    if (table !== 'ranks') return;
    matches = wanted;
    draw();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  new ResizeObserver(draw).observe(canvas.parentElement);
  draw();
}
const arrivalsCanvas = document.getElementById('arrivals-canvas');
if (arrivalsCanvas) arrivals(arrivalsCanvas);
