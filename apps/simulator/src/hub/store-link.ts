import type { Commit, CommitListener, CommitOutcome, Store } from "@waybill/hub/store";
import { WaybillError } from "@waybill/protocol";
import type { Process } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

export interface LinkOptions {
  readonly process: Process;
  readonly world: World;
  readonly random: Random;
  /** Whether the answer to a commit that has succeeded is lost. */
  readonly losesAnswer: () => boolean;
}

/**
 * One store as seen by one of several hubs, from another machine: every call takes time, and other
 * hubs may change the store meanwhile.
 */
export function linkTo(store: Store, { process, world, random, losesAnswer }: LinkOptions): Store {
  const { latencyMs, answersLost } = world.scenario.store;
  const latency = () => random.between(0, latencyMs);

  function call<Value>(run: () => Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      process.after(latency(), () => {
        run().then(
          (value) => process.after(latency(), () => resolve(value)),
          (error: unknown) => process.after(latency(), () => reject(WaybillError.from(error))),
        );
      });
    });
  }

  /** A group is committed in two parts, between which other hubs may commit. */
  function commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    const lost = group.map(() => world.fails(random, answersLost));
    const parts = [group.slice(0, random.between(1, group.length))];
    if (parts[0]!.length < group.length) parts.push(group.slice(parts[0]!.length));
    return call(async () => {
      const outcomes: CommitOutcome[] = [];
      for (const part of parts) {
        outcomes.push(
          ...(await commitPart(part, outcomes, (rest) => call(() => store.commit(rest)))),
        );
      }
      const error = new WaybillError(
        503,
        "The store's answer got lost: it may have committed or not.",
      );
      if (losesAnswer()) throw error;
      return outcomes.map((outcome, index) =>
        lost[index] === true ? { type: "unknown", error } : outcome,
      );
    });
  }

  function onCommit(listener: CommitListener): () => void {
    let last = world.now;
    return store.onCommit((handoff, publisher) => {
      // Late, but never out of order.
      last = Math.max(last, world.now + latency());
      process.after(last - world.now, () => listener(handoff, publisher));
    });
  }

  return {
    commit,
    onCommit,
    close: () => Promise.resolve(),
    handoff: (id) => call(() => store.handoff(id)),
    due: (now, limit) => call(() => store.due(now, limit)),
    nextWakeAt: () => call(() => store.nextWakeAt()),
    waiting: (target, page) => call(() => store.waiting(target, page)),
    inbox: (agent, page) => call(() => store.inbox(agent, page)),
    correlated: (correlationId, page) => call(() => store.correlated(correlationId, page)),
    children: (parentId, page) => call(() => store.children(parentId, page)),
    session: (name, limit) => call(() => store.session(name, limit)),
    group: (delegator, groupId, page) => call(() => store.group(delegator, groupId, page)),
    deadLetters: (page, delegator) => call(() => store.deadLetters(page, delegator)),
    seen: (from, envelopeId) => call(() => store.seen(from, envelopeId)),
    ledger: (page) => call(() => store.ledger(page)),
    ledgerOf: (handoffId, page) => call(() => store.ledgerOf(handoffId, page)),
    envelope: (handoffId, digest) => call(() => store.envelope(handoffId, digest)),
    ledgerHead: () => call(() => store.ledgerHead()),
    manifest: (agent) => call(() => store.manifest(agent)),
    manifests: (agent, page) => call(() => store.manifests(agent, page)),
    agents: (page) => call(() => store.agents(page)),
    key: (kid) => call(() => store.key(kid)),
    offers: (by, page) => call(() => store.offers(by, page)),
    capability: (place) => call(() => store.capability(place)),
    capabilityNames: (page, audience) => call(() => store.capabilityNames(page, audience)),
    settings: (prefix, page) => call(() => store.settings(prefix, page)),
    setting: (name) => call(() => store.setting(name)),
    saveSetting: (name, value) => call(() => store.saveSetting(name, value)),
  };
}

/** Commits a later part of a group, of which `before` are the outcomes so far. */
async function commitPart(
  part: readonly Commit[],
  before: readonly CommitOutcome[],
  commit: (rest: readonly Commit[]) => Promise<readonly CommitOutcome[]>,
): Promise<readonly CommitOutcome[]> {
  const isMade = (place: number) => before[place]?.type === "committed";
  const possible = part.filter(({ dependsOn = [] }) =>
    dependsOn.every((place) => place >= before.length || isMade(place)),
  );
  const outcomes = await commit(
    possible.map((each) => ({
      ...each,
      dependsOn: (each.dependsOn ?? [])
        .filter((place) => place >= before.length)
        .map((place) => possible.indexOf(part[place - before.length]!)),
    })),
  );
  return part.map((each) => outcomes[possible.indexOf(each)] ?? { type: "conflict" });
}
