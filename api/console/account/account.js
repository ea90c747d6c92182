// @ts-check
// The part "Account": person, organisation, scopes, and the way to tokens for scripts. Only the pages of the authorization server end logins and make
// tokens, since no token of an application may do that.

import { why } from "../service/service.js";
import { known, make } from "../shared/elements.js";
import { Notice } from "../shared/notice.js";

/** Scopes in words. @type {Record<string, string>} */
const MEANINGS = {
  "generator_api.samples:create": "draw molecules", "generator_api.samples:read": "read samples", "generator_api.samples:delete": "delete samples", "generator_api.models:read": "read models",
  "synth_api.plans:create": "create plans and batches", "synth_api.plans:read": "read plans and batches", "synth_api.plans:delete": "cancel and delete plans and batches",
  "synth_api.routes:create": "keep routes", "synth_api.routes:read": "read kept routes", "synth_api.routes:update": "change kept routes", "synth_api.routes:delete": "delete kept routes",
  "synth_api.queries:create": "run bulk queries and search the catalogue",
  operations: "operate the installation", openid: "know who you are", email: "know your e-mail address", profile: "know your name",
};

/** @type {import("../app/parts.js").Begin} */
export function begin(place, service) {
  const person = make("dl", { className: "known" });
  const notice = new Notice();
  const leave = make("button", { type: "button", className: "plain" }, "Log out of this browser");
  leave.addEventListener("click", () => service.session.end());
  place.append(notice.element,
    make("section", { className: "panel", "aria-labelledby": "person_title" }, make("h2", { id: "person_title" }, "You"), person,
      make("div", { className: "acts" }, make("a", { className: "button", href: "/auth/account" }, "Logins and applications"), leave)),
    make("section", { className: "panel", "aria-labelledby": "scripts_title" }, make("h2", { id: "scripts_title" }, "Scripts"),
      make("p", {}, "A script uses a token of its own, with a name, scopes and an expiry date. You create and end tokens on the page of your logins."),
      make("p", { className: "acts" }, make("a", { className: "button", href: "/auth/account#tokens" }, "Tokens for scripts")),
      make("p", {}, "The command line can log in as you. It gets, renews and ends a token of yours. From this machine:"),
      make("pre", { className: "commands", tabIndex: 0 }, commands()),
      make("p", {}, make("a", { href: "/docs" }, "The reference"), " lists every operation. You can try each there.")));

  async function look() {
    try {
      const { sub, email, name, organisation } = await service.get("/auth/userinfo");
      const may = service.session.scopes.map((scope) => MEANINGS[scope] ?? scope).join(", ");
      const since = new Date(service.session.begun).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
      person.replaceChildren(...known([["E-mail address", email], ["Name", name], ["Organisation", organisation ?? "none"], ["Account", sub], ["This login may", `search for routes, ${may}`], ["Logged in here", since]]));
      notice.tell("");
    } catch (fault) {
      notice.tell(why(fault));
    }
  }
  return { show: look };
}

function commands() {
  return `retort login --api ${location.origin}
curl -H "Authorization: Bearer $(retort token)" -H 'Content-Type: application/json' \\
     -d '{"search_smiles": "CC(=O)Nc1ccc(O)cc1"}' ${location.origin}/synth/v1/treesearch`;
}
