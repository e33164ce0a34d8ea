import { WaybillError } from "@waybill/protocol";
import type { AgentSession } from "./agent-session.ts";

/**
 * The deliveries in memory until they are acknowledged, over all agents. Beyond a limit the agent with
 * the most unread is disconnected: its inbox keeps everything.
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
