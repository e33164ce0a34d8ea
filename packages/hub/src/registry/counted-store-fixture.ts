import type { Store } from "../store.ts";

export interface CountedStore {
  readonly store: Store;
  /** How often each function was called since `reset`. */
  calls(name: keyof Store): number;
  /** The characters of all that reads gave since `reset`. */
  characters(): number;
  reset(): void;
}

/** The same store, with what is read of it counted. */
export function countedStore(store: Store): CountedStore {
  const calls = new Map<keyof Store, number>();
  let characters = 0;
  const counted = new Proxy(store, {
    get(target, name: keyof Store) {
      const member = target[name] as boolean | ((...given: unknown[]) => unknown);
      if (typeof member !== "function") return member;
      if (name === "onCommit") return member.bind(target);
      return async (...given: unknown[]) => {
        calls.set(name, (calls.get(name) ?? 0) + 1);
        const answer = await member.apply(target, given);
        if (name !== "commit") characters += (JSON.stringify(answer) ?? "").length;
        return answer;
      };
    },
  });
  return {
    store: counted,
    calls: (name) => calls.get(name) ?? 0,
    characters: () => characters,
    reset() {
      calls.clear();
      characters = 0;
    },
  };
}
