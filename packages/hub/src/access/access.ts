import { matchesVersion, takesFrom } from "@waybill/protocol";
import { audiencesFor } from "@waybill/protocol/hub";
import type { Asker, HandoffBody } from "@waybill/protocol";
import type { Groups } from "../groups/groups.ts";
import type { Audiences, Offer } from "../registry/registry.ts";

/** Who looks at what is offered: an agent, somebody who has not proven to be one, or an operator. */
export type Viewer = Asker | "anybody" | "operator";

/** Those of an agent's offers that a handoff to it means; where it offers no such version, all of them. */
export function wantedOf(
  offers: readonly Offer[],
  { version }: Pick<HandoffBody, "version">,
): readonly Offer[] {
  if (version === undefined) return offers;
  const wanted = offers.filter((offer) => matchesVersion(offer.version, version));
  return wanted.length > 0 ? wanted : offers;
}

/** Decides who may use what, by what capabilities say and by the groups that operators have made. */
export class Access {
  readonly #groups: Pick<Groups, "of">;

  constructor(groups: Pick<Groups, "of">) {
    this.#groups = groups;
  }

  /** What a search for somebody may show. */
  async audiencesOf(viewer: Viewer): Promise<Audiences> {
    if (viewer === "operator") return undefined;
    if (viewer === "anybody") return audiencesFor(undefined, []);
    return audiencesFor(viewer, await this.#groups.of(viewer.agent));
  }

  /** Those of some offers that take work from somebody. */
  async takers(offers: readonly Offer[], viewer: Viewer): Promise<readonly Offer[]> {
    if (viewer === "operator" || offers.every(({ terms }) => terms.from === undefined)) {
      return offers;
    }
    if (viewer === "anybody") return offers.filter(({ terms }) => terms.from === undefined);
    const groups = await this.#groups.of(viewer.agent);
    return offers.filter(({ terms }) => takesFrom(terms, viewer, (name) => groups.includes(name)));
  }
}

/** Whose a name is, in a queue of those who ask. No agent has the name of the others. */
export function nameOf(viewer: Viewer): string {
  return typeof viewer === "string" ? "" : viewer.agent;
}
