import { statusOf } from "@waybill/protocol";
import { liveAttempt } from "@waybill/protocol/hub";
import type { Digest, StatusCode } from "@waybill/protocol";
import { formatTime } from "@waybill/protocol/wire";
import type { Delivery } from "@waybill/protocol/wire";
import type { HandoffRecords, StoredEnvelope } from "../custody/handoff-records.ts";
import type { Outgoing } from "../custody/handoff-transaction.ts";
import { envelopesForDelegator } from "../custody/handoff-record.ts";
import type { HandoffRecord } from "../custody/handoff-record.ts";
import type { AgentSession } from "../routing/agent-session.ts";

/** Delivers what is on disk to the agents that are attached here. Others find it in their inbox. */
export class Deliveries {
  readonly #attached: ReadonlyMap<string, AgentSession>;
  readonly #records: Pick<HandoffRecords, "envelope" | "envelopes">;
  readonly #now: () => number;

  constructor(
    attached: ReadonlyMap<string, AgentSession>,
    records: Pick<HandoffRecords, "envelope" | "envelopes">,
    now: () => number,
  ) {
    this.#attached = attached;
    this.#records = records;
    this.#now = now;
  }

  /** Returns a promise if an envelope must be read. */
  send(record: HandoffRecord, outgoing: readonly Outgoing[]): Promise<unknown> | undefined {
    const { id: handoffId } = record.state;
    const waits: Promise<void>[] = [];
    for (const each of outgoing) {
      const attached = this.#attached.get(each.to);
      if (attached === undefined) continue;
      if (each.type === "envelope") this.#pass(attached, handoffId, each.digest, each);
      else if (each.type === "stop") stop(attached, handoffId, each.attempt, each.status);
      else {
        const offering = this.#offer(attached, record, each.attempt);
        if (offering !== undefined) waits.push(offering);
      }
    }
    this.releaseClosed(record);
    return waits.length === 0 ? undefined : Promise.all(waits);
  }

  /**
   * Delivers everything about a handoff that an agent may have missed, except what is in `given`.
   * Returns true if there is more than can be sent before the agent has read some of it.
   */
  async deliverMissed(
    record: HandoffRecord,
    attached: AgentSession,
    given: Set<Digest>,
  ): Promise<boolean> {
    const { state } = record;
    if (state.delegator === attached.agent) {
      for (const digest of envelopesForDelegator(record)) {
        if (given.has(digest)) continue;
        if (attached.isBehind) return true;
        this.#pass(attached, state.id, digest, await this.#records.envelope(state.id, digest));
        given.add(digest);
      }
    }
    const live = liveAttempt(state);
    if (live?.recipient !== attached.agent) return false;
    attached.hold(state.id, {
      attempt: live.number,
      capability: record.capability,
      delegator: state.delegator,
    });
    await this.#offer(attached, record, live.number);
    return false;
  }

  /** Delivers to the agents here what another hub has committed. */
  async follow(record: HandoffRecord): Promise<void> {
    const { state } = record;
    const delegator = this.#attached.get(state.delegator);
    const live = liveAttempt(state);
    for (const digest of delegator === undefined ? [] : envelopesForDelegator(record)) {
      this.#pass(delegator!, state.id, digest, await this.#records.envelope(state.id, digest));
    }
    for (const attached of this.#attached.values()) {
      const held = attached.heldAttempt(state.id);
      if (held === undefined || state.attempts[held - 1]?.recipient !== attached.agent) continue;
      const attempt = state.attempts[held - 1]!;
      if (attempt.state === "closed") stop(attached, state.id, held, attempt.status);
      else if (live?.number === held) {
        for (const digest of record.answers) {
          this.#pass(attached, state.id, digest, await this.#records.envelope(state.id, digest));
        }
      }
    }
    this.releaseClosed(record);
  }

  /** Frees the room of the agents whose attempts are closed. */
  releaseClosed({ state }: HandoffRecord): void {
    const live = liveAttempt(state);
    for (const { recipient, number } of state.attempts) {
      if (number === live?.number) continue;
      const attached = this.#attached.get(recipient);
      if (attached?.heldAttempt(state.id) === number) attached.drop(state.id);
    }
  }

  #pass(
    attached: AgentSession,
    handoffId: string,
    digest: Digest,
    { text, at }: StoredEnvelope,
  ): void {
    const receivedAt = { [digest]: formatTime(at) };
    attached.deliver({
      type: "envelope",
      id: digest,
      handoff_id: handoffId,
      envelope: text,
      received_at: receivedAt,
    });
  }

  #offer(
    attached: AgentSession,
    record: HandoffRecord,
    attempt: number,
  ): Promise<void> | undefined {
    const { id } = record.state;
    const found = this.#records.envelopes(id, digestsOfOffer(record));
    if (!(found instanceof Promise)) {
      attached.deliver(offerOf(record, attempt, found, this.#now()));
      return undefined;
    }
    return found.then((envelopes) =>
      attached.deliver(offerOf(record, attempt, envelopes, this.#now())),
    );
  }
}

/** The handoff, the question that it has paused with, and the answers to all questions. */
function digestsOfOffer({ state, asked, answers }: HandoffRecord): Digest[] {
  const paused = asked.findLast((each) => each.attempt === state.resumes?.attempt);
  return [state.digest, ...(paused === undefined ? [] : [paused.digest]), ...answers];
}

function offerOf(
  record: HandoffRecord,
  number: number,
  envelopes: readonly StoredEnvelope[],
  now: number,
): Delivery {
  const { state, answers, session } = record;
  const attempt = state.attempts[number - 1]!;
  const texts = envelopes.map(({ text }) => text);
  const isResumed = texts.length > answers.length + 1;
  return {
    type: "offer",
    id: `${state.id}/${number}`,
    handoff_id: state.id,
    attempt: number,
    envelope: texts[0]!,
    remaining_ms: Math.max(0, Math.floor(state.deadline - now)),
    lease_ms: Math.floor(state.terms.leaseMs),
    is_accepted: attempt.state !== "offered",
    ...(isResumed ? { resume: texts[1]! } : {}),
    answers: texts.slice(isResumed ? 2 : 1),
    received_at: Object.fromEntries(
      digestsOfOffer(record).map((digest, index) => [digest, formatTime(envelopes[index]!.at)]),
    ),
    ...(session?.offered === undefined ? {} : { session: session.offered }),
  };
}

function stop(
  attached: AgentSession,
  handoffId: string,
  attempt: number,
  status: StatusCode,
): void {
  attached.deliver({
    type: "stop",
    handoff_id: handoffId,
    attempt,
    status,
    reason: statusOf(status).meaning,
  });
}
