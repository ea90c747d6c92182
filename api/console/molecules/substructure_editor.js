// @ts-check
// Dialog in which a substructure is drawn. It is made when it is first opened.

import { make, say } from "../shared/elements.js";
import { CanvasEditor } from "../vendor/openchemlib/openchemlib.js";
import { read, Unreadable } from "./molecule.js";

/** @type {{dialog: HTMLDialogElement, place: HTMLElement, heading: HTMLElement} | null} */
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
  made ??= makeDialog();
  const { dialog, place, heading } = made;
  say(heading, title);
  dialog.returnValue = "";
  dialog.showModal();
  // The editor measures its place, which must be visible.
  const drawing = (editor ??= new CanvasEditor(place, { initialMode: "molecule", initialFragment: true }));
  try {
    drawing.setMolecule(read(text));
  } catch (fault) {
    if (!(fault instanceof Unreadable)) throw fault;
    drawing.clearAll();
  }
  return new Promise((answer) => {
    dialog.addEventListener("close", () => answer(dialog.returnValue === "use" ? written(drawing) : text), { once: true });
  });
}

/** @param {CanvasEditor} drawing */
function written(drawing) {
  const molecule = drawing.getMolecule();
  return molecule.getAllAtoms() ? molecule.toIsomericSmiles() : "";
}

function makeDialog() {
  const place = make("div", { className: "editor", role: "group", "aria-label": "Structure editor" });
  const heading = make("h2", { id: "part_editor_title" });
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog", { className: "part_editor", "aria-labelledby": "part_editor_title" }, make("form", { method: "dialog" }, heading, place,
    make("p", { className: "choices" }, make("button", { value: "", className: "plain" }, "Cancel"), make("button", { value: "use" }, "Search")))));
  document.body.append(dialog);
  return { dialog, place, heading };
}
