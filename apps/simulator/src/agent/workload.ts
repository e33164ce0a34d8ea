import type { Group, HandoffEnvelope, Session } from "@waybill/protocol";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { AgentSite, Delegating, Work } from "./agent-site.ts";

export const CAPABILITIES: readonly string[] = ["draft", "check", "translate"];

/** The maximum depth of nested children. */
const HOPS_AT_MOST = 3;
const CANCELLED = 0.12;
const REPLAYED = 0.3;
const HELD = 0.15;
const PRIORITISED = 0.3;
/** The share of work that names one of a few sessions, so that many sessions have earlier turns. */
const IN_SESSION = 0.4;
const SESSIONS: readonly string[] = ["a", "b", "c"];
const WAITS_FOR_HOLDER = 0.3;

/** A piece of work for any agent or a named one, with much or little time. */
function workOf(random: Random, colleagues: readonly string[]): Work {
  const capability = random.pick(CAPABILITIES);
  const span = random.weighed({ blink: 1, short: 4, usual: 10, long: 4 });
  const timeoutMs = {
    blink: random.spread(20, 1_000),
    short: random.between(1_000, 10_000),
    usual: random.between(10_000, 120_000),
    long: random.between(120_000, 900_000),
  }[span];
  const contract = {
    ...(random.chance(0.4) ? { lease_seconds: random.between(1, 25) } : {}),
    ...(random.chance(0.3) ? { max_attempts: random.between(1, 5) } : {}),
  };
  return {
    to: random.chance(0.5) ? random.pick(colleagues) : { capability },
    timeoutMs,
    traceparent: random.chance(0.3) ? traceparentOf(random) : undefined,
    body: { capability, input: { what: random.below(1_000) }, contract },
  };
}

export function childOf(
  random: Random,
  colleagues: readonly string[],
  parent: HandoffEnvelope,
): Work {
  const work = workOf(random, colleagues);
  // Without a trace of its own: a child belongs to the trace of its parent.
  return { ...work, parent, traceparent: undefined };
}

export function mayHaveChildren({ hop = 0 }: HandoffEnvelope): boolean {
  return hop < HOPS_AT_MOST;
}

function sessionFrom(random: Random): Session {
  const id = random.pick(SESSIONS);
  if (!random.chance(WAITS_FOR_HOLDER)) return { id };
  return { id, wait_seconds: random.between(1, 60) };
}

function traceparentOf(random: Random): string {
  const hex = (bytes: number) =>
    Array.from(random.bytes(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `00-${hex(16)}-${hex(8)}-01`;
}

/** Makes an agent hand something off as soon as it can, and steer it at times. */
export function giveJob(
  world: World,
  site: AgentSite,
  colleagues: readonly string[],
  random: Random,
): void {
  const { delegator } = site;
  if (delegator === undefined) {
    if (!site.hasLeft)
      world.scheduler.after(random.between(100, 3_000), () =>
        giveJob(world, site, colleagues, random),
      );
    return;
  }
  const run = random.chance(0.12)
    ? group(world, delegator, colleagues, random)
    : single(world, delegator, colleagues, random);
  run.catch((error: unknown) => world.fault(error));
}

async function single(
  world: World,
  delegator: Delegating,
  colleagues: readonly string[],
  random: Random,
): Promise<void> {
  const work: Work = {
    ...workOf(random, colleagues),
    ...(random.chance(HELD) && { startsInMs: random.spread(1, 60_000) }),
    ...(random.chance(IN_SESSION) && { session: sessionFrom(random) }),
    ...(random.chance(PRIORITISED) && { priority: random.below(10) }),
  };
  const cancelAfterMs = random.chance(CANCELLED) ? random.spread(1, 60_000) : undefined;
  const isReplayed = random.chance(REPLAYED);
  const handoff = await delegator.handOff(work);
  if (handoff === undefined) return;
  if (cancelAfterMs !== undefined) {
    await world.scheduler.sleep(cancelAfterMs);
    return delegator.cancel(handoff);
  }
  const { isSuccess } = await delegator.endOf(handoff.handoff_id);
  if (!isSuccess && isReplayed) {
    await delegator.handOff({
      ...work,
      replayOf: handoff.handoff_id,
      correlationId: handoff.correlation_id,
    });
  }
}

async function group(
  world: World,
  delegator: Delegating,
  colleagues: readonly string[],
  random: Random,
): Promise<void> {
  const size = random.between(2, 6);
  const join = random.pick(["all", "any", "quorum"] as const);
  const quorum = join === "quorum" ? random.between(1, size) : undefined;
  const id = delegator.newId();
  const correlationId = delegator.newId();
  const members = await Promise.all(
    Array.from({ length: size }, (_, index) => {
      const place: Group = { id, index, size, join, ...(quorum === undefined ? {} : { quorum }) };
      return delegator.handOff({ ...workOf(random, colleagues), correlationId, group: place });
    }),
  );
  const open = members.filter((member) => member !== undefined);
  let wanted = { all: Infinity, any: 1, quorum: quorum ?? 1 }[join];
  await Promise.all(
    open.map(async (member) => {
      const { isSuccess } = await delegator.endOf(member.handoff_id);
      if (!isSuccess || --wanted !== 0) return;
      await Promise.all(open.map((each) => delegator.cancel(each)));
    }),
  );
}
