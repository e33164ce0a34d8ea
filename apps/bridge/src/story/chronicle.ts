import type { StoryEvent } from "./event.ts";

type Condition = (events: readonly StoryEvent[]) => boolean;

/** The events so far, for code that waits for an event. */
export class Chronicle {
  readonly events: StoryEvent[] = [];
  readonly #tell: (event: StoryEvent) => void;
  readonly #waiting = new Map<() => void, Condition>();

  constructor(tell: (event: StoryEvent) => void) {
    this.#tell = tell;
  }

  add(event: StoryEvent): void {
    this.events.push(event);
    this.#tell(event);
    for (const [resolve, isMet] of this.#waiting) {
      if (!isMet(this.events)) continue;
      this.#waiting.delete(resolve);
      resolve();
    }
  }

  async until(isMet: Condition): Promise<void> {
    if (isMet(this.events)) return;
    await new Promise<void>((resolve) => this.#waiting.set(resolve, isMet));
  }
}
