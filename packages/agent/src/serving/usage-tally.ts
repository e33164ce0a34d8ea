import { LIMITS, mergeUsage } from "@waybill/protocol";
import type { Usage, UsageRow } from "@waybill/protocol";
import type { Handle } from "../delegating/handle.ts";

/** Adds up what one attempt uses, including its children, for its result or its pause. */
export class UsageTally {
  #own: UsageRow[] = [];
  #earlier: UsageRow[] = [];
  #children: UsageRow[] = [];
  /** The counted children: one that is found again counts once. */
  readonly #counted = new Set<string>();

  add(row: UsageRow): void {
    this.#own = mergeUsage([...this.#own, row]);
  }

  /** Continues from the usage that the pause has recorded. */
  goOnFrom({ own = [], earlier = [], children = [], handoffs = [] }: Usage): void {
    this.#earlier = mergeUsage([...earlier, ...own]);
    this.#children = mergeUsage(children);
    for (const id of handoffs) this.#counted.add(id);
  }

  /** Counts a child once it has ended. */
  count(child: Handle): void {
    child.whenEnded(() => {
      const { id, usage } = child;
      if (usage === undefined || this.#counted.has(id)) return;
      this.#counted.add(id);
      this.#children = mergeUsage([...this.#children, ...usage.rows]);
    });
  }

  /** What the attempt itself has used so far. */
  get own(): readonly UsageRow[] {
    return this.#own;
  }

  /** The usage to report; undefined if nothing is known. */
  get usage(): Usage | undefined {
    const lists = {
      own: this.#own,
      earlier: this.#earlier,
      children: this.#children,
      handoffs: [...this.#counted].slice(0, LIMITS.fanOut),
    };
    const said = Object.entries(lists).filter(([, list]) => list.length > 0);
    return said.length === 0 ? undefined : Object.fromEntries(said);
  }
}
