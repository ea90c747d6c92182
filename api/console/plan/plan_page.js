// @ts-check
// Page of the part "Plan": target, settings, search and routes. Its state is in one store.

import { above, offersOf, routesOf, treeAt, treeOf } from "../answer/answer.js";
import { PartialAnswer } from "../answer/partial_answer.js";
import { read, smilesOf, Unreadable } from "../molecules/molecule.js";
import { nameOf } from "../routes/comparison.js";
import { KeptRouteForm, PLANS } from "../routes/kept_route.js";
import { noRoute } from "../routes/no_route.js";
import { Results } from "../routes/results.js";
import { why } from "../service/service.js";
import { find, make, say } from "../shared/elements.js";
import { several, significant } from "../shared/numbers.js";
import { saveFile } from "../shared/save_file.js";
import { Store } from "../shared/store.js";
import { toast } from "../shared/toast.js";
import { chooseAnalogue } from "./analogues.js";
import { EXAMPLE } from "./example.js";
import { carriedOver, isMarked, marksOfRequest, requestOf, UNMARKED } from "./marks.js";
import { MarksEditor } from "./marks_editor.js";
import { another, anyBut, BY_HAND, choosePrecursors, grafted, knownOf, routeByHand } from "./precursors.js";
import { search } from "./search.js";
import { preset, request, typedOf, withLine } from "./settings.js";
import { makeForm, showFaults, showForm } from "./settings_form.js";
import { structureNamed } from "./structure_by_name.js";
import { TargetEditor } from "./target_editor.js";

const DRAFT = "retort.draft";
/** Formats of other programs that the service writes. */
const FORMATS = ["aizynth", "retrocast"];
/** Between two looks at what a search has found so far, milliseconds. */
const PAUSE = 250;
/** Longer than the service takes to store an answer, milliseconds. */
const TIMEOUT = 30000;

/**
 * @typedef {{text: string, marks: import("./marks.js").Marks, typed: import("./settings.js").Typed, faults: Record<string, string>, running: Running | null,
 *   found: import("../routes/results.js").Found | null, past: Past[], composing: boolean, notice: string}} State
 * `composing`: the target and its settings are seen; once there are routes, those have their place; `past`: what can be undone, the last one last
 */
/** @typedef {{words: string, isChange: boolean, before: Pick<State, "text" | "marks" | "typed" | "found">}} Past `isChange`: of what is asked, and not yet searched for */
/** @typedef {{begun: number, seconds: number, stop: AbortController, progress: import("./search.js").Progress | null}} Running */

/**
 * Begins the part.
 * @param {import("../service/service.js").Service} service
 * @param {(id: string, found: import("../routes/results.js").Found) => void} stored called when the service has stored what was found
 */
