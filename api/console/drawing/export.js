// @ts-check
// Drawings as files: SVG and PNG.

import { element } from "./picture.js";

/** Style of a drawing outside of the page, on white paper. */
const PAPER = `
svg { background: #fff; color: #18212d; font: 14px system-ui, sans-serif; }
.bond, .line { stroke: currentColor; stroke-linecap: round; stroke-linejoin: round; fill: none; }
polygon.bond { fill: currentColor; }
.new { stroke: #ffd27d; stroke-width: 8; stroke-linecap: round; }
.line { stroke-width: 1.4; } .tip { fill: currentColor; }
.letter { fill: currentColor; font-family: Arial, Helvetica, sans-serif; }
.letter.n { fill: #2140c8; } .letter.o { fill: #c01414; } .letter.s { fill: #7a6200; } .letter.p, .letter.b { fill: #a34700; }
.letter.f, .letter.cl { fill: #1c7a1c; } .letter.br { fill: #8a2222; } .letter.i { fill: #7a007a; }
.caption, .class, .agents { text-anchor: middle; fill: currentColor; } .class { font-weight: 600; } .agents { fill: #556172; }
.ground { fill: #fff; stroke: none; } .bought .ground { stroke: #9ccdb8; } .target .ground { stroke: #2456c7; }
.folder { display: none; }
`;

/**
 * A drawing as a file of its own.
 * @param {{content: SVGElement, width: number, height: number}} drawing
 */
export function svg({ content, width, height }) {
  const copy = /** @type {SVGElement} */ (content.cloneNode(true));
  copy.removeAttribute("transform");
  for (const part of copy.querySelectorAll("[tabindex], [role], [data-key]")) {
    for (const name of ["tabindex", "role", "data-key", "aria-pressed"]) part.removeAttribute(name);
  }
  const root = element("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  const text = new XMLSerializer().serializeToString(root).replace(/\/>$/, ">").replace(/<\/svg>$/, "");
  return `${text}<style>${PAPER}</style>${new XMLSerializer().serializeToString(copy)}</svg>\n`;
}

/** So many pixels for one of the page, so that print is sharp, and the longest side that every browser paints. */
const SHARPNESS = 3;
const LONGEST = 8192;

/**
 * A drawing as a picture of pixels.
 * @param {{content: SVGElement, width: number, height: number}} drawing
 * @returns {Promise<Blob>}
 */
export async function png(drawing) {
  const { width, height } = drawing;
  const scale = Math.min(SHARPNESS, LONGEST / width, LONGEST / height);
  const image = new Image();
  // The policy of the page lets pictures come from such addresses, which lead nowhere.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg(drawing))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(scale * width), height: Math.round(scale * height) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((made, failed) => canvas.toBlob((blob) => (blob ? made(blob) : failed(new Error("the browser paints no picture of this size"))), "image/png"));
}
