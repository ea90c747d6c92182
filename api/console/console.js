// @ts-check
// The page at `/`: logs in, says who is there, and begins its parts.

import { find, make, say } from "./elements.js";
import { LoginRefused, logIn } from "./login.js";

const SCOPES = ["operations", "openid", "email"];

begin();

async function begin() {
  try {
    // Before the way to the login and back, so that the browser has it by then.
    const part = import("./plan.js");
    const session = await logIn(SCOPES);
    const person = session.scopes.includes("openid") ? await session.get("/auth/userinfo") : {};
    say(find("account"), person.email ?? "");
    find("who").hidden = false;
    find("to_operations").hidden = !session.scopes.includes("operations");
    find("logout").addEventListener("click", () => session.end());
    (await part).plan(session, SCOPES);
    find("plan").hidden = false;
    find("waiting").hidden = true;
  } catch (fault) {
    if (!(fault instanceof LoginRefused)) console.error(fault);
    refused(fault instanceof LoginRefused ? fault.message : "the service does not answer");
  }
}

/** @param {string} why */
function refused(why) {
  const again = make("button", { type: "button" }, "Try again");
  again.addEventListener("click", () => location.reload());
  find("waiting").replaceChildren(`The login did not work: ${why}. `, again);
}
