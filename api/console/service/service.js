// @ts-check
// Calls of the service. If a login has ended, the browser's session gives another one without a question, and the page comes back where it was.

import { logIn, Refused } from "./login.js";

/** A token that is refused so soon after its login will not be better next time, milliseconds. */
const TOO_SOON = 30000;

export class Service {
  /**
   * @param {import("./login.js").Session} session
   * @param {string[]} scopes what it was asked to be allowed
   */
  constructor(session, scopes) {
    this.session = session;
    this.scopes = scopes;
  }

  /**
   * The JSON at `path`.
   * @param {string} path
   */
  get(path) {
    return this.#orLogIn(this.session.get(path));
  }

  /**
   * Has the service do what stands at `path`.
   * @param {string} path
   */
  post(path) {
    return this.#orLogIn(this.session.post(path));
  }

  /**
   * Sends `body` to `path`; the JSON that comes back, as long as `signal` lets it.
   * @param {string} path
   * @param {object} body
   * @param {AbortSignal} signal
   */
  send(path, body, signal) {
    return this.#orLogIn(this.session.send(path, body, signal));
  }

  /**
   * Changes what is at `path`; the JSON of what that is now.
   * @param {string} path
   * @param {object} change
   */
  change(path, change) {
    return this.#orLogIn(this.session.change(path, change));
  }

  /**
   * Deletes what is at `path`.
   * @param {string} path
   */
  remove(path) {
    return this.#orLogIn(this.session.remove(path));
  }

  /**
   * @template T
   * @param {Promise<T>} answer
   */
  async #orLogIn(answer) {
    try {
      return await answer;
    } catch (fault) {
      if (fault instanceof Refused && fault.status === 401 && !this.isNew()) await this.logIn();
      throw fault;
    }
  }

  /** True if the login is so new that another would not help. */
  isNew() {
    return Date.now() - this.session.begun < TOO_SOON;
  }

  /** Leaves the page for another login, and comes back. */
  logIn() {
    return logIn(this.scopes);
  }
}

/**
 * The reason of an error, as a sentence.
 * @param {unknown} fault
 */
export function why(fault) {
  if (!(fault instanceof Refused)) return "The service does not answer.";
  const again = fault.retryAfter > 0 ? ` Try again in ${fault.retryAfter} s.` : "";
  return `${fault.message.replace(/\.$/, "")}.${again}`;
}