export function plan(service, stored) {
  const draft = JSON.parse(sessionStorage.getItem(DRAFT) ?? "null");
  const store = new Store(/** @type {State} */ ({
    text: draft?.text ?? "", marks: draft?.marks ?? UNMARKED, typed: { ...preset("fast"), ...draft?.typed }, faults: {}, running: null, found: null, past: [], composing: true, notice: "",
  }));
  makeForm(() => store.state.typed, (typed) => store.set({ typed, faults: {} }));
  // At once: what is seen later pushes away what is about to be pressed.
  const target = new TargetEditor((text) => store.set({ text, marks: marksOf({ ...store.state, text }), faults: {} }));
  if (store.state.text) target.set(store.state.text);
  const marking = new MarksEditor((marks) => store.set({ marks, faults: {} }));
  const results = new Results((route) => ({
    ask: (setting, line, words) => ask(store, setting, line, words),
    remake: (smiles) => remake(store, service, route, smiles, anyBut(above(route.graph, smiles))),
    replace: ({ key, data }) => {
      const made = treeAt(treeOf(route.graph), key.slice(0, key.lastIndexOf(".")));
      const precursors = made?.step?.precursors.map((one) => one.data.smiles) ?? [];
      if (made) remake(store, service, route, made.data.smiles, another(precursors, { block: data.smiles, shipsTo: store.state.found?.asked.ships_to ?? null }, above(route.graph, made.data.smiles)));
    },
    vary: (smiles) => vary(store, service, target, route, smiles),
    target: (smiles) => {
      target.set(smiles);
      start();
    },
  }), new KeptRouteForm(service));
  const start = async () => {
    if (store.state.running) return;
    const { text } = store.state;
    const smiles = await structureNamed(service, text);
    // A later input or search wins.
    if (store.state.running || store.state.text !== text) return;
    if (smiles) target.set(smiles);
    const found = await run(store, service);
    const address = await found?.address;
    if (found && address && store.state.found === found) stored(address.slice(address.lastIndexOf("/") + 1), found);
  };

  store.watch(["text", "marks", "typed"], ({ text, marks, typed }) => sessionStorage.setItem(DRAFT, JSON.stringify({ text, marks, typed })));
  store.watch(["marks"], ({ marks }) => marking.show(marks));
  store.watch(["typed"], ({ typed }) => showForm(typed));
  store.watch(["faults"], ({ faults }) => showFaults(faults));
  store.watch(["running"], ({ running }) => showRunning(running));
  store.watch(["notice"], ({ notice }) => {
    say(find("notice"), notice);
    find("notice").hidden = !notice;
    if (notice) find("notice").scrollIntoView({ block: "nearest" });
  });
  store.watch(["found"], ({ found }) => {
    find("results").hidden = !found?.routes.length;
    find("nothing").hidden = !found || found.routes.length > 0;
    if (!found) return;
    if (found.routes.length) results.show(found);
    else find("nothing").replaceChildren(...noRoute(found));
  });

  store.watch(["past", "running"], ({ past, running }) => showPast(past, running !== null));
  store.watch(["composing"], ({ composing }) => {
    const isOther = find("target_form").hidden === composing;
    find("target_form").hidden = !composing;
    find("change").hidden = composing;
    // The routes take the form's place.
    if (isOther && !composing) scrollTo({ top: 0 });
  });

  find("change").addEventListener("click", () => {
    store.set({ composing: true });
    find("search_smiles").focus();
  });
  find("target_form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    start();
  });
  for (const format of FORMATS) find(`take_${format}`).addEventListener("click", () => exportAll(service, store.state.found, format));
  find("stop").addEventListener("click", () => store.state.running?.stop.abort());
  find("again").addEventListener("click", start);
  find("undo").addEventListener("click", () => undo(store, target));
  find("example").addEventListener("click", () => {
    target.set(EXAMPLE.smiles);
    store.set({ typed: preset(EXAMPLE.preset, store.state.typed) });
    start();
  });
  if (draft?.goesOn) start();
  return {
    /**
     * Shows what was found before; a search from there asks what that one asked.
     * @param {import("../routes/results.js").Found} found
     */
    open: (found) => {
      const asked = /** @type {Parameters<typeof marksOfRequest>[0]} */ (found.asked);
      target.set(asked.search_smiles);
      store.set({ found, marks: marksOfRequest(asked), typed: typedOf(asked), past: [], composing: found.routes.length === 0, notice: "" });
    },
    /** @param {string} notice why nothing else is shown */
    tell: (notice) => store.set({ notice }),
    /**
     * Has a target that may be searched for.
     * @param {string} smiles
     */
    aim: (smiles) => {
      target.set(smiles);
      store.set({ composing: true, notice: "" });
      find("run").focus();
    },
    /** The routes that are shown. */
    found: () => store.state.found,
  };
}

/**
 * Saves all routes in the format of another program, as the service writes it.
 * @param {import("../service/service.js").Service} service
 * @param {import("../routes/results.js").Found | null} found
 * @param {string} format
 */
async function exportAll(service, found, format) {
  try {
    const address = await found?.address;
    if (!address) {
      toast("The service exports finished searches and kept routes. Keep this route first.");
      return;
    }
    const routes = await service.get(`${address}?format=${format}`);
    saveFile(`routes_${format}.json`, "application/json", JSON.stringify(routes, null, 1));
    if (found?.routes.some(({ backbone }) => backbone === BY_HAND)) toast("Routes by hand are left out. Keep one and open it to export it.");
  } catch (fault) {
    toast(why(fault));
  }
}

/**
 * Has the service store a search with its routes, to be found again.
 * @param {import("../service/service.js").Service} service
 * @param {string} search
 * @param {Record<string, any>} parameters
 * @returns {Promise<string | null>} the address of the stored plan
 */
async function remember(service, search, parameters) {
  try {
    const { id } = await service.send(PLANS, { parameters, search_id: search }, AbortSignal.timeout(TIMEOUT));
    return `${PLANS}/${id}`;
  } catch {
    // The page shows the routes anyway.
    return null;
  }
}

/**
 * @param {Store<State>} store
 * @param {import("../service/service.js").Service} service
 * @returns {Promise<import("../routes/results.js").Found | null>} what was found, where there is an answer
 */
