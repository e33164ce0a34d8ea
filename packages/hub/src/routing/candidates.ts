import type { Candidate } from "@waybill/protocol/hub";
import type { Measured } from "../registry/measured.ts";
import type { OfferedCapability } from "../registry/offered-capabilities.ts";
import type { Registry } from "../registry/registry.ts";
import type { AgentSession } from "./agent-session.ts";

/** How much text of capabilities is read for one answer, or in one step. */
const CHARACTERS_AT_ONCE = 1024 * 1024;

/** Reads the candidates that offer capabilities: the capability, who may be trusted, what was measured, the free room. */
export class Candidates {
  readonly #registry: Registry;
  readonly #measured: Measured;
  readonly #attached: ReadonlyMap<string, AgentSession>;

  constructor(registry: Registry, measured: Measured, attached: ReadonlyMap<string, AgentSession>) {
    this.#registry = registry;
    this.#measured = measured;
    this.#attached = attached;
  }

  /** Reads them in order, up to a limit of text; `looked` is how many. */
  async of(
    offered: readonly OfferedCapability[],
    now: number,
  ): Promise<{ readonly candidates: Candidate[]; readonly looked: number }> {
    let characters = 0;
    const looked = offered.findIndex(
      (each) => (characters += each.characters) > CHARACTERS_AT_ONCE,
    );
    const some = looked < 0 ? offered : offered.slice(0, Math.max(1, looked));
    const candidates = await Promise.all(some.map((each) => this.#candidate(each, now)));
    return { candidates: candidates.flat(), looked: some.length };
  }

  /** Empty if the agent has published another manifest meanwhile. */
  async #candidate(offered: OfferedCapability, now: number): Promise<Candidate[]> {
    const { agent, name, trust } = offered;
    const read = await this.#registry.offered.read(offered);
    if (read === undefined) return [];
    const attached = this.#attached.get(agent);
    return [
      {
        agent_id: agent,
        ...read,
        trust: offered.hasKeyAt(now) ? trust : expired(agent),
        stats: await this.#measured.of(agent, name),
        inFlight: attached?.inFlight(name) ?? 0,
        credit: attached?.room ?? 0,
      },
    ];
  }
}

function expired(agent: string): Candidate["trust"] {
  const reason = `no key of ${agent} is valid now; it must publish a manifest with one that is`;
  return { isTrusted: false, by: "nothing", status: 401, reason };
}
