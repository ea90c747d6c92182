// @ts-check
// Lists of items, each of which can be removed.

import { framed, picture } from "../drawing/picture.js";
import { make } from "../shared/elements.js";

const PICTURE = { width: 72, height: 44 };

/**
 * One of a list.
 * @param {(Node | string)[]} content
 * @param {string} name what it is called where it is read aloud
 * @param {() => void} remove
 */
export function chip(content, name, remove) {
  const cross = make("button", { type: "button", className: "cross", "aria-label": `Remove ${name}` }, "×");
  cross.addEventListener("click", () => {
    // The list is made anew: the focus goes to what is then in this one's place.
    const list = /** @type {HTMLElement} */ (cross.closest("ul"));
    const place = [...list.querySelectorAll(".cross")].indexOf(cross);
    remove();
    const left = /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(".cross"));
    const next = left[Math.min(place, left.length - 1)] ?? list.parentElement?.querySelector("input, [tabindex='0'], summary");
    next?.focus();
  });
  return make("li", { className: "chip" }, make("span", { className: "said" }, ...content), cross);
}

/**
 * Content of a molecule's chip: its structure, or its text if that cannot be drawn.
 * @param {string} smiles
 */
export function structureChip(smiles) {
  const drawn = picture(smiles);
  return drawn.molecule ? framed(drawn, PICTURE.width, PICTURE.height, smiles) : make("code", {}, smiles);
}

/** A field for a list of lines: what is typed becomes one of them by Enter, or when the field is left. */
export class ChipField {
  #list = make("ul", { className: "chips" });
  #change;
  #show;
  #separator;

  /**
   * @param {HTMLInputElement} input
   * @param {{show: (line: string) => Node | string, separator: RegExp, change: (lines: string) => void}} how
   */
  constructor(input, { show, separator, change }) {
    this.input = input;
    this.element = make("div", { className: "control several" }, this.#list, input);
    this.#change = change;
    this.#show = show;
    this.#separator = separator;
    /** @type {string[]} */
    this.lines = [];
    input.addEventListener("input", () => this.#tell());
    input.addEventListener("blur", () => this.#take());
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && input.value.trim()) {
        event.preventDefault();
        this.#take();
      } else if (event.key === "Backspace" && !input.value && this.lines.length) {
        this.#remove(this.lines.length - 1);
      }
    });
  }

  /**
   * Shows lines that may come from elsewhere; what is being typed is the last of them and stays in the field.
   * @param {string} text
   */
  show(text) {
    const lines = text.split("\n").filter(Boolean);
    const typed = this.#typed();
    if (typed.length && lines.slice(-typed.length).join("\n") === typed.join("\n")) lines.length -= typed.length;
    else this.input.value = "";
    if (lines.join("\n") === this.lines.join("\n") && this.#list.childElementCount === lines.length) return;
    this.lines = lines;
    this.#list.replaceChildren(...lines.map((line, place) => chip([this.#show(line)], line, () => this.#remove(place))));
  }

  #typed() {
    return this.input.value.split(this.#separator).map((line) => line.trim()).filter(Boolean);
  }

  #tell() {
    this.#change([...this.lines, ...this.#typed()].join("\n"));
  }

  #take() {
    const lines = [...this.lines, ...this.#typed()];
    if (lines.length === this.lines.length) return;
    this.input.value = "";
    this.show(lines.join("\n"));
    this.#tell();
  }

  /** @param {number} place */
  #remove(place) {
    this.show([...this.lines.toSpliced(place, 1), ...this.#typed()].join("\n"));
    this.#tell();
  }
}
