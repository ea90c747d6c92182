// @ts-check
// Logs a page of the console in at the service's own authorization server: code flow with PKCE (RFC 7636), as any web page would.
// The token is in this module's memory alone; what has to outlive the way there and back (verifier, state) is of no use to anybody else.

const CLIENT_ID = "console";
const KEPT = "retort.login";
/** JSON, with results of plans as the tree search answers them. */
const ACCEPT = "application/vnd.retort.treesearch+json, application/json";

/** A login that was not granted. */
export class LoginRefused extends Error {}

/** An answer that is none: its status, and the service's own words. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {number} retryAfter seconds
   * @param {{loc: (string | number)[], msg: string}[]} faults what is wrong with the request, each with its place
   */
  constructor(status, message, retryAfter, faults = []) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
    this.faults = faults;
  }
}

/**
 * The error of an answer with an error status.
 * @param {number} status
 * @param {any} told the body, as far as it is JSON
 * @param {number} [retryAfter] seconds
 */
export function refusal(status, told, retryAfter = 0) {
  const faults = Array.isArray(told?.detail) ? told.detail : [];
  const words = faults.map((/** @type {{msg: string}} */ fault) => fault.msg).join("; ");
  return new Refused(status, words || `The service answered ${status}`, retryAfter, faults);
}

/** Calls the service with the token of a login. */
export class Session {
  #token;

  /** @param {{access_token: string, scope: string}} answer */
  constructor(answer) {
    this.#token = answer.access_token;
    this.scopes = answer.scope.split(" ");
    this.begun = Date.now();
  }

  /**
   * The JSON at `path`.
   * @param {string} path
   */
  async get(path) {
    return (await this.#call(path, "GET")).json();
  }

  /**
   * Has the service do what stands at `path`.
   * @param {string} path
   */
  async post(path) {
    await this.#call(path, "POST");
  }

  /**
   * Sends `body` to `path` and waits for the JSON that comes back, as long as `signal` lets it.
   * @param {string} path
   * @param {object} body
   * @param {AbortSignal} signal
   */
  async send(path, body, signal) {
    return (await this.#call(path, "POST", { body: JSON.stringify(body), signal })).json();
  }

  /**
   * The answer to a request as it comes in, once its status says that it is one.
   * @param {string} path
   * @param {{method?: string, body?: object, accept: string, headers?: Record<string, string>, signal: AbortSignal}} how
   */
  open(path, { method = "GET", body, accept, headers = {}, signal }) {
    return this.#call(path, method, { body: body && JSON.stringify(body), headers: { ...headers, Accept: accept }, signal });
  }

  /**
   * Changes what is at `path`; the JSON of what that is now.
   * @param {string} path
   * @param {object} change
   */
  async change(path, change) {
    return (await this.#call(path, "PATCH", { body: JSON.stringify(change) })).json();
  }

  /**
   * Deletes what is at `path`.
   * @param {string} path
   */
  async remove(path) {
    await this.#call(path, "DELETE");
  }

  /** Ends the login, here and at the service; does not return. */
  async end() {
    const body = new URLSearchParams({ client_id: CLIENT_ID, token: this.#token });
    await fetch("/auth/revoke", { method: "POST", body }).catch(() => {});
    location.assign("/auth/logout");
  }

  /**
   * @param {string} path
   * @param {string} method
   * @param {{body?: string, headers?: Record<string, string>, signal?: AbortSignal}} [more]
   */
  async #call(path, method, { body, headers: more, signal = AbortSignal.timeout(15000) } = {}) {
    const headers = { Authorization: `Bearer ${this.#token}`, Accept: ACCEPT, ...(body && { "Content-Type": "application/json" }), ...more };
    const answer = await fetch(path, { method, headers, body, cache: "no-store", signal });
    if (answer.ok) return answer;
    throw refusal(answer.status, await answer.json().catch(() => null), Number(answer.headers.get("retry-after")));
  }
}

/**
 * A session that may do what `scopes` say, as far as the person's account may. Goes to the authorization server and comes back where
 * that is needed; then it does not return.
 * @param {string[]} scopes
 * @returns {Promise<Session>}
 */
export async function logIn(scopes) {
  const server = await (await fetch("/auth/.well-known/openid-configuration")).json();
  const home = new URL(server.issuer).origin;
  if (location.origin !== home) {
    // By another of its names the service would not know where to send the browser back to.
    location.replace(home + location.pathname + location.hash);
    return forever();
  }
  const answer = new URLSearchParams(location.search);
  const asked = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (answer.has("state") && asked && answer.get("state") === asked.state && answer.get("iss") === server.issuer) {
    sessionStorage.removeItem(KEPT);
    history.replaceState(null, "", location.pathname + (asked.part ?? ""));
    return redeem(server, answer, asked.verifier);
  }
  return goThere(server, scopes);
}

/**
 * @param {any} server
 * @param {URLSearchParams} answer
 * @param {string} verifier
 */
async function redeem(server, answer, verifier) {
  const code = answer.get("code");
  if (!code) throw new LoginRefused(answer.get("error_description") ?? answer.get("error") ?? "no code came back");
  const body = new URLSearchParams({
    grant_type: "authorization_code", client_id: CLIENT_ID, code, redirect_uri: here(), code_verifier: verifier,
  });
  const told = await fetch(server.token_endpoint, { method: "POST", body });
  const token = await told.json();
  if (!told.ok) throw new LoginRefused(token.error_description ?? token.error);
  return new Session(token);
}

/**
 * @param {any} server
 * @param {string[]} scopes
 */
async function goThere(server, scopes) {
  if (!globalThis.crypto?.subtle) {
    throw new LoginRefused("browsers allow this login only over https or on this machine");
  }
  const asked = { state: random(), verifier: random(), part: location.hash };
  const challenge = base64(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(asked.verifier)));
  sessionStorage.setItem(KEPT, JSON.stringify(asked));
  location.assign(`${server.authorization_endpoint}?${new URLSearchParams({
    response_type: "code", client_id: CLIENT_ID, redirect_uri: here(), scope: scopes.join(" "), state: asked.state,
    code_challenge: challenge, code_challenge_method: "S256",
  })}`);
  return forever();
}

function here() {
  return location.origin + location.pathname;
}

/** 256 random bits. */
function random() {
  return base64(crypto.getRandomValues(new Uint8Array(32)).buffer);
}

/** @param {ArrayBuffer} bytes */
function base64(bytes) {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The page goes elsewhere. */
function forever() {
  return new Promise(() => {});
}
