// @ts-check
// The part "Plan": a target and its settings, the search, its routes. All that it knows is in one store.

import { offersOf, routesOf } from "./answer.js";
import { find, say } from "./elements.js";
import { EXAMPLE } from "./example.js";
import { makeForm, showFaults, showForm } from "./form.js";
import { logIn } from "./login.js";
import { smilesOf, Unreadable } from "./molecule.js";
import { nothingFound } from "./nothing.js";
import { Results } from "./results.js";
import { search } from "./search.js";
import { preset, request } from "./settings.js";
import { Store } from "./store.js";
import { Target } from "./target.js";
import { several } from "./words.js";

const DRAFT = "retort.draft";
/** A token that is refused so soon after its login will not be better next time, milliseconds. */
const TOO_SOON = 30000;

/**
 * @typedef {{text: string, typed: import("./settings.js").Typed, faults: Record<string, string>, running: {begun: number, seconds: number, stop: AbortController} | null,
 *   found: import("./results.js").Found | null, composing: boolean, notice: string}} State
 * `composing`: the target and its settings are seen; after an answer its routes have their place
 */

/**
 * Begins the part.
 * @param {import("./login.js").Session} session
 * @param {string[]} scopes
 */
export function plan(session, scopes) {
  const draft = JSON.parse(sessionStorage.getItem(DRAFT) ?? "null");
  const store = new Store(/** @type {State} */ ({
    text: draft?.text ?? "", typed: { ...preset("fast"), ...draft?.typed }, faults: {}, running: null, found: null, composing: true, notice: "",
  }));
  makeForm(() => store.state.typed, (typed) => store.set({ typed, faults: {} }));
  const target = new Target((text) => store.set({ text, faults: {} }));
  if (store.state.text) target.set(store.state.text);
  const results = new Results();

  store.watch(["text", "typed"], ({ text, typed }) => sessionStorage.setItem(DRAFT, JSON.stringify({ text, typed })));
  store.watch(["typed"], ({ typed }) => showForm(typed));
  store.watch(["faults"], ({ faults }) => showFaults(faults));
  store.watch(["running"], ({ running }) => showRunning(running));
  store.watch(["notice"], ({ notice }) => {
    say(find("notice"), notice);
    find("notice").hidden = !notice;
  });
  store.watch(["found"], ({ found }) => {
    find("results").hidden = !found?.routes.length;
    find("nothing").hidden = !found || found.routes.length > 0;
    if (!found) return;
    if (found.routes.length) results.show(found);
    else find("nothing").replaceChildren(...nothingFound(found));
  });

  store.watch(["composing"], ({ composing }) => {
    find("target_form").hidden = !composing;
    find("change").hidden = composing;
  });

  find("change").addEventListener("click", () => {
    store.set({ composing: true });
    find("search_smiles").focus();
  });
  find("target_form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!store.state.running) run(store, session, scopes);
  });
  find("stop").addEventListener("click", () => store.state.running?.stop.abort());
  find("example").addEventListener("click", () => {
    target.set(EXAMPLE.smiles);
    store.set({ typed: preset(EXAMPLE.preset, store.state.typed) });
    if (!store.state.running) run(store, session, scopes);
  });
  if (draft?.goesOn) run(store, session, scopes);
}

/**
 * @param {Store<State>} store
 * @param {import("./login.js").Session} session
 * @param {string[]} scopes
 */
async function run(store, session, scopes) {
  const asked = body(store.state);
  if (Object.keys(asked.faults).length) return refuse(store, asked.faults);
  const stop = new AbortController();
  store.set({ running: { begun: performance.now(), seconds: asked.body.max_seconds ?? 4, stop }, notice: "", faults: {} });
  const outcome = await search(session, asked.body, stop.signal);
  store.set({ running: null });
  if (outcome.kind === "faults") return refuse(store, outcome.faults);
  if (outcome.kind === "stopped") return store.set({ notice: "Stopped. The service was told to search no longer." });
  if (outcome.kind === "lost") return store.set({ notice: outcome.why });
  if (outcome.kind === "ended") return logInAgain(store, session, scopes);
  const { answer, bytes } = outcome;
  const routes = routesOf(answer);
  store.set({ found: { answer, bytes, routes, offers: offersOf(answer), asked: asked.body }, composing: routes.length === 0 });
  say(find("told"), routes.length ? `${several(routes.length, "route")} found.` : "No route found.");
  find(routes.length ? "results_title" : "nothing").focus();
}

/**
 * The login has ended; what was typed is kept, a session of the browser gives another login without a word, and the search goes on then.
 * @param {Store<State>} store
 * @param {import("./login.js").Session} session
 * @param {string[]} scopes
 */
function logInAgain(store, session, scopes) {
  if (Date.now() - session.begun < TOO_SOON) return store.set({ notice: "The service does not take its own token; is its clock right?" });
  sessionStorage.setItem(DRAFT, JSON.stringify({ text: store.state.text, typed: store.state.typed, goesOn: true }));
  logIn(scopes);
}

/** @param {State} state */
function body({ text, typed }) {
  try {
    const asked = request(smilesOf(text), typed);
    return text.trim() ? asked : { ...asked, faults: { ...asked.faults, search_smiles: "Draw or write what is to be made." } };
  } catch (fault) {
    if (!(fault instanceof Unreadable)) throw fault;
    return { body: {}, faults: { search_smiles: fault.message } };
  }
}

/**
 * Shows what is wrong and leads there.
 * @param {Store<State>} store
 * @param {Record<string, string>} faults
 */
function refuse(store, faults) {
  store.set({ faults });
  /** @type {HTMLElement | null} */ (document.querySelector("[aria-invalid=true]"))?.focus();
}

let clock = 0;

/** @param {State["running"]} running */
function showRunning(running) {
  clearInterval(clock);
  find("run").hidden = running !== null;
  find("stop").hidden = find("progress").hidden = running === null;
  if (!running) return;
  const tick = () => {
    const passed = (performance.now() - running.begun) / 1000;
    find("elapsed").value = Math.min(passed, running.seconds);
    find("elapsed").max = running.seconds;
    say(find("elapsed_text"), passed < running.seconds ? `Searching: ${passed.toFixed(1)} of at most ${running.seconds} s` : `Writing the answer: ${passed.toFixed(1)} s`);
  };
  tick();
  clock = setInterval(tick, 100);
  find("stop").focus();
}
