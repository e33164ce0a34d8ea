import { chooseCandidate, findCandidates, isEjected, queryOf } from "@waybill/protocol";
import type { Candidate, FindQuery, Found, HandoffEnvelope, StatusCode } from "@waybill/protocol";
import type { HandoffRecord } from "../custody/record.ts";
import type { Measured } from "../registry/measured.ts";
import type { Offered, Registry } from "../registry/registry.ts";
import type { Attached } from "./attached.ts";

export type Route =
  | { readonly type: "offer"; readonly to: Attached }
  /** `until`: when somebody who is left out for a while may be asked again. */
  | { readonly type: "wait"; readonly until?: number }
  /** Everybody there is has said no. */
  | { readonly type: "nobody"; readonly status: StatusCode };

export interface RouterOptions {
  readonly registry: Registry;
  readonly measured: Measured;
  readonly attached: ReadonlyMap<string, Attached>;
  /** Numbers from 0 up to, but not including, 1. */
  readonly random: () => number;
}

/** Whom a handoff is offered to: the agent it names, or one of those who fit and have room. */
export class Router {
  readonly #registry: Registry;
  readonly #measured: Measured;
  readonly #attached: ReadonlyMap<string, Attached>;
  readonly #random: () => number;

  constructor({ registry, measured, attached, random }: RouterOptions) {
    this.#registry = registry;
    this.#measured = measured;
    this.#attached = attached;
    this.#random = random;
  }

  async route(
    record: HandoffRecord,
    handoffOf: () => Promise<HandoffEnvelope>,
    now: number,
  ): Promise<Route> {
    const { state, to } = record;
    const only = state.resumes?.recipient ?? state.recipient;
    if (only !== null || typeof to === "string") {
      const agent = only ?? (to as string);
      const limits = await this.limitsOf(agent);
      return this.#place(record, agent, limits.get(record.capability)) ?? { type: "wait" };
    }
    const offered = await this.#registry.offering(to.capability);
    const refusers = new Set(
      state.attempts.filter(({ closed }) => closed === "rejected").map((each) => each.recipient),
    );
    const open = offered.filter(({ agent_id }) => !refusers.has(agent_id));
    if (open.length === 0) return { type: "nobody", status: state.attempts.at(-1)?.status ?? 404 };
    // Nothing of the rest matters while none of them is here with room.
    const here = open.filter(({ agent_id, capability: { name, concurrency } }) => {
      const attached = this.#attached.get(agent_id);
      return attached !== undefined && attached.roomFor(name, concurrency) > 0;
    });
    if (here.length === 0) return { type: "wait" };
    const { body } = await handoffOf();
    const query = queryOf(to, { input: body.input, within: body.contract?.timeout_seconds });
    const candidates = await this.#candidates(here, now);
    const { fits } = findCandidates(query, candidates, now);
    const tried = new Set(state.attempts.map(({ recipient }) => recipient));
    const sound = fits.filter(({ standing }) => standing !== "ejected");
    const untried = sound.filter(({ agent_id }) => !tried.has(agent_id));
    const preferred = [untried, sound, fits].find((some) => some.length > 0) ?? [];
    const best = chooseCandidate(preferred, this.#random);
    if (best === undefined) return { type: "wait" };
    if (best.standing === "ejected" && (await this.#isSomebodyBusy(open, here, now))) {
      // The others have no room now. They are waited for, but no longer than until this one is back.
      const ends = candidates.map(({ stats }) => stats?.ejectedUntil ?? 0).filter((at) => at > now);
      return { type: "wait", until: Math.min(...ends) };
    }
    const { capability } = best;
    return this.#place(record, best.agent_id, capability.concurrency) ?? { type: "wait" };
  }

  /** Whether somebody who is connected and not ejected only lacks room. */
  async #isSomebodyBusy(
    open: readonly Offered[],
    here: readonly Offered[],
    now: number,
  ): Promise<boolean> {
    const hasRoom = new Set(here);
    const busy = open.filter((each) => this.#attached.has(each.agent_id) && !hasRoom.has(each));
    const stats = await Promise.all(
      busy.map(({ agent_id, capability }) => this.#measured.of(agent_id, capability.name)),
    );
    return stats.some((each) => !isEjected(each, now));
  }

  /** Takes one of an agent's places at once: while others are asked, two could see the same one. */
  #place(
    { state, capability }: HandoffRecord,
    agent: string,
    concurrency: number | undefined,
  ): Route | undefined {
    const attached = this.#attached.get(agent);
    if (attached === undefined || attached.roomFor(capability, concurrency) === 0) return undefined;
    attached.hold(state.id, state.attempts.length + 1, capability);
    return { type: "offer", to: attached };
  }

  async find(query: FindQuery, now: number): Promise<Found> {
    const offered = await this.#registry.offering(query.capability);
    const candidates = await this.#candidates(offered, now);
    // Who is not connected can be handed work all the same: it waits.
    const open = candidates.map(({ credit, ...candidate }) => {
      const isHere = this.#attached.has(candidate.agent_id);
      return isHere ? { ...candidate, credit } : candidate;
    });
    return findCandidates(query, open, now);
  }

  /** Names under which handoffs wait that this agent could take. */
  async targetsOf(agent: string): Promise<string[]> {
    const manifest = (await this.#registry.manifestsOf(agent)).at(-1)?.manifest;
    const names = new Set(manifest?.capabilities.map(({ name }) => name));
    return [`agent:${agent}`, ...[...names].map((name) => `capability:${name}`)];
  }

  /** How many attempts an agent takes at once, by capability; the widest where it has several versions. */
  async limitsOf(agent: string): Promise<ReadonlyMap<string, number>> {
    const manifest = (await this.#registry.manifestsOf(agent)).at(-1)?.manifest;
    const limits = new Map<string, number>();
    for (const { name, concurrency = Infinity } of manifest?.capabilities ?? []) {
      limits.set(name, Math.max(concurrency, limits.get(name) ?? 0));
    }
    return limits;
  }

  #candidates(offered: readonly Offered[], now: number): Promise<Candidate[]> {
    return Promise.all(
      offered.map(async ({ hasKeyAt, ...each }) => {
        const attached = this.#attached.get(each.agent_id);
        return {
          ...each,
          trust: hasKeyAt(now) ? each.trust : expired(each.agent_id),
          stats: await this.#measured.of(each.agent_id, each.capability.name),
          inFlight: attached?.inFlight(each.capability.name) ?? 0,
          credit: attached?.room ?? 0,
        };
      }),
    );
  }
}

function expired(agent: string): Candidate["trust"] {
  const reason = `no key of ${agent} is valid now; it must publish a manifest with one that is`;
  return { isTrusted: false, by: "nothing", status: 401, reason };
}
