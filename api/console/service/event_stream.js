// @ts-check
// Server-sent events from the body of any answer (HTML, "Server-sent events", "Interpreting an event stream"). The browser's own reader,
// `EventSource`, can neither send a body nor a bearer.

/** @typedef {{id: string, event: string, data: string}} ServerEvent `id`: the last one that the server gave */

/** Takes a stream apart, however it is cut into pieces. */
class EventReader {
  /** The beginning of a line whose end has not come yet: an answer is one of many megabytes, so it is put together once. @type {string[]} */
  #begun = [];
  #isFirst = true;
  #endedInReturn = false;
  #id = "";
  #event = "";
  /** @type {string[]} */
  #data = [];

  /**
   * The events that are complete with `text`.
   * @param {string} text
   * @returns {ServerEvent[]}
   */
  read(text) {
    if (!text) return [];
    const rest = this.#withoutCut(text);
    this.#isFirst = false;
    this.#endedInReturn = text.endsWith("\r");
    const events = [];
    const ends = /\r\n|\n|\r/g;
    let from = 0;
    for (let end; (end = ends.exec(rest)); from = ends.lastIndex) {
      const event = this.#line(this.#begun.join("") + rest.slice(from, end.index));
      if (event) events.push(event);
      this.#begun = [];
    }
    if (from < rest.length) this.#begun.push(rest.slice(from));
    return events;
  }

  /**
   * A piece without the mark at the very beginning, and without the other half of an end of line that was cut in two.
   * @param {string} text
   */
  #withoutCut(text) {
    if (this.#isFirst) return text.replace(/^\ufeff/, "");
    return this.#endedInReturn ? text.replace(/^\n/, "") : text;
  }

  /**
   * @param {string} line
   * @returns {ServerEvent | null}
   */
  #line(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const [name, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }

  #dispatch() {
    const event = { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
    const isOne = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    return isOne ? event : null;
  }
}

/**
 * The events of a body as they come in. What is left when nobody takes more of them is given up.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* events(body) {
  const pieces = body.getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const reader = new EventReader();
  try {
    for (;;) {
      const { done, value } = await pieces.read();
      if (done) return;
      yield* reader.read(decoder.decode(value, { stream: true }));
    }
  } finally {
    pieces.cancel().catch(() => {});
  }
}
