import {
  chooseCandidate,
  findInSlices,
  isEjected,
  isHolderFirst,
  queryOf,
  SCHEMA_LIMITS,
} from "@waybill/protocol/hub";
import type { RankedCandidate, StatusCode } from "@waybill/protocol";
import type { Candidate } from "@waybill/protocol/hub";
import { wantedOf } from "../access/access.ts";
import type { Access } from "../access/access.ts";
import { askerOfRecord } from "../custody/handoff-record.ts";
import type { HandoffRecord } from "../custody/handoff-record.ts";
import type { HandoffRecords } from "../custody/handoff-records.ts";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import type { Measured } from "../registry/measured.ts";
import type { Registry } from "../registry/registry.ts";
import type { AgentSession } from "./agent-session.ts";
import type { AttachedCapabilities } from "./attached-capabilities.ts";
import type { Candidates } from "./candidates.ts";
import type { OfferingAgents } from "./offering-agents.ts";
import type { SchemaChecks } from "./schema-checks.ts";

export type Route =
  | { readonly type: "offer"; readonly to: AgentSession }
  | Wait
  /** Every candidate has refused, or takes no work from its delegator. */
  | { readonly type: "nobody"; readonly status: StatusCode };

export interface Wait {
  readonly type: "wait";
  /** When the attached agents are considered again. */
  readonly until?: number | undefined;
  /** The ejected agents, and when each may be tried again. */
  readonly readmissions?: readonly Readmission[];
  /** The holder of its session, if the handoff is held back for it. */
  readonly awaits?: string | undefined;
  /** Those that were left out only for lack of room. */
  readonly busy: readonly AgentSession[];
}

export interface Readmission {
  readonly agent: string;
  readonly at: number;
}

/** Agents are considered in batches: a small first one, then larger ones, up to so many. */
const FIRST_BATCH = 16;
const BATCH = 64;
const BATCHES = 4;
/** If more agents could take it than were considered, others are considered after this time. */
const RETRY_OTHERS_AFTER_MS = 1_000;
/**
 * Measurements decay, and budgets are renewed: agents that were left out for such a reason are
 * considered again.
 */
const RECONSIDER_AFTER_MS = 30_000;
export interface RouterOptions {
  readonly registry: Registry;
  readonly records: Pick<HandoffRecords, "handoffOf">;
  readonly access: Access;
  readonly measured: Measured;
  readonly attached: ReadonlyMap<string, AgentSession>;
  readonly attachedCapabilities: AttachedCapabilities;
  readonly candidates: Candidates;
  readonly checks: SchemaChecks;
  /** Numbers from 0 up to, but not including, 1. */
  readonly random: () => number;
}

/** Finds the recipient of a handoff: the agent it names, or one of the candidates that fit and have room. */
export class Router {
  readonly #registry: Registry;
  readonly #records: Pick<HandoffRecords, "handoffOf">;
  readonly #access: Access;
  readonly #measured: Measured;
  readonly #attached: ReadonlyMap<string, AgentSession>;
  readonly #attachedCapabilities: AttachedCapabilities;
  readonly #candidates: Candidates;
  readonly #checks: SchemaChecks;
  readonly #random: () => number;
  #nextStart = 0;

  constructor(options: RouterOptions) {
    const { registry, records, access, measured, attached, checks, random } = options;
    this.#attachedCapabilities = options.attachedCapabilities;
    this.#candidates = options.candidates;
    this.#registry = registry;
    this.#records = records;
    this.#access = access;
    this.#measured = measured;
    this.#attached = attached;
    this.#checks = checks;
    this.#random = random;
  }

  /** `holder`: the agent that holds its session. */
  route(transaction: HandoffTransaction, holder: string | undefined): Promise<Route> {
    const { state, to } = transaction.record!;
    const only = state.resumes?.recipient ?? state.recipient;
    if (only !== null) return this.#routeToAgent(only, transaction);
    if (typeof to === "string") return this.#routeToAgent(to, transaction);
    return this.#routeToCapability(to, transaction, holder);
  }

