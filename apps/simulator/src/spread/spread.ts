import type { AgentSite, Delegating } from "../agent/agent-site.ts";
import { Target } from "../agent/target.ts";
import type { Cluster } from "../hub/cluster.ts";
import { realAgent } from "../real/real-agent.ts";
import type { World } from "../world/world.ts";
import { MEASURED_FIRST, RESTARTED, WORKERS } from "./spread-world.ts";
import type { Spread } from "./spread-kind.ts";

const CAPABILITY = "work";
const CREDIT = 30;
const HANDOFFS = 300;
const AT_ONCE = 10;
const BEGINS_AT_MS = 2_000;
const HELD = 20;
const CRASHES_AFTER_MS = 1_000;
/** One handoff a second, for longer than a restarted worker may go without work. */
const TURNS_AFTER_CRASH = 90;

/** The delegator and the workers. */
export function spreadAgents(world: World, cluster: Cluster, spread: Spread): AgentSite[] {
  const common = { world, cluster, target: new Target(world), colleagues: [], credit: CREDIT };
  const offers = [{ name: CAPABILITY, lease_seconds: 5, max_attempts: 5 }];
  const workers = Object.entries(WORKERS[spread]).map(([id, worksForMs]) =>
    realAgent({ ...common, id, offers, worksForMs }),
  );
  return [realAgent({ ...common, id: "owner", offers: [] }), ...workers];
}

export function planSpread(world: World, sites: readonly AgentSite[], spread: Spread): void {
  const owner = sites.find(({ id }) => id === "owner")!;
  world.scheduler.after(BEGINS_AT_MS, () => {
    const plan = { equal, slow, restarted }[spread];
    plan(world, owner.delegator!, sites).catch((error: unknown) => world.fault(error));
  });
}

async function equal(_world: World, owner: Delegating): Promise<void> {
  for (let count = 0; count < HANDOFFS; count += AT_ONCE) await burst(owner, AT_ONCE);
}

async function slow(_world: World, owner: Delegating): Promise<void> {
  await burst(owner, MEASURED_FIRST);
  for (let count = 0; count < HANDOFFS; count++) await burst(owner, 1);
}

async function restarted(
  world: World,
  owner: Delegating,
  sites: readonly AgentSite[],
): Promise<void> {
  const held = burst(owner, HELD);
  await world.scheduler.sleep(CRASHES_AFTER_MS);
  sites.find(({ id }) => id === RESTARTED)!.crash();
  const at = world.now;
  await held;
  world.restart = { at, isOverAt: world.now };
  for (let turn = 0; turn < TURNS_AFTER_CRASH; turn++) {
    await burst(owner, 1);
    await world.scheduler.sleep(1_000);
  }
}

async function burst(owner: Delegating, count: number): Promise<void> {
  const handOff = async (): Promise<void> => {
    const handoff = await owner.handOff({
      to: { capability: CAPABILITY },
      timeoutMs: 10 * 60_000,
      body: { capability: CAPABILITY, input: null },
    });
    if (handoff !== undefined) await owner.endOf(handoff.handoff_id);
  };
  await Promise.all(Array.from({ length: count }, handOff));
}
