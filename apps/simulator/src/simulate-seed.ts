import type { AgentSite, Offered } from "./agent/agent-site.ts";
import { scriptedAgent } from "./agent/scripted-agent.ts";
import { Target } from "./agent/target.ts";
import { CAPABILITIES, giveJob } from "./agent/workload.ts";
import { Cluster } from "./hub/cluster.ts";
import { DEAD_LETTER_AGENT } from "./hub/hub-site.ts";
import { watchForStuck } from "./judge/stuck.ts";
import type { Judge, Verdict } from "./judge/verdict.ts";
import { planSpread, spreadAgents } from "./spread/spread.ts";
import { realAgent } from "./real/real-agent.ts";
import type { Random } from "./world/random.ts";
import type { WallClock } from "./world/process.ts";
import { Livelock } from "./world/scheduler.ts";
import { STARTS_AT } from "./world/start.ts";
import { keyOf, World } from "./world/world.ts";
import type { WorldOptions } from "./world/world.ts";

/** How long after the last deadline everything must be at rest. */
const REST_MS = 60_000;
const STEP_MS = 30_000;
const LONG_STEP_MS = 20 * 60_000;
/** A hub restarts half a second after a crash, and opening takes much less than this. */
const RESTART_AT_MOST_MS = 30_000;
/** A dead letter is handed over with a day's time, and nothing else has more than an hour. */
const REST_AT_MOST_MS = 25 * 60 * 60 * 1000;
/** The group that an operator fills. */
const TEAM = "team";
/** A hub may be down when an operator makes a request. */
const GROUP_TRIES = 4;
/**
 * Hubs over one store compare each other's times with their own clock, so their clocks agree within
 * this.
 */
const HUBS_APART_MS = 100;

export interface SeedRun extends Verdict {
  readonly seed: number;
  /** Always the same for the same seed. */
  readonly trace: string;
  readonly lines: readonly string[] | undefined;
  /** How often the hubs' disk was called. */
  readonly diskCalls: number;
}

/** Runs the world of one seed until nothing is left to happen, and has it judged. */
export async function simulateSeed(
  seed: number,
  judge: Judge,
  options: WorldOptions = {},
): Promise<SeedRun> {
  const world = new World(seed, options);
  const { scheduler, trace } = world;
  const cluster = new Cluster(world);
  world.readsLedgerLengthWith(async () => {
    const head = await cluster.store?.ledgerHead().catch(() => undefined);
    return head?.sequence;
  });
  const { spread } = world.scenario;
  const sites =
    spread === undefined ? agentsOf(world, cluster) : spreadAgents(world, cluster, spread);
  cluster.start();
  for (const site of sites) {
    scheduler.after(world.random.between(0, 500), () => site.start());
  }
  if (spread === undefined) planWork(world, sites);
  else planSpread(world, sites, spread);
  planGroups(world, cluster, sites);
  planFaults(world, cluster, sites);
  try {
    await scheduler.runUntil(STARTS_AT + world.scenario.faultsUntilMs);
    stopFaults(world, cluster, sites);
    await rest(world, cluster, sites);
    await scheduler.outcomeOf(world.placeObservations(), STEP_MS);
  } catch (error) {
    if (!(error instanceof Livelock)) throw error;
    world.breach("livelock", "", error.message);
  }
  const verdict = await judge({ world, disk: cluster.disk.remains(), inbox: inboxesOf(sites) });
  trace.note(`ledger ${verdict.ledgerHash}`);
  const { diskCalls } = world;
  return { ...verdict, seed, trace: trace.hash, lines: trace.lines, diskCalls };
}

function agentsOf(world: World, cluster: Cluster): AgentSite[] {
  const random = world.random.stream("agents");
  const permissions = world.random.stream("permissions");
  const target = new Target(world);
  const ids = Array.from({ length: world.scenario.agents }, (_, index) => `agent-${index + 1}`);
  const offer = (name: string): Offered => ({
    name,
    lease_seconds: random.between(2, 20),
    max_attempts: random.between(2, 6),
  });
  const site = (id: string, offers: readonly Offered[]) => {
    const make = random.chance(world.scenario.realAgents) ? realAgent : scriptedAgent;
    return make({
      id,
      world,
      cluster,
      target,
      offers,
      colleagues: ids.filter((other) => other !== id),
      credit: random.pick([1, 2, 8, 30]),
    });
  };
  const sites = ids.map((id) => {
    const offers = CAPABILITIES.filter(() => random.chance(0.7)).map(offer);
    return site(
      id,
      offers.map((each) =>
        restricted(permissions, each, { ids, share: world.scenario.restricted }),
      ),
    );
  });
  if (world.scenario.hasDeadLetterAgent)
    sites.push(site(DEAD_LETTER_AGENT, [offer("dead_letter")]));
  return sites;
}

/**
 * The same offers, some of them randomly restricted: to agents by id or key, and to the members of a
 * group.
 */
