// @ts-check
// The operator's page: polls `/operations/v1/state` every two seconds while it is visible, and updates in place.

import { LoginRefused, logIn, Refused } from "../service/login.js";
import { ask, find, keep, make, nameRoles, pair, row, say } from "../shared/elements.js";
import { count, duration } from "../shared/numbers.js";

/** @typedef {{queue: string, waiting: number, busy: number, slots: number, oldest_wait_seconds: number, paused: {since: string, by: string} | null}} Queue */
/** @typedef {{id: string, queue: string, account: string, kind: string, model_id: string | null, state: "waiting" | "running", attempts: number, enqueued_at: string, started_at: string | null, deadline: string, worker: string | null}} Job */
/** @typedef {{id: string, queue: string, account: string, model_id: string | null, attempts: number, failed_at: string, problem: string, error: string}} Failure */
/** @typedef {{name: string, queue: string, host: string | null, started_at: string, last_seen: string, live: boolean, slots: number, more_places: number, models: string[], holds: string[]}} Worker */
/** @typedef {{model_id: string, ready: number, target: number | null}} Reservoir */
/** @typedef {{version: number, building_blocks: number, offers: number, imported_at: string | null}} Catalogue */
/** @typedef {{at: string, queues: Queue[], workers: Worker[], jobs: Job[], jobs_total: number, failures: Failure[], failures_total: number, reservoirs: Reservoir[], catalogue: Catalogue}} State */

const SCOPES = ["operations", "openid", "email"];
const EVERY = 2000;
/** Words for queues whose names say little. @type {Record<string, string>} */
const WORDS = { order: "asynchronous sample", plan: "background search", look: "bulk query" };
/** @param {string} queue */
const wordsOf = (queue) => WORDS[queue] ?? queue;
/** A failure of so many seconds ago is news. */
const NEWS = 600;
/** A token that is refused so soon after its login will not be better next time. */
const TOO_SOON = 30000;

/** @type {import("../service/login.js").Session} */
let session;
/** Which look counts: what an earlier one finds is old. */
let looks = 0;
let timer = 0;

for (const table of document.querySelectorAll("table")) nameRoles(table);
begin();

async function begin() {
  try {
    session = await logIn(SCOPES);
    const person = session.scopes.includes("openid") ? await session.get("/auth/userinfo") : {};
    say(find("account"), person.email ?? "");
    find("who").hidden = false;
    find("logout").addEventListener("click", () => session.end());
    if (!session.scopes.includes("operations")) return lacksScope(person.email);
    document.addEventListener("visibilitychange", look);
    await look();
  } catch (fault) {
    if (fault instanceof LoginRefused) return fault.message.includes("may not") ? lacksScope() : refused(fault.message);
    console.error(fault);
    refused("the service does not answer");
  }
}

/** @param {string} [email] */
function lacksScope(email) {
  say(find("freshness"), "Not for this account");
  notice(`${email ?? "This account"} may not see this page. An administrator can allow it: `,
    make("code", {}, `retort account scopes ${email ?? "EMAIL"} --operator`));
}

/** @param {string} why */
function refused(why) {
  say(find("freshness"), "Not logged in");
  const again = make("button", { type: "button" }, "Try again");
  again.addEventListener("click", () => location.reload());
  notice(`Login failed: ${why}. `, again);
}

/** @param {(string | Node)[]} parts */
function notice(...parts) {
  find("notice").replaceChildren(...parts);
  find("notice").hidden = parts.length === 0;
}

/** Looks now, and again and again while the page is seen. */
async function look() {
  const mine = ++looks;
  clearTimeout(timer);
  if (document.hidden) return fresh("", "Paused while the page is hidden");
  /** @type {{state?: State, fault?: unknown}} */
  const { state, fault } = await session.get("/operations/v1/state").then((state) => ({ state }), (fault) => ({ fault }));
  if (mine !== looks) return;
  if (state) {
    show(state);
    notice();
    fresh("live", `Live, as of ${new Date(state.at).toLocaleTimeString("en-GB")}`);
  }
  const pause = state ? EVERY : whatNow(fault);
  if (pause > 0) timer = setTimeout(look, pause);
}

/**
 * Says what is wrong, and in how long to look again; 0: never.
 * @param {unknown} fault
 */
