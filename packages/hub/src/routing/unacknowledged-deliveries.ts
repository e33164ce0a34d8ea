import { WaybillError } from "@waybill/protocol";
import type { AgentSession } from "./agent-session.ts";

/**
 * What is held in memory until agents say that it has arrived, of all of them together. Beyond a bound
 * the one that leaves the most unread is let go: it finds everything in its inbox.
 */
export class UnacknowledgedDeliveries {
  readonly #most: number;
  readonly #attached: ReadonlyMap<string, AgentSession>;
  #characters = 0;

  constructor(most: number, attached: ReadonlyMap<string, AgentSession>) {
    this.#most = most;
    this.#attached = attached;
  }

  hold(more: number): void {
    this.#characters += more;
    if (more <= 0 || this.#characters <= this.#most) return;
    let heaviest: AgentSession | undefined;
    for (const each of this.#attached.values()) {
      if (each.unseenCharacters > (heaviest?.unseenCharacters ?? 0)) heaviest = each;
    }
    heaviest?.end(
      new WaybillError(
        413,
        `${heaviest.agent} has left ${heaviest.unseenCharacters} characters unread, more than any other agent, and this hub has no memory for more. They stay in its inbox: attach again to get them.`,
      ),
    );
  }
}
