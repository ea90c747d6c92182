// Searches the guides in the browser, through the index of their sections. Text is only ever set as text.
import { make } from "./elements.js";

const MOST_RESULTS = 12;
const EXCERPT_LENGTH = 160;

const form = document.getElementById("search");
const field = document.getElementById("query");
const found = document.getElementById("found");
let loading = null;

function index() {
  loading ??= fetch("/docs/guide.json").then((answer) => answer.json());
  return loading;
}

/** The sections that have all words: first those with the most of them in the heading. */
function matching(sections, words) {
  const headed = (section) => words.filter((word) => section.heading.toLowerCase().includes(word)).length;
  return sections
    .filter((section) => {
      const text = `${section.page} ${section.heading} ${section.text}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((one, other) => headed(other) - headed(one));
}

/** The part of a section's text around the first word that it has. */
function excerpt(text, words) {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - EXCERPT_LENGTH / 4);
  const from = places.length === 0 || start === 0 ? 0 : text.indexOf(" ", start) + 1;
  return `${from ? "… " : ""}${text.slice(from, from + EXCERPT_LENGTH)}`;
}

async function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const sections = words.length ? matching(await index(), words) : [];
  const items = sections.slice(0, MOST_RESULTS).map((section) => {
    const title = section.heading === section.page ? section.page : `${section.page}: ${section.heading}`;
    return make("li", {}, make("a", { href: section.address }, title), make("p", {}, excerpt(section.text, words)));
  });
  const none = words.length && items.length === 0 ? [make("li", {}, "No section has all of these words.")] : [];
  found.replaceChildren(...items, ...none);
}

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
field.addEventListener("input", () => search().catch((error) => { found.textContent = String(error); }));
document.getElementById("contents").open = matchMedia("(min-width: 64rem)").matches;