function whatNow(fault) {
  const status = fault instanceof Refused ? fault.status : 0;
  if (status === 401) {
    // The login has ended; a session of the browser gives another without a word.
    if (Date.now() - session.begun > TOO_SOON) logIn(SCOPES);
    else refused("the service refuses its own token; check its clock");
    return 0;
  }
  if (status === 403) {
    lacksScope();
    find("state").hidden = true;
    return 0;
  }
  fresh("lost", fault instanceof Refused ? fault.message : "The service does not answer. Trying again");
  return Math.max(EVERY, 1000 * (fault instanceof Refused ? fault.retryAfter || 0 : 0));
}

/**
 * @param {string} kind
 * @param {string} text
 */
function fresh(kind, text) {
  find("freshness").className = `freshness ${kind}`;
  say(find("freshness"), text);
}

/** @param {State} state */
function show(state) {
  const since = (/** @type {string} */ time) => (Date.parse(state.at) - Date.parse(time)) / 1000;
  find("state").hidden = false;
  const [kind, words] = verdict(state, since);
  find("verdict").className = `verdict ${kind}`;
  say(find("verdict"), words);
  keep(find("queues"), state.queues, (queue) => queue.queue, newQueue, (card, queue) => showQueue(card, queue, since));
  table("jobs", state.jobs, (job) => job.id, newJob, (line, job) => showJob(line, job, since), state.jobs_total);
  table("failures", state.failures, (job) => job.id, newFailure, (line, job) => showFailure(line, job, since), state.failures_total);
  table("workers", state.workers, (worker) => worker.name, newWorker, (line, worker) => showWorker(line, worker, since), state.workers.length);
  keep(find("reservoirs"), state.reservoirs, (one) => one.model_id, newReservoir, showReservoir);
  find("reservoirs").hidden = state.reservoirs.length === 0;
  find("reservoirs_none").hidden = state.reservoirs.length > 0;
  const { catalogue } = state;
  facts(find("catalogue"), [
    ["Building blocks", count(catalogue.building_blocks)],
    ["Offers", count(catalogue.offers)],
    ["Version", count(catalogue.version)],
    ["Imported", catalogue.imported_at ? `${duration(since(catalogue.imported_at))} ago` : "not known"],
  ]);
}

/**
 * The summary that an operator needs first.
 * @param {State} state
 * @param {(time: string) => number} since
 * @returns {[string, string]}
 */
function verdict(state, since) {
  const names = (/** @type {Queue[]} */ queues) => queues.map(({ queue }) => wordsOf(queue)).join(" and ");
  const unserved = state.queues.filter((queue) => queue.slots === 0);
  if (unserved.length) return ["bad", `No worker serves ${names(unserved)}.`];
  const paused = state.queues.filter((queue) => queue.paused);
  if (paused.length) return ["warn", `Paused: ${names(paused)}. New requests are refused until it is resumed.`];
  const news = state.failures.filter((job) => since(job.failed_at) < NEWS).length;
  if (news) return ["warn", `All queues are served. ${news === 1 ? "One job" : `${news} jobs`} failed within the last ten minutes.`];
  return ["", "All queues are served, and nothing has failed within the last ten minutes."];
}

/**
 * @template T
 * @param {string} id
 * @param {T[]} items
 * @param {(item: T) => string} key
 * @param {(item: T) => HTMLElement} create
 * @param {(element: any, item: T) => void} update
 * @param {number} total
 */
function table(id, items, key, create, update, total) {
  keep(find(id).tBodies[0], items, key, create, update);
  find(id).hidden = items.length === 0;
  find(`${id}_none`).hidden = items.length > 0;
  say(find(`${id}_count`), total > items.length ? `${count(items.length)} of ${count(total)}` : total ? count(total) : "");
}

/** @param {Queue} queue */
function newQueue({ queue }) {
  const tag = make("span", { className: "tag warn" }, "Paused");
  const button = make("button", { type: "button", className: "plain" });
  const figure = (/** @type {string} */ label) => {
    const value = make("dd");
    return { value, box: make("div", {}, make("dt", {}, label), value) };
  };
  const figures = { waiting: figure("waiting"), busy: figure("slots busy"), oldest: figure("longest wait") };
  const level = make("progress", { "aria-label": `Slots busy of ${wordsOf(queue)}` });
  const pause = make("p", { className: "pause" });
  const card = make("article", { className: "card", "aria-label": `Queue ${wordsOf(queue)}` },
    make("header", {}, make("h3", {}, wordsOf(queue)), tag, button),
    make("dl", { className: "figures" }, ...Object.values(figures).map((one) => one.box)), level, pause);
  button.addEventListener("click", () => turn(queue, card.classList.contains("paused")));
  return Object.assign(card, { tag, button, figures, level, pause });
}

