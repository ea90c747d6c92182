// @ts-check
// One search from request to end: an answer, faults of the request, or the reason why there is neither.
//
// If the service streams events, they are shown as they come, and a lost connection is resumed. Otherwise the page waits for the answer.

import { expanded } from "../answer/compact_answer.js";
import { events } from "../service/event_stream.js";
import { Refused, refusal } from "../service/login.js";
import { why } from "../service/service.js";

/** Beyond the time of the search itself, seconds: to wait for its turn and to write the answer down. */
const SLACK = 120;
/** So often a connection that is lost is made anew before the search is given up, and the first pause before that, milliseconds. */
const ATTEMPTS = 5;
const PAUSE = 300;

/** @typedef {{kind: "answer", answer: import("../answer/answer.js").Answer, bytes: string, id: string | null} | {kind: "faults", faults: Record<string, string>} | {kind: "stopped"} | {kind: "lost", why: string} | {kind: "ended"}} Outcome `id`: by which the service knows the search; null where it has not told of it */
/** @typedef {{seconds: number, expansions: number, molecules: number, depth: number, routes: number, best_cost: number | null}} Progress */
/** @typedef {{progress: (progress: Progress) => void, route: (route: import("../answer/partial_answer.js").FoundRoute) => void}} Listener */

/**
 * @param {import("../service/login.js").Session} session
 * @param {Record<string, any>} body
 * @param {AbortSignal} stop whose abort cancels the search
 * @param {Listener} listener
 * @returns {Promise<Outcome>}
 */
export async function search(session, body, stop, listener) {
  const timeout = AbortSignal.timeout(1000 * ((Number(body.max_seconds) || 0) + SLACK));
  const signal = AbortSignal.any([stop, timeout]);
  try {
    const first = await session.open("/synth/v1/treesearch?view=compact", { method: "POST", body, accept: "text/event-stream, application/json;q=0.9", signal });
    const isStream = first.headers.get("content-type")?.startsWith("text/event-stream");
    const answer = expanded(isStream ? await followed(session, first, signal, listener) : await first.json());
    const id = (isStream && first.headers.get("content-location")?.split("/").at(-2)) || null;
    return { kind: "answer", answer, bytes: JSON.stringify(answer, null, 1), id };
  } catch (fault) {
    if (stop.aborted) return { kind: "stopped" };
    if (timeout.aborted) return { kind: "lost", why: "The service did not answer in time." };
    if (!(fault instanceof Refused)) return { kind: "lost", why: why(fault) };
    if (fault.status === 401) return { kind: "ended" };
    if (fault.status === 422) return { kind: "faults", faults: byField(fault, body) };
    return { kind: "lost", why: why(fault) };
  }
}

/**
 * The compact answer at the end of an event stream, however often the connection to it is lost.
 * @param {import("../service/login.js").Session} session
 * @param {Response} first
 * @param {AbortSignal} signal
 * @param {Listener} listener
 */
async function followed(session, first, signal, listener) {
  const address = first.headers.get("content-location");
  let last = "";
  for (let [answer, failures] = [/** @type {Response | null} */ (first), 0]; ; failures++) {
    try {
      answer ??= await session.open(address ?? "", { accept: "text/event-stream", headers: { "Last-Event-ID": last }, signal });
      for await (const { id, event, data } of events(/** @type {ReadableStream<Uint8Array>} */ (answer.body))) {
        [last, failures] = [id, 0];
        const told = JSON.parse(data);
        if (event === "answer") return told;
        if (event === "problem") throw refusal(told.status, told);
        if (event === "progress" || event === "route") listener[event](told);
      }
    } catch (fault) {
      if (fault instanceof Refused || signal.aborted) throw fault;
    }
    if (!address || failures >= ATTEMPTS) throw new Error("the stream is lost");
    answer = null;
    await pause(PAUSE * 2 ** failures, signal);
  }
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 */
function pause(milliseconds, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), done(null)), { once: true });
  });
}

/** Fields of the request that are no fields of the form, and where what is wrong with them is said. */
const PLACES = /** @type {Record<string, string>} */ ({ bonds_to_break: "marking", bonds_to_keep: "marking" });

/**
 * The words of the service by field, with the item of a list that they are about; what has no field of its own stands at the target.
 * @param {Refused} fault
 * @param {Record<string, any>} body
 */
function byField(fault, body) {
  /** @type {Record<string, string>} */
  const faults = {};
  for (const { loc: [, field, place], msg } of fault.faults) {
    const name = typeof field !== "string" ? "search_smiles" : PLACES[field] ?? (field in body ? field : "search_smiles");
    const item = typeof field === "string" && typeof place === "number" ? body[field]?.[place] : null;
    const about = typeof item === "string" ? `${item}: ` : item?.smiles ? `${item.smiles}: ` : "";
    faults[name] = [faults[name], `${about}${msg}.`].filter(Boolean).join(" ");
  }
  return Object.keys(faults).length ? faults : { search_smiles: fault.message };
}
