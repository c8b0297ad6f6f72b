
// What is under the pointer. Drawings have it as titles, which this replaces.
const tip = document.createElement('div');
tip.id = 'tip';
tip.hidden = true;
tip.setAttribute('role', 'presentation');
document.body.append(tip);
function showTip(text, event) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const { width, height } = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - width - 8);
  const y = event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18;
  // A style in an attribute is against the policy; this is not one.
  tip.style.left = `${Math.max(4, x)}px`;
  tip.style.top = `${Math.max(4, y)}px`;
}
for (const svg of $('svg')) {
  svg.addEventListener('pointermove', (event) => {
    const title = event.target.querySelector?.(':scope > title');
    if (title) {
      event.target.dataset.tip = title.textContent;
      title.remove();
    }
    showTip(event.target.dataset?.tip, event);
  });
  svg.addEventListener('pointerleave', (event) => showTip('', event));
}
