// @ts-check
// Dialog in which a substructure or a scaffold is drawn. It is made when it is first opened.

import { make, say } from "../shared/elements.js";
import { CanvasEditor } from "../vendor/openchemlib/openchemlib.js";
import { scaffoldSmiles, withRGroups, withStandIns } from "./attachment_points.js";
import { read, Unreadable } from "./molecule.js";

/** @typedef {import("../vendor/openchemlib/openchemlib.js").Molecule} Molecule */

/** @type {{dialog: HTMLDialogElement, place: HTMLElement, heading: HTMLElement, use: HTMLElement} | null} */
let made = null;
/** @type {CanvasEditor | null} */
let editor = null;

/**
 * Lets a part be drawn, beginning with what is written.
 * @param {string} text
 * @param {string} [title] what it is for
 * @returns {Promise<string>} its SMILES, or what was written where nobody wants another
 */
export function drawSubstructure(text, title = "Substructure") {
  const smiles = (/** @type {Molecule} */ drawn) => (drawn.getAllAtoms() ? drawn.toIsomericSmiles() : "");
  return draw(text, { title, use: "Search", molecule: read, smiles });
}

/**
 * Lets a scaffold be drawn, with R1, R2 and so on as its attachment points.
 * @param {string} text
 * @returns {Promise<string>} as for a substructure
 */
export function drawScaffold(text) {
  return draw(text, { title: "Scaffold, with R1, R2 … where it is substituted", use: "Use", molecule: (written) => withRGroups(read(withStandIns(written))), smiles: scaffoldSmiles });
}

/**
 * @param {string} text
 * @param {{title: string, use: string, molecule: (text: string) => Molecule, smiles: (drawn: Molecule) => string}} way
 * @returns {Promise<string>}
 */
function draw(text, way) {
  made ??= makeDialog();
  const { dialog, place, heading, use } = made;
  say(heading, way.title);
  say(use, way.use);
  dialog.returnValue = "";
  dialog.showModal();
  // The editor measures its place, which must be visible.
  const drawing = (editor ??= new CanvasEditor(place, { initialMode: "molecule", initialFragment: true }));
  try {
    drawing.setMolecule(way.molecule(text));
  } catch (fault) {
    if (!(fault instanceof Unreadable)) throw fault;
    drawing.clearAll();
  }
  return new Promise((answer) => {
    dialog.addEventListener("close", () => answer(dialog.returnValue === "use" ? way.smiles(drawing.getMolecule()) : text), { once: true });
  });
}

function makeDialog() {
  const place = make("div", { className: "editor", role: "group", "aria-label": "Structure editor" });
  const heading = make("h2", { id: "part_editor_title" });
  const use = make("button", { value: "use" });
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog", { className: "part_editor", "aria-labelledby": "part_editor_title" }, make("form", { method: "dialog" }, heading, place,
    make("p", { className: "choices" }, make("button", { value: "", className: "plain" }, "Cancel"), use))));
  document.body.append(dialog);
  return { dialog, place, heading, use };
}
