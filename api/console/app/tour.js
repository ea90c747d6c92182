// @ts-check
// Tour for newcomers: five steps above the page, which point at what they describe and cover nothing. It is shown once in a browser.

import { make, say } from "../shared/elements.js";

const KEPT = "retort.tour";

/** @type {{title: string, text: string, at: string}[]} */
const STEPS = [
  { title: "Draw the target", text: "Or paste it below the editor: SMILES, or a molfile from elsewhere.", at: "#editor" },
  { title: "Choose the kind of search", text: "Four kinds of search have the usual settings. All settings are below, with their names in the API.", at: ".presets" },
  { title: "Find routes", text: "“Try an example” plans imatinib. Choose a molecule or a step to see its details. What to order is below the drawing.", at: "#example" },
  { title: "Many at once", text: "Sample draws new molecules from a model; Batches plans thousands of them, or a file of yours, while you do something else.", at: "[data-part=sample], [data-part=batches]" },
  { title: "From scripts too", text: "Scripts can do all of this. Account explains tokens, Reference lists every operation.", at: "[data-part=account], .parts [href='/docs']" },
];

/**
 * Begins the tour above a part, unless somebody has seen it in this browser.
 * @param {HTMLElement} part
 */
export function tour(part) {
  if (localStorage.getItem(KEPT)) return;
  let step = 0;
  const title = make("h2", { id: "tour_title" });
  const text = make("p");
  const place = make("p", { className: "quiet" });
  const button = (/** @type {string} */ words, /** @type {string} */ className, /** @type {() => void} */ act) => {
    const made = make("button", { type: "button", className }, words);
    made.addEventListener("click", act);
    return made;
  };
  const back = button("Back", "plain", () => show(step - 1));
  const next = button("Next", "", () => (step + 1 < STEPS.length ? show(step + 1) : end()));
  const skip = button("Skip the tour", "plain", end);
  const card = make("aside", { id: "tour", className: "tour", "aria-labelledby": "tour_title" },
    make("div", { role: "status" }, title, text), place, make("div", { className: "row" }, back, next, skip));
  card.addEventListener("keydown", (event) => {
    const to = /** @type {Record<string, number>} */ ({ ArrowRight: step + 1, ArrowLeft: step - 1 })[event.key];
    if (event.key === "Escape") end();
    else if (to >= 0 && to < STEPS.length) show(to);
  });

  /** @param {number} to */
  function show(to) {
    step = to;
    say(title, STEPS[step].title);
    say(text, STEPS[step].text);
    say(place, `${step + 1} of ${STEPS.length}`);
    back.hidden = step === 0;
    const isLast = step === STEPS.length - 1;
    say(next, isLast ? "Done" : "Next");
    skip.hidden = isLast;
    point(STEPS[step].at);
  }

  function end() {
    localStorage.setItem(KEPT, "seen");
    point("");
    card.remove();
    part.closest("main")?.focus();
  }

  part.prepend(card);
  show(0);
}

/** @param {string} at */
function point(at) {
  for (const part of document.querySelectorAll(".pointed_at")) part.classList.remove("pointed_at");
  if (at) for (const part of document.querySelectorAll(at)) part.classList.add("pointed_at");
}