async function run(store, service) {
  const asked = body(store.state);
  if (Object.keys(asked.faults).length) {
    refuse(store, asked.faults);
    return null;
  }
  const stop = new AbortController();
  const before = kept(store.state);
  /** @param {import("../routes/results.js").Found} found */
  const take = (found) => {
    const isFirst = store.state.found?.asked !== asked.body;
    // Changes since the last search are undone with it.
    const past = store.state.past.filter(({ isChange }) => !isChange);
    const first = store.state.past.find(({ isChange }) => isChange);
    const more = isFirst && before.found ? [...past, { words: "the search", isChange: false, before: first?.before ?? before }] : store.state.past;
    store.set({ found, past: more, composing: found.routes.length === 0 });
  };
  store.set({ running: { begun: performance.now(), seconds: asked.body.max_seconds ?? 4, stop, progress: null }, notice: "", faults: {} });
  const outcome = await search(service.session, asked.body, stop.signal, gatherer(store, asked.body, take));
  store.set({ running: null });
  if (outcome.kind !== "answer" && store.state.found?.asked === asked.body) store.set({ found: { ...store.state.found, unfinished: "stopped" } });
  if (outcome.kind !== "answer") {
    if (outcome.kind === "faults") refuse(store, outcome.faults);
    if (outcome.kind === "stopped") store.set({ notice: "Stopped. The search is cancelled." });
    if (outcome.kind === "lost") store.set({ notice: outcome.why });
    if (outcome.kind === "ended") logInAgain(store, service);
    return null;
  }
  const { answer, bytes, id } = outcome;
  const routes = routesOf(answer);
  const address = id ? remember(service, id, asked.body) : Promise.resolve(null);
  const found = { answer, bytes, routes, offers: offersOf(answer), asked: asked.body, address };
  take(found);
  say(find("told"), routes.length ? `${several(routes.length, "route")} found.` : "No route found.");
  // The focus stays on a route that is being read.
  if (!find("results").contains(document.activeElement)) find(routes.length ? "results_title" : "nothing").focus();
  return found;
}

/**
 * Shows what is told of a search while it goes on, not more often than is pleasant.
 * @param {Store<State>} store
 * @param {Record<string, any>} asked
 * @param {(found: import("../routes/results.js").Found) => void} take
 * @returns {import("./search.js").Listener}
 */
function gatherer(store, asked, take) {
  const gathering = new PartialAnswer(asked.search_smiles);
  let isDue = false;
  const show = () => {
    isDue = false;
    if (!store.state.running || store.state.found?.asked === asked && !store.state.found.unfinished) return;
    const answer = gathering.answer();
    take({ answer, bytes: JSON.stringify(answer, null, 1), routes: routesOf(answer), offers: new Map(), asked, unfinished: "growing" });
  };
  return {
    progress: (progress) => store.state.running && store.set({ running: { ...store.state.running, progress } }),
    route: (route) => {
      gathering.add(route);
      if (!isDue) setTimeout(show, PAUSE);
      isDue = true;
    },
  };
}

/**
 * The login has ended; what was typed is kept, a session of the browser gives another login without a word, and the search goes on then.
 * @param {Store<State>} store
 * @param {import("../service/service.js").Service} service
 */
function logInAgain(store, service) {
  if (service.isNew()) return store.set({ notice: "The service refuses its own token: check its clock." });
  sessionStorage.setItem(DRAFT, JSON.stringify({ text: store.state.text, marks: store.state.marks, typed: store.state.typed, goesOn: true }));
  service.logIn();
}

/**
 * The marks for the target as it is now; as they were while it cannot be read.
 * @param {State} state
 */
function marksOf({ text, marks }) {
  try {
    if (!text.trim()) return UNMARKED;
    const smiles = smilesOf(text);
    if (smiles !== marks.smiles) read(smiles);
    return carriedOver(marks, smiles);
  } catch (fault) {
    if (!(fault instanceof Unreadable)) throw fault;
    return marks;
  }
}

