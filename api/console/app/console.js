// @ts-check
// Entry of the page at `/`: logs in, shows the account, and loads the part that the address names.

import { LoginRefused, logIn } from "../service/login.js";
import { Service } from "../service/service.js";
import { find, make, say } from "../shared/elements.js";
import { fetchPart, follow } from "./parts.js";

const SCOPES = [
  "operations", "openid", "email", "profile", "generator_api.samples:create", "generator_api.samples:read", "generator_api.samples:delete", "generator_api.models:read",
  "synth_api.plans:create", "synth_api.plans:read", "synth_api.plans:delete", "synth_api.routes:create", "synth_api.routes:read", "synth_api.routes:update",
  "synth_api.routes:delete", "synth_api.queries:create",
];

begin();

async function begin() {
  try {
    // Before the way to the login and back, so that the browser has it by then.
    fetchPart();
    const session = await logIn(SCOPES);
    const person = session.scopes.includes("openid") ? await session.get("/auth/userinfo") : {};
    say(find("account"), person.email ?? "");
    find("who").hidden = false;
    find("to_operations").hidden = !session.scopes.includes("operations");
    find("logout").addEventListener("click", () => session.end());
    await follow(new Service(session, SCOPES));
    (await import("./tour.js")).tour(find("plan"));
  } catch (fault) {
    if (!(fault instanceof LoginRefused)) console.error(fault);
    refused(fault instanceof LoginRefused ? fault.message : "the service does not answer");
  }
}

/** @param {string} why */
function refused(why) {
  const again = make("button", { type: "button" }, "Try again");
  again.addEventListener("click", () => location.reload());
  find("waiting").replaceChildren(`Login failed: ${why}. `, again);
}
