// @ts-check
// The target: drawn in OpenChemLib's editor or written as SMILES or molfile; each follows the other.

import { read, Unreadable } from "../molecules/molecule.js";
import { find, say } from "../shared/elements.js";
import { CanvasEditor } from "../vendor/openchemlib/openchemlib.js";

/** An editor that is told too often draws too often. */
const PAUSE = 250;

export class TargetEditor {
  #text = find("search_smiles");
  #editor;
  #change;
  #timer = 0;

  /** @param {(text: string) => void} change called with what is written, whenever a person writes or draws */
  constructor(change) {
    this.#change = change;
    this.#editor = new CanvasEditor(find("editor"), { initialMode: "molecule" });
    this.#editor.setOnChangeListener((event) => {
      if (event.isUserEvent && event.type === "molecule") this.#drawn();
    });
    this.#text.addEventListener("input", () => {
      change(this.#text.value);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#draw(), PAUSE);
    });
  }

  /**
   * Shows a target that nobody typed here.
   * @param {string} text
   */
  set(text) {
    this.#text.value = text;
    this.#change(text);
    this.#draw();
  }

  #drawn() {
    const molecule = this.#editor.getMolecule();
    const smiles = molecule.getAllAtoms() ? molecule.toIsomericSmiles() : "";
    this.#text.value = smiles;
    say(find("search_smiles_note"), "");
    this.#change(smiles);
  }

  #draw() {
    const text = this.#text.value;
    say(find("search_smiles_note"), "");
    if (!text.trim()) return this.#editor.clearAll();
    try {
      this.#editor.setMolecule(read(text));
    } catch (fault) {
      if (!(fault instanceof Unreadable)) throw fault;
      say(find("search_smiles_note"), fault.message);
    }
  }
}
