import { liveAttempt } from "@waybill/protocol/hub";
import type { Handoff } from "@waybill/protocol/hub";
import type { AgentSite } from "../agent/agent-site.ts";
import type { Cluster } from "../hub/cluster.ts";
import type { World } from "../world/world.ts";

const PAGE = 50;
/** How often in a row work must be seen waiting for a free agent. */
const SIGHTINGS = 3;

/**
 * After the end of faults, looks regularly for work that waits for an agent by name while that agent
 * is attached and has room: the hub has forgotten one of the two. Also looks for agents that stay
 * away from a hub that is up.
 */
export function watchForStuck(
  world: World,
  cluster: Cluster,
  sites: readonly AgentSite[],
): () => Promise<void> {
  const sightings = new Map<string, number>();
  const absences = new Map<AgentSite, number>();
  return async () => {
    for (const site of sites) {
      const count = site.isAttached || site.hasLeft ? 0 : (absences.get(site) ?? 0) + 1;
      absences.set(site, count);
      if (count !== SIGHTINGS) continue;
      world.breach(
        "stays_away",
        "",
        `${site.id} runs and does not attach to the hub, which is up.`,
      );
    }
    const { store } = cluster;
    if (store === undefined) return;
    const seen = new Set<string>();
    for (const site of sites) {
      if (!site.isAttached) continue;
      const waiting = await store.waiting(`agent:${site.id}`, { limit: PAGE });
      const held = await attemptsHeldBy(site.id, store);
      if (held >= site.credit) continue;
      for (const { id } of waiting) seen.add(id);
    }
    for (const id of sightings.keys()) if (!seen.has(id)) sightings.delete(id);
    for (const id of seen) {
      const count = (sightings.get(id) ?? 0) + 1;
      sightings.set(id, count);
      if (count !== SIGHTINGS) continue;
      world.breach("stuck", id, "It waits for an agent that is attached and has room.");
    }
  };
}

/** How many open attempts the hub has given it, including those of its own handoffs. */
async function attemptsHeldBy(
  agent: string,
  store: NonNullable<Cluster["store"]>,
): Promise<number> {
  let held = 0;
  for (let after: string | undefined; ;) {
    const page = await store.inbox(agent, { after, limit: PAGE });
    held += page.filter(({ record }) => holderOf(record) === agent).length;
    if (page.length < PAGE) return held;
    after = page.at(-1)!.id;
  }
}

function holderOf(record: string): string | undefined {
  const { state } = JSON.parse(record) as { readonly state: Handoff };
  return liveAttempt(state)?.recipient;
}
