// The script of a page: sorting, filters, copies, exact values under the pointer, and the pictures drawn from data.
(() => {
'use strict';
document.documentElement.classList.add('js');
const $ = (selector, within = document) => [...within.querySelectorAll(selector)];
const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];

// ns as the report prints them: 999 ns, 1.234 us, 3,600.000 s.
function duration(ns) {
  const [length, name] = UNITS.find(([length]) => Math.abs(ns) >= length) ?? UNITS[3];
  const digits = length === 1 ? 0 : 3;
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${(ns / length).toLocaleString('en-US', format)} ${name}`;
}
const exact = (ns) => `${duration(ns)} (${Math.round(ns).toLocaleString('en-US')} ns)`;
