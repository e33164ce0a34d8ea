import { liveAttempt } from "@waybill/protocol/hub";
import type { HubEvent } from "../custody/entries.ts";
import type { CachedRecord } from "../custody/handoff-records.ts";
import { HandoffTransaction } from "../custody/handoff-transaction.ts";
import type { AgentSession } from "../routing/agent-session.ts";
import { deliver, onCommitUnknown } from "./commit-handoff.ts";
import type { Engine } from "./engine.ts";
import { onConflict } from "./other-hubs.ts";

/** An unsigned message on an agent's own connection, about its attempt. */
export interface Frame {
  readonly type: "taken" | "heartbeat";
  readonly handoffId: string;
  readonly attempt: number;
}

/**
 * Accepts a frame: in memory, and every second one on disk. With frames a third of the lease apart,
 * no other hub and no restart takes a live attempt for silent.
 */
export function commitFrame(engine: Engine, attached: AgentSession, frame: Frame): Promise<void> {
  const { records, clock } = engine;
  const { handoffId: id } = frame;
  const work = records.queue.run(id, async () => {
    const before = await records.load(id);
    if (before === undefined) return;
    const transaction = new HandoffTransaction(before, clock.now());
    const events = decideFrame(engine, transaction, attached, frame);
    if (events === undefined || transaction.record === undefined) return;
    const ahead: CachedRecord = { ...before, soft: [...before.soft, ...events] };
    if (before.isAhead !== true) {
      return records.keep({ ...ahead, record: transaction.record, isAhead: true });
    }
    const written = (await records.write([{ id, before: ahead, transaction }]))[0]!;
    if (written.type === "committed") await deliver(engine, transaction, written.stored);
    if (written.type === "unknown") {
      onCommitUnknown(engine, written.stored);
      throw written.error;
    }
    if (written.type === "conflict") await onConflict(engine, id, before);
  });
  engine.inBackground(work);
  return work;
}

/** What the ledger needs of the frame if its attempt is lost; undefined if nothing has changed. */
function decideFrame(
  engine: Engine,
  transaction: HandoffTransaction,
  attached: AgentSession,
  { type, handoffId, attempt }: Frame,
): readonly HubEvent[] | undefined {
  const event = { type, by: attached.agent, attempt, at: transaction.at } as const;
  const before = transaction.record;
  const status = transaction.frame(event);
  if (status === 410) {
    const closed = transaction.record?.state.attempts[attempt - 1];
    const reason = "This attempt is closed.";
    attached.deliver({
      type: "stop",
      handoff_id: handoffId,
      attempt,
      status: closed?.status ?? 410,
      reason,
    });
  }
  if (transaction.record === before) return undefined;
  if (type === "heartbeat") return [];
  const { by, at } = event;
  const until = liveAttempt(transaction.record!.state)!.silentAt!;
  engine.acceptanceTimers.note(handoffId, { by, attempt, at, until });
  return [event];
}
