// @ts-check
// Text of files in any usual encoding.

/**
 * The text of a file: UTF-8, UTF-16 with its mark or beginning with a letter of ASCII, and what is neither as Windows in the West writes it.
 * @param {Uint8Array} bytes
 */
export function decodeText(bytes) {
  const [first, second] = bytes;
  const is = (/** @type {number} */ one, /** @type {number} */ other) => first === one && second === other;
  if (is(0xff, 0xfe) || (first && second === 0)) return new TextDecoder("utf-16le").decode(bytes);
  if (is(0xfe, 0xff) || (first === 0 && second)) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
