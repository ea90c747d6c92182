// @ts-check
// Layout of a route: a synthesis read from left to right, with the target at the right end.
//
// Molecules of one depth share a column. Every subtree has a band of its own that is as high as its precursors together or its own box or
// the words of its step, whichever is most, so nothing can lie on anything else whatever the shape of the route.

/** @typedef {import("../answer/answer.js").Tree} Tree */
/** @typedef {import("../answer/answer.js").Step} Step */
/** @typedef {import("./picture.js").Picture} Picture */

/**
 * @typedef {{tree: Tree, picture: Picture, precursors: Picture[], captions: string[], x: number, y: number, width: number, height: number, folded: boolean}} Box
 * @typedef {{step: Step, key: string, above: string[], below: string[], x: number, y: number, width: number, from: [number, number][], to: number}} Arrow
 * `x`, `y`: the middle of the words; `from`: ends of the precursors; `to`: x of the tip
 * @typedef {{boxes: Box[], arrows: Arrow[], width: number, height: number}} Scheme
 */

export const LINE = 18;
const PAD = 10;
const BETWEEN = 18;
/** Between a precursor and the words of its step, and between those and the tip. */
const LEAD = 20;
const TIP = 14;
const MARGIN = 16;
const WORDS = { least: 72, most: 168 };

/**
 * @param {Tree} target
 * @param {{picture: (smiles: string, model?: Picture) => Picture, captions: (tree: Tree, folded: boolean) => string[], words: (step: Step) => {above: string, below: string}, widthOf: (text: string) => number, isFolded: (key: string) => boolean}} means
 * @returns {Scheme}
 */
export function layOutScheme(target, means) {
  const root = measure(target, 0, means);
  /** @type {number[]} */
  const columns = [];
  /** @type {number[]} */
  const gaps = [];
  widths(root, columns, gaps);
  const lefts = leftEdges(columns, gaps);
  const boxes = /** @type {Box[]} */ ([]);
  const arrows = /** @type {Arrow[]} */ ([]);
  place(root, MARGIN, { columns, gaps, lefts, boxes, arrows });
  return { boxes, arrows, width: lefts[0] + columns[0] + MARGIN, height: root.band + 2 * MARGIN };
}

/**
 * @typedef {{box: Box, depth: number, band: number, words: {above: string[], below: string[], width: number} | null, precursors: Measured[]}} Measured
 */

/**
 * @param {Tree} tree
 * @param {number} depth
 * @param {Parameters<typeof layOutScheme>[1]} means
 * @param {Picture} [model]
 * @returns {Measured}
 */
function measure(tree, depth, means, model) {
  const drawn = means.picture(tree.data.smiles, model);
  const folded = tree.step !== null && means.isFolded(tree.key);
  const captions = means.captions(tree, folded);
  const width = Math.max(drawn.width, ...captions.map(means.widthOf)) + 2 * PAD;
  const height = drawn.height + captions.length * LINE + 2 * PAD;
  const box = { tree, picture: drawn, precursors: /** @type {Picture[]} */ ([]), captions, x: 0, y: 0, width, height, folded };
  if (!tree.step || folded) return { box, depth, band: height, words: null, precursors: [] };
  const precursors = tree.step.precursors.map((one) => measure(one, depth + 1, means, drawn));
  box.precursors = precursors.map((one) => one.box.picture);
  const text = means.words(tree.step);
  const [above, below] = [wrapped(text.above, means.widthOf), wrapped(text.below, means.widthOf)];
  const wordsWidth = Math.max(WORDS.least, ...[...above, ...below].map(means.widthOf));
  const wordsHeight = 2 * Math.max(above.length, below.length) * LINE + 2 * PAD;
  const together = precursors.reduce((sum, one) => sum + one.band, 0) + BETWEEN * (precursors.length - 1);
  return { box, depth, band: Math.max(height, wordsHeight, together), words: { above, below, width: wordsWidth }, precursors };
}

/**
 * Lines of a text that are no wider than words may be; a word that is stands alone, cut.
 * @param {string} text
 * @param {(text: string) => number} widthOf
 */
function wrapped(text, widthOf) {
  const lines = [""];
  for (const word of text.split(" ").filter(Boolean)) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (widthOf(longer) <= WORDS.most || !lines[lines.length - 1]) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.filter(Boolean).map((line) => cut(line, widthOf));
}

/**
 * @param {string} line
 * @param {(text: string) => number} widthOf
 */
function cut(line, widthOf) {
  if (widthOf(line) <= WORDS.most) return line;
  let end = line.length;
  while (end > 1 && widthOf(`${line.slice(0, end)}…`) > WORDS.most) end--;
  return `${line.slice(0, end)}…`;
}

/**
 * @param {Measured} one
 * @param {number[]} columns by depth
 * @param {number[]} gaps by depth of the product
 */
function widths(one, columns, gaps) {
  columns[one.depth] = Math.max(columns[one.depth] ?? 0, one.box.width);
  if (one.words) gaps[one.depth] = Math.max(gaps[one.depth] ?? 0, one.words.width + LEAD + TIP);
  for (const precursor of one.precursors) widths(precursor, columns, gaps);
}

/**
 * Left edges of the columns, the deepest at the left.
 * @param {number[]} columns
 * @param {number[]} gaps
 */
function leftEdges(columns, gaps) {
  const lefts = new Array(columns.length);
  let x = MARGIN;
  for (let depth = columns.length - 1; depth >= 0; depth--) {
    lefts[depth] = x;
    x += columns[depth] + (gaps[depth - 1] ?? 0);
  }
  return lefts;
}

/**
 * @param {Measured} one
 * @param {number} top
 * @param {{columns: number[], gaps: number[], lefts: number[], boxes: Box[], arrows: Arrow[]}} on
 * @returns {number} the height of its middle
 */
function place(one, top, on) {
  const { columns, lefts } = on;
  const together = one.precursors.reduce((sum, each) => sum + each.band, 0) + BETWEEN * Math.max(0, one.precursors.length - 1);
  let y = top + (one.band - together) / 2;
  const middles = one.precursors.map((precursor) => {
    const middle = place(precursor, y, on);
    y += precursor.band + BETWEEN;
    return middle;
  });
  const middle = within(middles, top, one);
  one.box.x = lefts[one.depth] + (columns[one.depth] - one.box.width) / 2;
  one.box.y = middle - one.box.height / 2;
  on.boxes.push(one.box);
  if (one.words && one.box.tree.step) {
    const to = one.box.x - 2;
    const end = lefts[one.depth] - TIP;
    on.arrows.push({
      step: one.box.tree.step, key: one.box.tree.key, above: one.words.above, below: one.words.below, width: one.words.width,
      x: end - one.words.width / 2, y: middle, to,
      from: one.precursors.map((precursor, place) => [precursor.box.x + precursor.box.width, middles[place]]),
    });
  }
  return middle;
}

/**
 * The middle of the precursors, as far as box and words then stay within the band.
 * @param {number[]} middles
 * @param {number} top
 * @param {Measured} one
 */
function within(middles, top, one) {
  if (!middles.length) return top + one.band / 2;
  const words = one.words ? Math.max(one.words.above.length, one.words.below.length) * LINE + PAD : 0;
  const half = Math.max(one.box.height / 2, words);
  const wanted = (middles[0] + middles[middles.length - 1]) / 2;
  return Math.min(Math.max(wanted, top + half), top + one.band - half);
}
