// @ts-check
// A short message that disappears by itself.

import { find, say } from "./elements.js";

const SEEN = 6000;

let quiet = 0;

/** @param {string} text */
export function toast(text) {
  say(find("toast"), text);
  clearTimeout(quiet);
  quiet = setTimeout(() => say(find("toast"), ""), SEEN);
}
