// @ts-check
// The part "Plan" among the parts: its page as it is, the routes of a plan that was made before (`#/plan/pln_1`), or with a target that another part
// names (`#/plan/target/CCO`).

import { offersOf, routesOf } from "./answer.js";
import { plan } from "./plan.js";
import { why } from "./service.js";
import { answerOf } from "./stored.js";

/** @type {import("./parts.js").Begin} */
export function begin(_place, service) {
  const page = plan(service);
  let seen = "";
  /** What was opened last: a search since then shows something else. @type {ReturnType<typeof page.found>} */
  let opened = null;

  /** @param {string} id */
  async function open(id) {
    seen = id;
    try {
      const stored = await service.get(`/synth-batches/v1/plans/${encodeURIComponent(id)}`);
      if (seen !== id) return;
      if (!stored.result) return page.tell(stored.error ? `This plan failed: ${stored.error}.` : `This plan has no result: it is ${stored.status}.`);
      const answer = answerOf(stored.result);
      opened = { answer, bytes: JSON.stringify(stored.result, null, 1), routes: routesOf(answer), offers: offersOf(answer), asked: stored.parameters };
      page.open(opened);
    } catch (fault) {
      if (seen !== id) return;
      seen = "";
      page.tell(why(fault));
    }
  }

  return { show: ([id, smiles]) => {
    if (id === "target") {
      // It is taken once: what is made of it here stays when somebody comes back.
      history.replaceState(null, "", "#/plan");
      if (smiles) page.aim(smiles);
    } else if (id && (id !== seen || page.found() !== opened)) open(id);
  } };
}
