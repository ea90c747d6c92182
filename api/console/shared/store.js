// @ts-check
// State of a page in one place: watchers name the fields that they show.

/**
 * @template {object} State
 */
export class Store {
  #state;
  /** @type {{fields: (keyof State)[], show: (state: State) => void}[]} */
  #watchers = [];

  /** @param {State} state */
  constructor(state) {
    this.#state = state;
  }

  /** @returns {Readonly<State>} */
  get state() {
    return this.#state;
  }

  /**
   * Takes over `changes` and tells those who look at a field that is another now.
   * @param {Partial<State>} changes
   */
  set(changes) {
    const old = this.#state;
    this.#state = { ...old, ...changes };
    for (const { fields, show } of this.#watchers) {
      if (fields.some((field) => old[field] !== this.#state[field])) show(this.#state);
    }
  }

  /**
   * Calls `show` now, and whenever one of `fields` is another.
   * @param {(keyof State)[]} fields
   * @param {(state: State) => void} show
   */
  watch(fields, show) {
    this.#watchers.push({ fields, show });
    show(this.#state);
  }
}

/**
 * The set with `one` in it, or without where it was in it.
 * @template T
 * @param {Set<T>} some
 * @param {T} one
 */
export function toggled(some, one) {
  const changed = new Set(some);
  if (!changed.delete(one)) changed.add(one);
  return changed;
}
