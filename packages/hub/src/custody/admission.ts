import { parseTime, WaybillError } from "@waybill/protocol";
import type { Envelope, HandoffEnvelope, Limits } from "@waybill/protocol";
import type { HubLimits } from "../engine/options.ts";
import type { Store } from "../store.ts";
import { traceIdOf } from "./handoff-transaction.ts";
import type { HandoffTransaction } from "./handoff-transaction.ts";
import type { HandoffRecord } from "./handoff-record.ts";

/** Refuses an envelope with another correlation id or trace than its handoff: it would mix up two jobs. */
export function checkThread(envelope: Envelope, record: HandoffRecord): void {
  if (envelope.correlation_id !== record.correlationId) {
    throw new WaybillError(
      400,
      `The ${envelope.kind} has a different correlation id than its handoff ${envelope.handoff_id}; create it from the handoff's envelope.`,
      { at: "/correlation_id" },
    );
  }
  const traceId = traceIdOf(envelope);
  if (traceId !== null && record.traceId !== null && traceId !== record.traceId) {
    throw new WaybillError(
      400,
      `The ${envelope.kind} belongs to a different trace than its handoff ${envelope.handoff_id}.`,
      { at: "/traceparent" },
    );
  }
}

/**
 * Whether the delegator works or has worked on the parent. The answer is the same if there is no such
 * parent: an id must not reveal whether there is a handoff behind it.
 */
export function checkHeld(
  { from }: HandoffEnvelope,
  parentId: string,
  parent: HandoffRecord | undefined,
): void {
  if (parent?.state.attempts.some(({ recipient }) => recipient === from) === true) return;
  throw new WaybillError(
    403,
    `${from} is not working on ${parentId}, if it exists, so it can't hand off parts of it.`,
    { at: "/parent_id" },
  );
}

/** Whether a handoff may be a child of another. */
export function checkChild(child: HandoffEnvelope, parent: HandoffRecord): void {
  const { state } = parent;
  checkHeld(child, state.id, parent);
  const isHolder = state.attempts.some(
    (attempt) => attempt.recipient === child.from && attempt.state !== "closed",
  );
  if (state.state !== "open" || !isHolder) {
    throw new WaybillError(
      410,
      `The attempt of ${child.from} on the parent ${state.id} is closed: stop that work.`,
      { at: "/parent_id" },
    );
  }
  if (parseTime(child.deadline)! > state.deadline) {
    throw new WaybillError(
      400,
      `A handoff must not end later than its parent: the deadline of ${state.id} is ${new Date(state.deadline).toISOString()}.`,
      { at: "/deadline" },
    );
  }
  if ((child.hop ?? 0) !== parent.hop + 1) {
    throw new WaybillError(
      400,
      `The hop of a child must be one more than its parent's: ${parent.hop + 1}, not ${child.hop ?? 0}.`,
      { at: "/hop" },
    );
  }
  if (child.correlation_id !== parent.correlationId) {
    throw new WaybillError(400, `A child must have the correlation id of its parent ${state.id}.`, {
      at: "/correlation_id",
    });
  }
  if (parent.traceId !== null && traceIdOf(child) !== parent.traceId) {
    throw new WaybillError(400, `A child must belong to the trace of its parent ${state.id}.`, {
      at: "/traceparent",
    });
  }
}

const PAGE = 100;

/** Limits the children of one parent; grandchildren count for their own parent. */
export async function checkFanOut(store: Store, parentId: string, limits: Limits): Promise<void> {
  let count = 0;
  for (let after: string | undefined; ;) {
    const page = await store.children(parentId, { after, limit: PAGE });
    count += page.length;
    if (count >= limits.fanOut) {
      throw new WaybillError(
        413,
        `The handoff ${parentId} has ${count} children, and the limit is ${limits.fanOut}; hand off larger parts.`,
        { at: "/parent_id" },
      );
    }
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

/** An offer contains all answers, so their sum is limited by the size of a delivery. */
export function checkAnswers(
  { before, record }: Pick<HandoffTransaction, "before" | "record">,
  { answerCharacters }: Pick<HubLimits, "answerCharacters">,
): void {
  const count = record?.answerCharacters ?? 0;
  if (count === before?.answerCharacters || count <= answerCharacters) return;
  throw new WaybillError(
    413,
    `The answers to the questions of ${record!.state.id} would have ${count} characters in total, and the limit is ${answerCharacters}. Send a shorter answer, or cancel the handoff and pass the large content as its input.`,
    { at: "/body/answer" },
  );
}