/**
 * @param {any} card
 * @param {Queue} queue
 * @param {(time: string) => number} since
 */
function showQueue(card, queue, since) {
  const { paused } = queue;
  card.classList.toggle("paused", paused !== null);
  card.tag.hidden = card.pause.hidden = !paused;
  say(card.button, paused ? "Resume" : "Pause");
  card.button.className = paused ? "" : "plain";
  card.button.setAttribute("aria-label", `${paused ? "Resume" : "Pause"} ${wordsOf(queue.queue)}`);
  say(card.figures.waiting.value, count(queue.waiting));
  if (card.shown !== `${queue.busy}/${queue.slots}`) {
    card.shown = `${queue.busy}/${queue.slots}`;
    card.figures.busy.value.replaceChildren(count(queue.busy), make("small", {}, ` of ${count(queue.slots)}`));
  }
  say(card.figures.oldest.value, queue.waiting ? duration(queue.oldest_wait_seconds) : "–");
  card.level.max = Math.max(1, queue.slots);
  card.level.value = Math.min(queue.busy, queue.slots);
  if (paused) say(card.pause, `Paused by ${paused.by} ${duration(since(paused.since))} ago. Running jobs go on; others wait.`);
}

/**
 * @param {string} queue
 * @param {boolean} isPaused
 */
async function turn(queue, isPaused) {
  const agreed = isPaused || await ask({
    title: `Pause ${wordsOf(queue)}?`,
    text: "Running jobs go on. Waiting jobs wait until their deadlines. New requests are refused with status 503 until the queue is resumed.",
    yes: "Pause", no: "Let it run",
  });
  if (!agreed) return;
  await act(`/operations/v1/queues/${queue}/${isPaused ? "resume" : "pause"}`, isPaused ? `Resumed ${wordsOf(queue)}.` : `Paused ${wordsOf(queue)}.`);
}

/** Queue and kind of a job, in words. */
const work = (/** @type {{queue: string, model_id: string | null, kind?: string}} */ job) =>
  `${wordsOf(job.queue)} · ${job.model_id ?? (job.kind ?? "").replaceAll("_", " ")}`.replace(/ · $/, "");

const JOB = { job: "Job", account: "Account", state: "State", time: "Time", deadline: "Deadline" };

/** @param {Job} job */
function newJob(job) {
  const what = pair();
  what.second.classList.add("id");
  const state = pair();
  const tag = make("span", { className: "tag" });
  state.first.append(tag);
  const deadline = make("span", { className: "two" });
  const left = make("span", { className: "first" });
  const level = make("progress", { "aria-label": "Time used up" });
  deadline.append(left, level);
  const button = make("button", { type: "button", className: "plain", "aria-label": `Cancel ${job.id}` }, "Cancel");
  button.addEventListener("click", () => cancel(job));
  const line = row(JOB, { job: what, account: make("span"), state, time: make("span"), deadline, act: button });
  return Object.assign(line, { tag, left, level });
}

/**
 * @param {any} line
 * @param {Job} job
 * @param {(time: string) => number} since
 */
function showJob(line, job, since) {
  const cells = line.cells_by_name;
  say(cells.job.first, work(job));
  say(cells.job.second, job.id);
  say(cells.account, job.account);
  const runs = job.state === "running";
  line.tag.className = `tag ${runs ? "good" : ""}`;
  say(line.tag, runs ? "running" : "waiting");
  const attempts = job.attempts > 1 ? `attempt ${job.attempts}` : "";
  say(cells.state.second, [attempts, job.worker ? `on ${short(job.worker)}` : ""].filter(Boolean).join(", "));
  say(cells.time, duration(since(runs && job.started_at ? job.started_at : job.enqueued_at)));
  const left = -since(job.deadline);
  say(line.left, left >= 0 ? `in ${duration(left)}` : `${duration(-left)} ago`);
  line.level.max = Math.max(.001, since(job.enqueued_at) + left);
  line.level.value = since(job.enqueued_at);
  line.level.classList.toggle("short", left < line.level.max / 5);
}

/** The end of a worker's name tells it from others. */
const short = (/** @type {string} */ name) => name.replace(/-.*(.{6})$/, " …$1");

/** @param {Job} job */
async function cancel(job) {
  const agreed = await ask({
    title: "Cancel this job?", text: `${work(job)} of ${job.account}. The caller is told that an operator cancelled it.`,
    yes: "Cancel the job", no: "Let it go on", grave: true,
  });
  if (agreed) await act(`/operations/v1/jobs/${job.id}/cancel`, "Cancelled the job.");
}

