import { parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import type { Discard, HandoffView } from "@waybill/protocol/wire";
import { recordOf } from "./custody/handoff-record.ts";
import type { HandoffRecord } from "./custody/handoff-record.ts";
import { submit } from "./engine/submit.ts";
import { commitHandoff } from "./engine/commit-handoff.ts";
import type { Engine } from "./engine/engine.ts";
import { reasonOf } from "./engine/notice.ts";
import { viewOf } from "./engine/view.ts";
import { nextEntry, PAGE_CHARACTERS } from "./page.ts";
import type { LedgerEntry, Page } from "./store.ts";

/** A handoff that ended without its recipient's verdict, and why. */
export interface DeadLetter {
  readonly id: string;
  readonly status: number;
  readonly reason: string;
  readonly delegator: string;
  readonly capability: string;
  readonly correlationId: string;
  readonly attempts: number;
}

/** A dead letter with its records, including the original bytes. */
export interface DeadLetterDetail extends DeadLetter {
  readonly handoff: HandoffView;
  /** The first ones; the others are in its history. */
  readonly entries: readonly LedgerEntry[];
  /** The sequence after which its history continues; undefined if these are all. */
  readonly next?: number | undefined;
}

const PAGE = 100;

/** For operators: handoffs that ended without their recipient's verdict. */
export class DeadLetters {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** By id: all of them, or those of one delegator. */
  async list(page: Page<string>, delegator?: string): Promise<readonly DeadLetter[]> {
    const stored = await this.#engine.store.deadLetters(page, delegator);
    return stored.map((each) => deadLetterOf(recordOf(each).record));
  }

  async show(id: string): Promise<DeadLetterDetail> {
    const record = await this.#recordOf(id);
    const page = { limit: PAGE, characters: PAGE_CHARACTERS };
    const entries = await this.#engine.store.ledgerOf(id, page);
    const next = nextEntry(entries, page);
    return {
      ...deadLetterOf(record),
      handoff: await viewOf(this.#engine, record),
      entries,
      ...(next === undefined ? {} : { next }),
    };
  }

  /**
   * Retries it, as the handoff that its delegator or an operators' agent has signed with `replay_of`.
   * Returns the custody receipt.
   */
  async replay(id: string, envelope: string): Promise<string> {
    await this.#recordOf(id);
    const signed = parseEnvelope(readCompact(envelope).payload);
    if (signed.kind !== "handoff" || signed.replay_of !== id) {
      throw new WaybillError(
        400,
        `A replay of ${id} must be a new handoff with replay_of set to that id, signed by the agent that replays it.`,
        { at: "/replay_of" },
      );
    }
    return submit(this.#engine, envelope);
  }

  /** It stays on record together with the reason, and is not listed any more. */
  async discard(id: string, discard: Discard): Promise<void> {
    await this.#recordOf(id);
    await commitHandoff(this.#engine, id, { type: "discard", discard });
  }

  async #recordOf(id: string): Promise<HandoffRecord> {
    const record = (await this.#engine.records.load(id))?.record;
    if (record?.state.state === "dead_lettered") return record;
    throw new WaybillError(
      404,
      `There is no dead letter ${id} here. List the dead letters to see their ids.`,
    );
  }
}

function deadLetterOf(record: HandoffRecord): DeadLetter {
  const { state, capability, correlationId } = record;
  return {
    id: state.id,
    status: state.status,
    reason: record.reason ?? reasonOf(state, record.cause, undefined),
    delegator: state.delegator,
    capability,
    correlationId,
    attempts: state.attempts.length,
  };
}
