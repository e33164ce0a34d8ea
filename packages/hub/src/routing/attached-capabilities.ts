import type { Measured } from "../registry/measured.ts";
import type { Registry } from "../registry/registry.ts";
import type { AgentSession } from "./agent-session.ts";
import { NameSet } from "./name-set.ts";
import { OfferingAgents } from "./offering-agents.ts";

/** For so many capabilities it is known who is here and offers them. */
const OFFERING_KEPT = 100;

/** What the attached agents offer: to pick among them, no other manifest matters. */
export class AttachedCapabilities {
  readonly #registry: Registry;
  readonly #measured: Measured;
  readonly #attached: ReadonlyMap<string, AgentSession>;
  readonly #offered = new WeakMap<AgentSession, NameSet>();
  /** By capability. */
  readonly #offering = new Map<string, OfferingAgents<AgentSession>>();
  readonly #learning = new WeakMap<AgentSession, number>();

  constructor(registry: Registry, measured: Measured, attached: ReadonlyMap<string, AgentSession>) {
    this.#registry = registry;
    this.#measured = measured;
    this.#attached = attached;
  }

  /** Loads what an attached agent offers: again whenever it has published a manifest. */
  async learn(attached: AgentSession): Promise<void> {
    const turn = (this.#learning.get(attached) ?? 0) + 1;
    this.#learning.set(attached, turn);
    const offers = await this.#registry.offered.of(attached.agent);
    // A later load has newer data.
    if (this.#learning.get(attached) !== turn) return;
    this.#offered.set(attached, new NameSet(offers.map(({ name }) => name)));
    for (const [name, agents] of this.#offering) {
      if (attached.isOpen && this.has(attached, name)) this.#put(agents, attached, name);
      else agents.delete(attached);
    }
  }

  /** An agent has room again, or has none any more. */
  noteRoom(attached: AgentSession): void {
    if (!attached.isOpen) return;
    for (const [name, agents] of this.#offering) {
      if (this.has(attached, name)) this.#put(agents, attached, name);
    }
  }

  /** Something has come of an attempt of an agent: it may have proven itself. */
  noteOutcome(agent: string, capability: string): void {
    const attached = this.#attached.get(agent);
    const agents = this.#offering.get(capability);
    if (attached === undefined || agents === undefined) return;
    if (this.has(attached, capability)) this.#put(agents, attached, capability);
  }

  left(attached: AgentSession): void {
    for (const agents of this.#offering.values()) agents.delete(attached);
  }

  /** Whether an attached agent offers something under this name. */
  has(attached: AgentSession, name: string): boolean {
    return this.#offered.get(attached)?.has(name) === true;
  }

  #put(agents: OfferingAgents<AgentSession>, attached: AgentSession, name: string): void {
    agents.put(attached, this.#measured.isProven(attached.agent, name));
  }

  /** Those who are attached and offer a capability: known from the first handoff for it on. */
  of(capability: string): OfferingAgents<AgentSession> {
    const known = this.#offering.get(capability);
    if (known !== undefined) return known;
    const agents = new OfferingAgents<AgentSession>();
    for (const attached of this.#attached.values()) {
      if (this.has(attached, capability)) this.#put(agents, attached, capability);
    }
    if (this.#offering.size >= OFFERING_KEPT) this.#offering.clear();
    this.#offering.set(capability, agents);
    return agents;
  }

  /** Whether handoffs that wait under a name are for this agent. */
  isTarget(target: string, attached: AgentSession): boolean {
    if (target === `agent:${attached.agent}`) return true;
    return this.has(attached, target.slice("capability:".length));
  }
}
