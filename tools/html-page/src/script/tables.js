
// The value of a cell by which it is sorted and copied.
const value = (cell) => cell.dataset.v ?? (cell.title || cell.textContent);

function sort(head) {
  const table = head.closest('table');
  const column = head.cellIndex;
  const body = table.tBodies[0];
  const isNumber = head.classList.contains('n');
  const isDown = head.ariaSort ? head.ariaSort === 'ascending' : isNumber;
  const order = (one, other) => {
    const [a, b] = [one, other].map((row) => value(row.cells[column]));
    if (a === '' || b === '') return (a === '') - (b === '');
    const least = isNumber ? Number(a) - Number(b) : a.localeCompare(b);
    return isDown ? -least : least;
  };
  body.append(...[...body.rows].sort(order));
  for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
  head.ariaSort = isDown ? 'descending' : 'ascending';
}

function csv(table) {
  const columns = [...table.tHead.rows[0].cells].filter((head) => head.dataset.f);
  const field = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const lines = rows.map((row) => columns.map((head) => field(value(row.cells[head.cellIndex]))).join(','));
  return [columns.map((head) => head.dataset.f).join(','), ...lines, ''].join('\r\n');
}

// Without the clipboard of a secure page the old way is left.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

const filters = [];
for (const head of $('th[data-f] button')) head.addEventListener('click', () => sort(head.closest('th')));
for (const button of $('[data-copy]')) {
  button.addEventListener('click', async () => {
    const text = csv(document.getElementById(button.dataset.copy));
    await copy(text);
    const rows = text.split('\r\n').length - 2;
    $(`[data-told="${button.dataset.copy}"]`).forEach((told) => { told.textContent = `copied ${rows} rows`; });
  });
}
for (const input of $('[data-filter]')) {
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase();
    const matches = (text) => text.toLowerCase().includes(words);
    const table = document.getElementById(input.dataset.filter);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = ![...row.cells].some((cell) => !cell.dataset.v && matches(value(cell)));
      shown += !row.hidden;
    }
    const told = words === '' ? '' : `${shown} of ${table.tBodies[0].rows.length} rows`;
    $(`[data-told="${table.id}"]`).forEach((element) => { element.textContent = told; });
    filters.forEach((filter) => filter(table.id, words === '' ? undefined : matches));
  });
}
filters.push((table, matches) => {
  if (table !== 'kernels') return;
  for (const part of $('.treemap g[data-name]')) part.classList.toggle('dim', matches !== undefined && !matches(part.dataset.name));
});
