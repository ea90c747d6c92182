// @ts-check
// What a part has to say of itself: why something did not work. Nothing is seen of it while there is nothing to say.

import { make, say } from "./elements.js";

export class Notice {
  element = make("p", { className: "notice", role: "alert", hidden: true });

  /** @param {string} text */
  tell(text) {
    say(this.element, text);
    this.element.hidden = !text;
  }
}
