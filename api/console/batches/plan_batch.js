// @ts-check
// Batches of plans: how the list and the view show one.

import { count, duration, several } from "../shared/numbers.js";
import { BatchPlans, PLAN_BATCHES } from "./batch_plans.js";

/** @typedef {{pending: number, processing: number, completed: number, failed: number, cancelled: number, seconds_left: number | null}} Progress */
/** @typedef {{id: string, name: string | null, description: string | null, created_at: string, updated_at: string, plan_count: number, progress?: Progress}} PlanBatch */

/**
 * @param {import("../service/service.js").Service} service
 * @returns {import("./batch_view.js").Kind<PlanBatch>}
 */
export function planBatches(service) {
  return {
    path: PLAN_BATCHES,
    label: "Batch of plans",
    title: ({ name, plan_count }) => name || several(plan_count, "molecule"),
    about: ({ plan_count }) => count(plan_count),
    standing,
    cancel: "Cancel remaining plans",
    deleting: "Its plans and their results are deleted for good.",
    contents: new BatchPlans(service),
  };
}

/**
 * @param {PlanBatch} batch
 * @returns {import("./batch_view.js").Standing}
 */
function standing({ plan_count, progress }) {
  const { pending, processing, completed, failed, cancelled, seconds_left } = /** @type {Progress} */ (progress);
  const isGoing = pending + processing > 0;
  return {
    all: [plan_count, "molecule"],
    parts: [[completed, "done"], [processing, "searching"], [pending, "waiting"], [failed, "failed"], [cancelled, "cancelled"]],
    ended: completed + failed + cancelled,
    isGoing,
    mayResume: cancelled > 0,
    note: !isGoing ? "" : seconds_left === null ? "An estimate follows when the first plan has ended." : `About ${duration(seconds_left)} left`,
  };
}
