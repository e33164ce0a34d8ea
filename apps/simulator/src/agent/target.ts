import type { World } from "../world/world.ts";

/** An outside system that recipients change. It ignores changes with a known key. */
export class Target {
  readonly #known = new Set<string>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  apply(handoffId: string, key: string): void {
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#world.trace.note(`effect of ${handoffId}`);
    this.#world.observe({ type: "effect", at: this.#world.now, handoff_id: handoffId, key });
  }
}
