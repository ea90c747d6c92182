// @ts-check
// A part's notice of an error, hidden while there is none.

import { make, say } from "./elements.js";

export class Notice {
  element = make("p", { className: "notice", role: "alert", hidden: true });

  /** @param {string} text */
  tell(text) {
    say(this.element, text);
    this.element.hidden = !text;
  }
}
