import type { Store } from "@waybill/hub";

type Method = (...given: unknown[]) => Promise<unknown>;

/** The same store, with each of its calls wrapped. */
function throughout(store: Store, call: (name: keyof Store, method: Method) => Method): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const member: unknown = target[name];
      if (typeof member !== "function") return member;
      const method = member.bind(target) as Method;
      return name === "onCommit" ? method : call(name, method);
    },
  });
}

/** A store that counts what is read from it. */
export class CountedStore {
  readonly store: Store;
  /** The characters that reads have returned since `reset`. */
  characters = 0;
  readonly #calls = new Map<keyof Store, number>();

  constructor(store: Store) {
    this.store = throughout(store, (name, method) => async (...given) => {
      this.#calls.set(name, this.calls(name) + 1);
      const answer = await method(...given);
      if (name !== "commit") this.characters += (JSON.stringify(answer) ?? "").length;
      return answer;
    });
  }

  /** How often a function was called since `reset`. */
  calls(name: keyof Store): number {
    return this.#calls.get(name) ?? 0;
  }

  reset(): void {
    this.#calls.clear();
    this.characters = 0;
  }
}

/** A store whose commits can be held back. */
export class SlowCommits {
  readonly store: Store;
  #released = Promise.resolve();
  #release = (): void => undefined;

  constructor(store: Store) {
    this.store = throughout(store, (name, method) =>
      name === "commit" ? (commit) => this.#released.then(() => method(commit)) : method,
    );
  }

  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#released, this.#release] = [promise, resolve];
  }

  release(): void {
    this.#release();
  }
}
