import { SortedSet } from "./sorted-set.ts";

/** An index from names to ids. Most names have a single id, which then needs no set. */
export class IdIndex {
  readonly #ids = new Map<string, string | SortedSet<string>>();

  add(name: string, id: string): void {
    const known = this.#ids.get(name);
    if (known === undefined) {
      this.#ids.set(name, id);
    } else if (typeof known !== "string") {
      known.add(id);
    } else if (known !== id) {
      const set = new SortedSet<string>(byText);
      set.add(known);
      set.add(id);
      this.#ids.set(name, set);
    }
  }

  delete(name: string, id: string): void {
    const known = this.#ids.get(name);
    if (known === id) this.#ids.delete(name);
    if (known === undefined || typeof known === "string") return;
    known.delete(id);
    if (known.isEmpty) this.#ids.delete(name);
  }

  /** The ids of a name in order, optionally after a given one. */
  *after(name: string, id: string | undefined): Generator<string> {
    const known = this.#ids.get(name);
    if (known === undefined) return;
    if (typeof known !== "string") yield* known.after(id);
    else if (id === undefined || known > id) yield known;
  }
}

export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
