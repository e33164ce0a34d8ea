import { isNextDelta } from "@waybill/protocol/wire";
import type { LastDelta, ShownDelta } from "@waybill/protocol/wire";
import type { DeltaEvent } from "./events.ts";
import { Stream } from "./stream.ts";

/** Ten seconds of deltas. */
const DELTAS_KEPT = 200;
/** More than any result can hold. Readers concatenate deltas, and a recipient must not fill their memory. */
const DELTA_CHARACTERS_SHOWN = 4 * 1024 * 1024;

/** What a recipient is writing, in order, for one reader. */
export class DeltaStream {
  readonly events: Stream<DeltaEvent> = new Stream<DeltaEvent>(DELTAS_KEPT);
  #last: LastDelta | undefined;
  #characters = 0;

  /** Shows the next piece. One that comes too late is dropped. */
  push({ attempt, number, text, by }: ShownDelta): void {
    const delta = { attempt, number, text, by };
    if (!isNextDelta(this.#last, delta)) return;
    this.#last = delta;
    this.#characters += text.length;
    if (this.#characters <= DELTA_CHARACTERS_SHOWN) this.events.push(delta);
  }

  end(): void {
    this.events.end();
  }
}
