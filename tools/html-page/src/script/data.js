
// Data of the page: base64 of deflate.
async function unpacked(id) {
  const element = document.getElementById(id);
  if (!element || typeof DecompressionStream === 'undefined') return undefined;
  const text = atob(element.textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
async function json(id) {
  const bytes = await unpacked(id);
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}
// Numbers of LEB128, one after the other.
function numbers(bytes) {
  let at = 0;
  return () => {
    let number = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      number += (byte & 0x7f) * factor;
      if (byte < 0x80) return number;
    }
  };
}