/** @param {State} state */
function body({ text, marks, typed }) {
  try {
    const asked = request(smilesOf(text), typed);
    if (isMarked(marks)) Object.assign(asked.body, requestOf(carriedOver(marks, read(text) && smilesOf(text))));
    return text.trim() ? asked : { ...asked, faults: { ...asked.faults, search_smiles: "Draw or enter a target." } };
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
  store.set({ faults, composing: true });
  /** @type {HTMLElement | null} */ (document.querySelector("[aria-invalid=true]"))?.focus();
}

/**
 * @param {State} state
 * @returns {Past["before"]}
 */
const kept = ({ text, marks, typed, found }) => ({ text, marks, typed, found });

/**
 * Asks one thing more of routes, for the next search.
 * @param {Store<State>} store
 * @param {string} setting
 * @param {string} line
 * @param {string} words
 */
function ask(store, setting, line, words) {
  const typed = withLine(store.state.typed, setting, line);
  if (typed === store.state.typed) return;
  store.set({ typed, past: [...store.state.past, { words, isChange: true, before: kept(store.state) }] });
  say(find("told"), `For the next search: ${words}.`);
}

/**
 * Has a person choose what a molecule of a route is made of, which is a route of its own then.
 * @param {Store<State>} store
 * @param {import("../service/service.js").Service} service
 * @param {import("../answer/answer.js").Route} route
 * @param {string} smiles
 * @param {import("./precursors.js").Choice} choice
 */
async function remake(store, service, route, smiles, choice) {
  const set = await choosePrecursors(service, smiles, choice);
  const { found } = store.state;
  if (!set || !found?.routes.includes(route)) return;
  const known = await knownOf(service, set, found.asked.ships_to ?? null);
  const hand = routeByHand(grafted(route.graph, smiles, set, known), 1 + found.routes.filter((one) => one.backbone === BY_HAND).length);
  const offers = new Map([...found.offers, ...[...known.sold.values()].map(({ building_block_idx, offers }) => /** @type {const} */ ([building_block_idx ?? -1, offers]))]);
  store.set({
    found: { ...found, offers, routes: [hand, ...found.routes.filter((one) => one.key !== hand.key)], first: hand.key },
    past: [...store.state.past, { words: "the step by hand", isChange: false, before: kept(store.state) }],
  });
}

/**
 * Has a person choose a block that is like one of a route, and shows the route to what comes out with it.
 * @param {Store<State>} store
 * @param {import("../service/service.js").Service} service
 * @param {TargetEditor} target
 * @param {import("../answer/answer.js").Route} route
 * @param {string} block
 */
async function vary(store, service, target, route, block) {
  const made = await chooseAnalogue(service, route.graph, block, store.state.found?.asked.ships_to ?? null);
  const { found } = store.state;
  if (!made || !found?.routes.includes(route)) return;
  const before = kept(store.state);
  const hand = routeByHand(made.route, 1);
  // Constraints on the old target's bonds and blocks have no meaning for this one.
  const { bonds_to_break: _broken, bonds_to_keep: _kept, building_blocks_required: _required, ...asked } = found.asked;
  target.set(made.target);
  history.replaceState(null, "", "#/plan");
  store.set({
    found: {
      answer: { search_smiles: made.target, metadata: {}, route_hierarchy: {}, pricing_annotations: [] }, bytes: JSON.stringify(made.route, null, 1), routes: [hand],
      offers: new Map([...found.offers, [made.sold.building_block_idx, made.sold.offers]]), asked: { ...asked, search_smiles: made.target }, first: hand.key,
      how: `${nameOf(route)} with a similar block`,
    },
    past: [...store.state.past, { words: "the similar block", isChange: false, before }],
  });
}

/**
 * @param {Store<State>} store
 * @param {TargetEditor} target
 */
function undo(store, target) {
  const last = store.state.past.at(-1);
  if (!last || store.state.running) return;
  if (last.before.text !== store.state.text) target.set(last.before.text);
  store.set({ ...last.before, past: store.state.past.slice(0, -1), faults: {}, notice: "" });
  say(find("told"), `Undone: ${last.words}.`);
}

/**
 * Shows what the next search is asked for that the last was not, and what can be undone.
 * @param {Past[]} past
 * @param {boolean} isRunning
 */
function showPast(past, isRunning) {
  const changes = past.filter(({ isChange }) => isChange);
  find("changes").hidden = past.length === 0;
  find("changed").replaceChildren(...changes.map(({ words }) => make("li", { className: "chip alone" }, words)));
  find("again").hidden = changes.length === 0;
  find("again").disabled = find("undo").disabled = isRunning;
  say(find("undo"), past.length ? `Undo ${past[past.length - 1].words}` : "Undo");
}

let clock = 0;

/** @param {State["running"]} running */
function showRunning(running) {
  clearInterval(clock);
  const begins = find("bar").hidden && running !== null;
  find("run").hidden = running !== null;
  find("bar").hidden = running === null;
  if (!running) return;
  const tick = () => {
    const passed = (performance.now() - running.begun) / 1000;
    find("elapsed").value = Math.min(passed, running.seconds);
    find("elapsed").max = running.seconds;
    say(find("elapsed_text"), [passed < running.seconds ? `Searching: ${passed.toFixed(1)} of at most ${running.seconds} s` : `Writing the answer: ${passed.toFixed(1)} s`, ...told(running.progress)].join(" · "));
  };
  tick();
  clock = setInterval(tick, 100);
  if (begins) find("stop").focus();
}

/** @param {import("./search.js").Progress | null} progress */
function told(progress) {
  if (!progress) return [];
  const { expansions, molecules, depth, routes, best_cost } = progress;
  const best = best_cost === null ? "" : `, the best at cost ${significant(best_cost)}`;
  return [several(expansions, "expansion"), several(molecules, "molecule"), `${several(depth, "step")} deep`, `${several(routes, "route")}${best}`];
}
