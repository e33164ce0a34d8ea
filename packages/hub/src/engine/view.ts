import { parseEnvelope, readCompact } from "@waybill/protocol";
import type { Digest, HandoffEnvelope } from "@waybill/protocol";
import { formatTime } from "@waybill/protocol/wire";
import type { HandoffView, WaitsFor } from "@waybill/protocol/wire";
import { endingOf, openQuestions } from "../custody/handoff-record.ts";
import type { HandoffRecord } from "../custody/handoff-record.ts";
import { whyWaiting } from "../routing/why-waiting.ts";
import type { Engine } from "./engine.ts";

export async function viewOf(engine: Engine, record: HandoffRecord): Promise<HandoffView> {
  const { state, acceptance, session, onBehalfOf } = record;
  const receivedAt: Record<string, string> = {};
  const textOf = async (digest: Digest) => {
    const { text, at } = await engine.records.envelope(state.id, digest);
    receivedAt[digest] = formatTime(at);
    return text;
  };
  const ending = endingOf(record);
  const envelope = await textOf(state.digest);
  const startsAt = startOf(record, engine.clock.now());
  return {
    id: state.id,
    state: state.state,
    status: state.status,
    deadline: state.deadline,
    attempts: state.attempts.map((each) => ({
      number: each.number,
      recipient: each.recipient,
      state: each.state,
      closed: each.closed,
      status: each.status,
    })),
    isAcknowledged: state.isAcknowledged,
    ...(onBehalfOf === undefined ? {} : { onBehalfOf }),
    envelope,
    ...(session?.offered === undefined ? {} : { session: session.offered }),
    ...(startsAt === undefined ? {} : { startsAt }),
    ...(record.isWaiting ? { waitsFor: await waitsForOf(engine, record, envelope) } : {}),
    ...(acceptance === null ? {} : { acceptance: await textOf(acceptance) }),
    questions: await Promise.all(openQuestions(record).map(({ digest }) => textOf(digest))),
    ...(ending === null ? {} : { ending: await textOf(ending) }),
    receivedAt,
  };
}

/** If it may not be offered yet, the time from which it may. */
function startOf({ state }: HandoffRecord, now: number): number | undefined {
  const { attempts, nextAttemptAt } = state;
  const isHeld = state.state === "open" && attempts.length === 0;
  return isHeld && nextAttemptAt !== null && nextAttemptAt > now ? nextAttemptAt : undefined;
}

function waitsForOf(
  engine: Engine,
  record: HandoffRecord,
  envelope: string,
): Promise<readonly WaitsFor[]> {
  const handoff = parseEnvelope(readCompact(envelope).payload) as HandoffEnvelope;
  return whyWaiting(engine, record, handoff, engine.clock.now());
}

/** Knowing an id gives no rights: only the delegator and its recipients see anything. */
export function isParty({ state }: HandoffRecord, agent: string): boolean {
  return state.delegator === agent || state.attempts.some(({ recipient }) => recipient === agent);
}
