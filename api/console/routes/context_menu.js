// @ts-check
// Context menu of a scheme: by the right mouse button, or by its key.

import { find, make } from "../shared/elements.js";

/**
 * @param {import("./route_actions.js").Act[]} acts
 * @param {{x: number, y: number}} at in the window
 * @param {HTMLElement | SVGElement} opener which has the focus again afterwards
 */
export function openMenu(acts, at, opener) {
  const menu = /** @type {HTMLElement} */ (find("menu"));
  const items = acts.map(({ label, act }) => {
    const item = make("button", { type: "button", role: "menuitem", tabIndex: -1 }, label);
    item.addEventListener("click", () => {
      menu.hidePopover();
      act();
    });
    return item;
  });
  menu.replaceChildren(...items);
  menu.onkeydown = (event) => walk(event, items);
  menu.ontoggle = (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === "closed" && (menu.contains(document.activeElement) || document.activeElement === document.body)) opener.focus();
  };
  menu.showPopover();
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(4, Math.min(at.x, innerWidth - width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(at.y, innerHeight - height - 4))}px`;
  items[0]?.focus();
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement[]} items
 */
function walk(event, items) {
  const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = /** @type {Record<string, number>} */ ({ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 })[event.key];
  if (to === undefined) return;
  event.preventDefault();
  items.at(to % items.length)?.focus();
}