const FAILURE = { job: "Job", account: "Account", error: "Error", time: "When" };

/** @param {Failure} job */
function newFailure(job) {
  const what = pair();
  what.second.classList.add("id");
  const error = pair();
  error.first.classList.add("error");
  const button = make("button", { type: "button", className: "plain", "aria-label": `Retry ${job.id}` }, "Retry");
  button.addEventListener("click", () => act(`/operations/v1/jobs/${job.id}/retry`, "The job is queued again."));
  return row(FAILURE, { job: what, account: make("span"), error, time: make("span", { className: "brief" }), act: button });
}

/**
 * @param {any} line
 * @param {Failure} job
 * @param {(time: string) => number} since
 */
function showFailure(line, job, since) {
  const cells = line.cells_by_name;
  say(cells.job.first, work(job));
  say(cells.job.second, job.id);
  say(cells.account, job.account);
  say(cells.error.first, job.error);
  say(cells.error.second, job.attempts === 0 ? "never started" : job.attempts === 1 ? "one attempt" : `${job.attempts} attempts`);
  say(cells.time, `${duration(since(job.failed_at))} ago`);
}

const WORKER = { worker: "Worker", state: "State", holds: "Jobs", serves: "Serves", started: "Started" };

function newWorker() {
  const name = pair();
  name.second.classList.add("id");
  const state = pair();
  const tag = make("span", { className: "tag" });
  state.first.append(tag);
  const line = row(WORKER, { worker: name, state, holds: pair(), serves: make("span"), started: make("span", { className: "brief" }) });
  return Object.assign(line, { tag });
}

/**
 * @param {any} line
 * @param {Worker} worker
 * @param {(time: string) => number} since
 */
function showWorker(line, worker, since) {
  const cells = line.cells_by_name;
  say(cells.worker.first, worker.host ? `${wordsOf(worker.queue)} on ${worker.host}` : wordsOf(worker.queue));
  say(cells.worker.second, worker.name);
  line.tag.className = `tag ${worker.live ? "good" : "bad"}`;
  say(line.tag, worker.live ? "live" : "gone");
  const silent = since(worker.last_seen);
  say(cells.state.second, silent < 2 ? "heartbeat just now" : `last heartbeat ${duration(silent)} ago`);
  say(cells.holds.first, `${worker.holds.length} of ${worker.slots}`);
  say(cells.holds.second, worker.more_places ? `and ${worker.more_places} more ${worker.more_places === 1 ? "slot" : "slots"}` : "");
  say(cells.serves, worker.models.join(", ") || "–");
  say(cells.started, `${duration(since(worker.started_at))} ago`);
}

/** @param {Reservoir} reservoir */
function newReservoir({ model_id }) {
  const amount = make("span", { className: "amount" });
  const level = make("progress", { "aria-label": `Molecules ready of ${model_id}` });
  return Object.assign(make("li", {}, make("span", {}, model_id), amount, level), { amount, level });
}

/**
 * @param {any} item
 * @param {Reservoir} reservoir
 */
function showReservoir(item, { ready, target }) {
  say(item.amount, target ? `${count(ready)} of ${count(target)} ready` : `${count(ready)} ready`);
  item.level.hidden = !target;
  item.level.max = target || 1;
  item.level.value = Math.min(ready, target || 1);
  item.level.classList.toggle("short", ready < (target ?? 0) / 5);
}

/**
 * @param {Element} list
 * @param {[string, string][]} rows
 */
function facts(list, rows) {
  keep(list, rows, ([name]) => name,
    ([name]) => {
      const value = make("dd");
      return Object.assign(make("div", {}, make("dt", {}, name), value), { value });
    },
    (line, [, text]) => say(line.value, text));
}

/**
 * Does it, says so, and looks what came of it.
 * @param {string} path
 * @param {string} done
 */
async function act(path, done) {
  try {
    await session.post(path);
    tell(done);
  } catch (fault) {
    const gone = fault instanceof Refused && fault.status === 404;
    tell(gone ? "It no longer exists." : fault instanceof Refused ? `${fault.message}.` : "The service does not answer.");
  }
  await look();
}

let quiet = 0;

/** @param {string} text */
function tell(text) {
  say(find("told"), text);
  clearTimeout(quiet);
  quiet = setTimeout(() => say(find("told"), ""), 6000);
}