function restricted(
  random: Random,
  offered: Offered,
  { ids, share }: { readonly ids: readonly string[]; readonly share: number },
): Offered {
  if (!random.chance(share)) return offered;
  const one = random.pick(ids);
  const from = random.pick([
    { agents: [one, random.pick(ids)] },
    { keys: [keyOf(one).kid] },
    { groups: [TEAM, "unknown-to-the-operator"] },
    { agents: [one], groups: [TEAM] },
  ]);
  return { ...offered, from };
}

/** An operator adds agents to a group, with retries because a hub may be down. */
function planGroups(world: World, cluster: Cluster, sites: readonly AgentSite[]): void {
  const random = world.random.stream("groups");
  if (world.scenario.restricted === 0) return;
  for (const { id } of sites) {
    if (!random.chance(0.5)) continue;
    for (let tries = 0; tries < GROUP_TRIES; tries++) {
      const site = random.pick(cluster.sites);
      world.scheduler.after(random.between(1, world.scenario.faultsUntilMs), () => {
        site.hub?.operator.changeGroup(TEAM, { add: [id] }).catch(() => undefined);
      });
    }
  }
}

function planWork(world: World, sites: readonly AgentSite[]): void {
  const random = world.random.stream("work");
  const delegators = sites.filter(({ id }) => id !== DEAD_LETTER_AGENT);
  const { jobs, faultsUntilMs } = world.scenario;
  for (let job = 0; job < jobs; job++) {
    const site = random.pick(delegators);
    const colleagues = delegators.filter((each) => each !== site).map(({ id }) => id);
    // Some agents start after the end of all faults: leftovers in the hub must not hinder them, and
    // no reattaching agent hides a missing delivery.
    const at = random.between(500, Math.ceil(faultsUntilMs * 1.3));
    world.scheduler.after(at, () => giveJob(world, site, colleagues, random));
  }
}

function planFaults(world: World, cluster: Cluster, sites: readonly AgentSite[]): void {
  const random = world.random.stream("faults");
  const { crashesEveryMs, leaves, skewMs, faultsUntilMs } = world.scenario;
  if (skewMs > 0) {
    const hubs = cluster.sites.map(({ wall }) => wall);
    for (const walls of [hubs, ...sites.map(({ wall }) => [wall])]) {
      setClocks(random, walls, skewMs);
      every(world, random, 40_000, () => setClocks(random, walls, skewMs));
    }
  }
  for (const site of [...cluster.sites, ...sites]) {
    every(world, random, crashesEveryMs, () => {
      if (!world.mayCrash(random, 1)) return;
      world.crashes++;
      site.crash();
    });
  }
  if (random.chance(leaves)) {
    const site = random.pick(sites);
    world.scheduler.after(random.below(faultsUntilMs), () => site.leave());
  }
}

/** Sets the clocks, those of one group almost alike. */
function setClocks(random: Random, walls: readonly WallClock[], skewMs: number): void {
  const together = random.between(-skewMs, skewMs);
  const apartMs = Math.min(HUBS_APART_MS, skewMs);
  for (const wall of walls) wall.offsetMs = together + random.between(-apartMs, apartMs);
}

/** Repeats at random times while there are faults. */
function every(world: World, random: Random, meanMs: number, run: () => void): void {
  if (meanMs === Infinity) return;
  world.scheduler.after(random.between(1, 2 * meanMs), () => {
    if (!world.isFaulty) return;
    run();
    every(world, random, meanMs, run);
  });
}

function stopFaults(world: World, cluster: Cluster, sites: readonly AgentSite[]): void {
  world.trace.note("no more faults");
  world.isFaulty = false;
  for (const site of [...cluster.sites, ...sites]) site.start();
}

/** Lets time pass until every handoff has ended and all agents know. */
async function rest(world: World, cluster: Cluster, sites: readonly AgentSite[]): Promise<void> {
  const { scheduler } = world;
  const isStuck = watchForStuck(world, cluster, sites);
  for (const limit = scheduler.now + REST_AT_MOST_MS; scheduler.now < limit;) {
    const isLate = scheduler.now > world.lastDeadline;
    await scheduler.runUntil(scheduler.now + (isLate ? LONG_STEP_MS : STEP_MS));
    // A planned fault can come this late. The hub then restarts half a second later.
    if (!cluster.isUp) await scheduler.runUntil(scheduler.now + RESTART_AT_MOST_MS);
    if (!cluster.isUp) {
      world.breach(
        "never_opens",
        "",
        "Nothing fails any more, and the hub does not come up again.",
      );
      return;
    }
    await scheduler.outcomeOf(isStuck(), STEP_MS);
    const next = cluster.store?.nextWakeAt() ?? Promise.resolve(undefined);
    const isOpen = (await scheduler.outcomeOf(next, STEP_MS)) !== null;
    if (!isOpen && scheduler.now > world.lastDeadline) break;
    if (isLate && (world.breaches.length > 0 || !world.scenario.hasDeadLetterAgent)) break;
  }
  await scheduler.runUntil(scheduler.now + REST_MS);
}

function inboxesOf(sites: readonly AgentSite[]): readonly string[] {
  return sites.filter(({ hasLeft }) => !hasLeft).map(({ id }) => id);
}