  async #routeToAgent(agent: string, transaction: HandoffTransaction): Promise<Route> {
    const record = transaction.record!;
    if (!(await this.#isPermitted(agent, transaction))) return { type: "nobody", status: 403 };
    const limits = await this.limitsOf(agent);
    if (limits.size === 0 && (await this.#registry.isRetired(agent))) {
      return { type: "nobody", status: 404 };
    }
    const reserved = this.#reserve(record, agent, limits.get(record.capability));
    return reserved ?? { type: "wait", busy: this.#attachedAs(agent) };
  }

  async #routeToCapability(
    to: Exclude<HandoffRecord["to"], string>,
    transaction: HandoffTransaction,
    holder: string | undefined,
  ): Promise<Route> {
    const { at: now } = transaction;
    const record = transaction.record!;
    const { state } = record;
    const refusers = new Set(
      state.attempts.filter(({ closed }) => closed === "rejected").map((each) => each.recipient),
    );
    const isFirst = holder !== undefined && isHolderFirst(state, holder) && !refusers.has(holder);
    const preferred = isFirst ? holder : undefined;
    if (preferred !== undefined) {
      const until = await this.#heldBackUntil(record, preferred, now);
      if (until !== undefined) {
        return { type: "wait", until, awaits: preferred, busy: this.#attachedAs(preferred) };
      }
    }
    const offering = this.#attachedCapabilities.of(record.capability);
    const everybody = () => this.#allWithRoom(offering, record, refusers);
    // Mostly one of the first few takes it.
    let agents = this.#firstWithRoom(offering, record, refusers, preferred);
    if (agents.length === 0) agents = everybody();
    /** Those who turn out to lack room for it. */
    const full: AgentSession[] = [];
    const busy = () => [...full, ...[...offering.busy].filter(({ agent }) => !refusers.has(agent))];
    if (agents.length === 0) {
      // No candidate is connected with free capacity, so the ranking is skipped.
      return this.#waitOrEnd(record, refusers, busy());
    }
    const { body } = await this.#records.handoffOf(transaction);
    const query = queryOf(to, { input: body.input, within: body.contract?.timeout_seconds });
    const budget = { stepsLeft: SCHEMA_LIMITS.querySteps };
    const ejected: RankedCandidate[] = [];
    let isCut = BATCHES * BATCH < offering.size;
    let mayChange = query.minReliability !== undefined;
    const readmissions: Readmission[] = [];
    /** The delegator may hand such work to an attached agent, if not this piece. */
    let isPermitted = false;
    for (let start = 0, end = Math.min(FIRST_BATCH, agents.length); start < agents.length;) {
      const found = await this.#candidatesAmong(agents.slice(start, end), record, now);
      full.push(...found.busy);
      isCut ||= found.isCut;
      isPermitted ||= found.candidates.length + found.busy.length > 0;
      const slices = findInSlices(query, found.candidates, now, { budget });
      const { fits } = await this.#checks.run(state.delegator, budget, slices);
      const sound = fits.filter(({ standing }) => standing !== "ejected");
      const untried = sound.filter(
        ({ agent_id: agent }) => !state.attempts.some(({ recipient }) => recipient === agent),
      );
      const holding = sound.filter(({ agent_id: agent }) => agent === preferred);
      const reserved =
        this.#reserveBest(record, holding, full) ??
        this.#reserveBest(record, untried, full) ??
        this.#reserveBest(record, sound, full);
      if (reserved !== undefined) return reserved;
      ejected.push(...fits.filter(({ standing }) => standing === "ejected"));
      full.push(
        ...found.candidates.filter(lacksRoom).flatMap((each) => this.#attachedAs(each.agent_id)),
      );
      mayChange ||= budget.stepsLeft <= 0 || found.candidates.some(({ trust }) => !trust.isTrusted);
      for (const { agent_id: agent, stats } of found.candidates) {
        const at = stats?.ejectedUntil ?? 0;
        if (at > now) readmissions.push({ agent, at });
      }
      if (start === 0) agents = [...new Set([...agents.slice(0, end), ...everybody()])];
      [start, end] = [end, end + BATCH];
    }
    if (isCut)
      return { type: "wait", until: now + RETRY_OTHERS_AFTER_MS, readmissions, busy: busy() };
    if (ejected.length === 0 && !isPermitted) return this.#waitOrEnd(record, refusers, busy());
    const again = mayChange ? now + RECONSIDER_AFTER_MS : undefined;
    // The others have no room now. They are waited for, but no longer than until this one is back.
    const isWaitedFor =
      ejected.length > 0 && (await this.#isAnySound(busy(), record.capability, now));
    if (isWaitedFor) return { type: "wait", until: again, readmissions, busy: busy() };
    const reserved = this.#reserveBest(record, ejected, full);
    return reserved ?? { type: "wait", until: again, readmissions, busy: busy() };
  }

  /** Until when a handoff is held back for the holder of its session, which has no room or is away. */
  async #heldBackUntil(
    { state, session, capability }: HandoffRecord,
    holder: string,
    now: number,
  ): Promise<number | undefined> {
    const until = (state.nextAttemptAt ?? now) + (session?.waitMs ?? 0);
    if (now >= until) return undefined;
    const limit = (await this.limitsOf(holder)).get(capability);
    const attached = this.#attached.get(holder);
    const hasRoom = attached !== undefined && attached.roomFor(capability, limit) > 0;
    // A holder that does not offer it any more is not waited for.
    return limit === undefined || hasRoom ? undefined : until;
  }

  /** Waiting makes sense while some agent takes such work from its delegator, and has not refused it. */
  async #waitOrEnd(
    record: HandoffRecord,
    refusers: ReadonlySet<string>,
    busy: readonly AgentSession[],
  ): Promise<Route> {
    const { state, capability } = record;
    const audiences = await this.#access.audiencesOf(askerOfRecord(record));
    const isOffered = await this.#registry.offered.isOffered(capability, refusers, audiences);
    if (isOffered) return { type: "wait", busy };
    return { type: "nobody", status: state.attempts.at(-1)?.status ?? 404 };
  }

  /** Whether the delegator may hand it to an agent. One that does not offer it any more refuses by itself. */
  async #isPermitted(agent: string, transaction: HandoffTransaction): Promise<boolean> {
    const record = transaction.record!;
    const offered = await this.#registry.offered.of(agent, record.capability);
    if (offered.every(({ terms }) => terms.from === undefined)) return true;
    const { body } = await this.#records.handoffOf(transaction);
    const wanted = wantedOf(offered, body);
    return (await this.#access.permitted(wanted, askerOfRecord(record))).length > 0;
  }

  /** Reserves room at the best of these; an agent that has lost its room meanwhile counts as busy. */
  #reserveBest(
    record: HandoffRecord,
    fits: readonly RankedCandidate[],
    busy: AgentSession[],
  ): Route | undefined {
    for (let left = fits; left.length > 0;) {
      const best = chooseCandidate(left, this.#random)!;
      const { agent_id: agent, capability } = best;
      const reserved = this.#reserve(record, agent, capability.concurrency);
      if (reserved !== undefined) return reserved;
      busy.push(...this.#attachedAs(agent));
      left = left.filter((each) => each !== best);
    }
    return undefined;
  }

  #attachedAs(agent: string): readonly AgentSession[] {
    const attached = this.#attached.get(agent);
    return attached === undefined ? [] : [attached];
  }

  /** Whether one of the agents without room is not ejected. Only the first few are considered. */
  async #isAnySound(
    busy: readonly AgentSession[],
    capability: string,
    now: number,
  ): Promise<boolean> {
    const some = busy.slice(0, BATCH);
    const stats = await Promise.all(some.map(({ agent }) => this.#measured.of(agent, capability)));
    return stats.some((each) => !isEjected(each, now));
  }

  /** The first few that are considered: none of those who have tried it. */
  #firstWithRoom(
    offering: OfferingAgents<AgentSession>,
    { capability, state: { attempts } }: HandoffRecord,
    refusers: ReadonlySet<string>,
    preferred: string | undefined,
  ): readonly AgentSession[] {
    const first = preferred === undefined ? [] : this.#attachedAs(preferred);
    const here = first.filter(
      (each) => each.room > 0 && this.#attachedCapabilities.has(each, capability),
    );
    for (const attached of offering.withRoom(this.#nextStart, FIRST_BATCH)) {
      const { agent } = attached;
      const hasTried = attempts.some(({ recipient }) => recipient === agent);
      if (!hasTried && !refusers.has(agent) && agent !== preferred) here.push(attached);
    }
    this.#nextStart += FIRST_BATCH;
    return here;
  }

  /**
   * Those with room who offer it, in the order in which they are considered: those who have tried it are
   * last, those who have proven themselves first, and the others follow round-robin.
   */
  #allWithRoom(
    offering: OfferingAgents<AgentSession>,
    { state: { attempts } }: HandoffRecord,
    refusers: ReadonlySet<string>,
  ): readonly AgentSession[] {
    const tried = new Set(attempts.map(({ recipient }) => recipient));
    const all = Array.from(offering.withRoom(this.#nextStart, BATCHES * BATCH));
    const here = all.filter(({ agent }) => !refusers.has(agent));
    return [
      ...here.filter(({ agent }) => !tried.has(agent)),
      ...here.filter(({ agent }) => tried.has(agent)),
    ];
  }

  /** What these agents offer under the name of a handoff; `busy` are those without room for it. */
  async #candidatesAmong(
    agents: readonly AgentSession[],
    record: HandoffRecord,
    now: number,
  ): Promise<{
    readonly candidates: readonly Candidate[];
    readonly busy: readonly AgentSession[];
    readonly isCut: boolean;
  }> {
    const { capability } = record;
    const busy: AgentSession[] = [];
    const permitted = await Promise.all(
      agents.map(async (attached) => {
        const all = await this.#registry.offered.of(attached.agent, capability);
        const offered = await this.#access.permitted(all, askerOfRecord(record));
        const open = offered.filter(
          ({ terms }) => attached.roomFor(capability, terms.concurrency) > 0,
        );
        if (open.length < offered.length) busy.push(attached);
        return open;
      }),
    );
    const all = permitted.flat();
    const { candidates, looked } = await this.#candidates.of(all, now);
    return { candidates, busy, isCut: looked < all.length };
  }

  /** Reserves room at an agent, synchronously: otherwise two handoffs could see the same room. */
  #reserve(
    { state, capability }: HandoffRecord,
    agent: string,
    concurrency: number | undefined,
  ): Route | undefined {
    const attached = this.#attached.get(agent);
    if (attached === undefined || attached.roomFor(capability, concurrency) === 0) return undefined;
    const attempt = state.attempts.length + 1;
    // It works on this very attempt, so the handoff is not as new as it was taken for.
    if (attached.heldAttempt(state.id) === attempt) return undefined;
    attached.hold(state.id, {
      attempt,
      capability,
      delegator: state.delegator,
    });
    return { type: "offer", to: attached };
  }

  /** The names under which handoffs wait that this agent could take. */
  async targetsOf(agent: string): Promise<string[]> {
    const offered = await this.#registry.offered.of(agent);
    const names = new Set(offered.map(({ name }) => name));
    return [`agent:${agent}`, ...[...names].map((name) => `capability:${name}`)];
  }

  /**
   * How many attempts an agent takes at once, by capability; the largest limit if it has several
   * versions.
   */
  async limitsOf(agent: string): Promise<ReadonlyMap<string, number>> {
    const limits = new Map<string, number>();
    for (const { name, terms } of await this.#registry.offered.of(agent)) {
      limits.set(name, Math.max(terms.concurrency ?? Infinity, limits.get(name) ?? 0));
    }
    return limits;
  }
}

function lacksRoom({ credit, inFlight = 0, capability }: Candidate): boolean {
  return credit === 0 || inFlight >= (capability.concurrency ?? Infinity);
}
