import { checkMayActFor, matchesVersion, takesFrom } from "@waybill/protocol";
import { audiencesFor } from "@waybill/protocol/hub";
import type { Asker, HandoffBody, HandoffEnvelope } from "@waybill/protocol";
import type { Groups } from "../groups/groups.ts";
import type { Audiences, OfferedCapability } from "../registry/offered-capabilities.ts";

/** The viewer of what is offered: an agent, an unauthenticated client, or an operator. */
export type Viewer = Asker | "anybody" | "operator";

/** Operators put the agents into this group that may do operators' work. */
const OPERATORS_GROUP = "operators";

/** What an agent offers that matches a handoff; if nothing matches its version, all of it. */
export function wantedOf(
  offered: readonly OfferedCapability[],
  { version }: Pick<HandoffBody, "version">,
): readonly OfferedCapability[] {
  if (version === undefined) return offered;
  const wanted = offered.filter((each) => matchesVersion(each.version, version));
  return wanted.length > 0 ? wanted : offered;
}

/** Decides who may use what, from the capabilities and the operators' groups. */
export class Access {
  readonly #groups: Pick<Groups, "of" | "group">;
  readonly #operators: readonly string[];

  /** `operators` are operators' agents whatever their groups are. */
  constructor(groups: Pick<Groups, "of" | "group">, operators: readonly string[]) {
    this.#groups = groups;
    this.#operators = operators;
  }

  /** Whether an agent may replay and discard the dead letters of others, at this moment. */
  async isOperators(agent: string): Promise<boolean> {
    if (this.#operators.includes(agent)) return true;
    return (await this.#groups.of(agent)).includes(OPERATORS_GROUP);
  }

  /** The operators' agents, at this moment. */
  async operatorsAgents(): Promise<readonly string[]> {
    const group = await this.#groups.group(OPERATORS_GROUP);
    return [...this.#operators, ...(group?.members ?? [])];
  }

  /** Refuses a handoff for somebody else from an agent that may not act for others. */
  async checkMayActFor(handoff: HandoffEnvelope): Promise<void> {
    checkMayActFor(handoff, await this.#groups.of(handoff.from));
  }

  /** What a search shows to a viewer. */
  async audiencesOf(viewer: Viewer): Promise<Audiences> {
    if (viewer === "operator") return undefined;
    if (viewer === "anybody") return audiencesFor(undefined, []);
    return audiencesFor(viewer, await this.#groups.of(viewer.agent));
  }

  /** Those of these that a viewer may use. */
  async permitted(
    offered: readonly OfferedCapability[],
    viewer: Viewer,
  ): Promise<readonly OfferedCapability[]> {
    if (viewer === "operator" || offered.every(({ terms }) => terms.from === undefined)) {
      return offered;
    }
    if (viewer === "anybody") return offered.filter(({ terms }) => terms.from === undefined);
    const groups = await this.#groups.of(viewer.agent);
    return offered.filter(({ terms }) => takesFrom(terms, viewer, (name) => groups.includes(name)));
  }
}

/** The name of a client in a queue. No agent has the one of all others. */
export function nameOf(viewer: Viewer): string {
  return typeof viewer === "string" ? "" : viewer.agent;
}
