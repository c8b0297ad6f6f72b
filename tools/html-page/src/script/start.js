// The script of a page: sorting, filters, copies, exact values under the pointer, and the pictures drawn from data.
(() => {
'use strict';
document.documentElement.classList.add('js');
const $ = (selector, within = document) => [...within.querySelectorAll(selector)];
const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];

const [WHOLE, THOUSANDTHS] = [0, 3].map((digits) => new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }));

// ns as the report prints them: 999 ns, 1.234 us, 3,600.000 s.
function duration(ns) {
  const [length, name] = UNITS.find(([length]) => Math.abs(ns) >= length) ?? UNITS[3];
  return `${(length === 1 ? WHOLE : THOUSANDTHS).format(ns / length)} ${name}`;
}
const exact = (ns) => `${duration(ns)} (${Math.round(ns).toLocaleString('en-US')} ns)`;
