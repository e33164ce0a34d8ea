import type { WireSubscription } from "./wire.ts";

/** The subscribers of topics. Those of a worker end with it. */
export class Subscriptions {
  readonly #all = new Map<string, { readonly owner: object; readonly wire: WireSubscription }>();

  add(owner: object, wire: WireSubscription): void {
    this.#all.set(wire.id, { owner, wire });
  }

  remove(id: string): void {
    this.#all.delete(id);
  }

  removeAllOf(owner: object): void {
    for (const [id, each] of this.#all) if (each.owner === owner) this.#all.delete(id);
  }

  list(): WireSubscription[] {
    return [...this.#all.values()].map(({ wire }) => wire);
  }

  /** The types of the agents that subscribe to a topic, each once. */
  hearing(topicType: string): Set<string> {
    const types = new Set<string>();
    for (const { exact, prefix } of this.list()) {
      if (exact?.topic_type === topicType) types.add(exact.agent_type);
      if (prefix && topicType.startsWith(prefix.topic_type_prefix)) types.add(prefix.agent_type);
    }
    return types;
  }
}

/** The subscription for direct messages, with which a worker completes the registration of a type. */
export function isDirect({ prefix }: WireSubscription): boolean {
  return prefix?.topic_type_prefix === `${prefix?.agent_type}:`;
}
