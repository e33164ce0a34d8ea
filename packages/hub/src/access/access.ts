import { audiencesFor, takesFrom } from "@waybill/protocol";
import type { Asker } from "@waybill/protocol";
import type { Audiences, Offer } from "../registry/registry.ts";

/** Who looks at what is offered: an agent, somebody who has not proven to be one, or an operator. */
export type Viewer = Asker | "anybody" | "operator";

/** Decides who may use what, by what capabilities say and by the groups that operators have made. */
export class Access {
  /** What a search for somebody may show. */
  async audiencesOf(viewer: Viewer): Promise<Audiences> {
    if (viewer === "operator") return undefined;
    if (viewer === "anybody") return audiencesFor(undefined, []);
    return audiencesFor(viewer, []);
  }

  /** Those of some offers that take work from somebody. */
  async takers(offers: readonly Offer[], viewer: Viewer): Promise<readonly Offer[]> {
    if (viewer === "operator" || offers.every(({ terms }) => terms.from === undefined)) {
      return offers;
    }
    if (viewer === "anybody") return offers.filter(({ terms }) => terms.from === undefined);
    return offers.filter(({ terms }) => takesFrom(terms, viewer, () => false));
  }
}

/** Whose a name is, in a queue of those who ask. No agent has the name of the others. */
export function nameOf(viewer: Viewer): string {
  return typeof viewer === "string" ? "" : viewer.agent;
}
