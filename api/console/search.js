// @ts-check
// One search from its request to its end: an answer, what was wrong with the request, or why there is neither.

import { Refused } from "./login.js";

/** Beyond the time of the search itself, seconds: to wait for its turn and to write the answer down. */
const SLACK = 120;

/** @typedef {{kind: "answer", answer: import("./answer.js").Answer, bytes: string} | {kind: "faults", faults: Record<string, string>} | {kind: "stopped"} | {kind: "lost", why: string} | {kind: "ended"}} Outcome */

/**
 * @param {import("./login.js").Session} session
 * @param {Record<string, any>} body
 * @param {AbortSignal} stop whose abort cancels the search
 * @returns {Promise<Outcome>}
 */
export async function search(session, body, stop) {
  const patience = AbortSignal.timeout(1000 * ((Number(body.max_seconds) || 0) + SLACK));
  try {
    const answer = await session.send("/synth/v1/treesearch", body, AbortSignal.any([stop, patience]));
    return { kind: "answer", answer, bytes: JSON.stringify(answer, null, 1) };
  } catch (fault) {
    if (stop.aborted) return { kind: "stopped" };
    if (patience.aborted) return { kind: "lost", why: "The service did not answer in time." };
    if (!(fault instanceof Refused)) return { kind: "lost", why: "The service does not answer." };
    if (fault.status === 401) return { kind: "ended" };
    if (fault.status === 422) return { kind: "faults", faults: byField(fault) };
    const again = fault.retryAfter > 0 ? ` Try again in ${fault.retryAfter} s.` : "";
    return { kind: "lost", why: `${fault.message}.${again}` };
  }
}

/**
 * The words of the service by field; what has no field of its own stands at the target.
 * @param {Refused} fault
 */
function byField(fault) {
  /** @type {Record<string, string>} */
  const faults = {};
  for (const { loc, msg } of fault.faults) {
    const name = typeof loc[1] === "string" ? loc[1] : "search_smiles";
    faults[name] = [faults[name], `${msg}.`].filter(Boolean).join(" ");
  }
  return Object.keys(faults).length ? faults : { search_smiles: fault.message };
}
