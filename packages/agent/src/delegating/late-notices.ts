import type { HandoffEnvelope } from "@waybill/protocol";
import { BoundedCache } from "@waybill/protocol/wire";
import type { Delivery } from "@waybill/protocol/wire";
import type { AgentContext } from "../context.ts";
import { checkReply } from "./check-reply.ts";
import type { HandoffHandle } from "./handoff-handle.ts";

/** A handoff whose end was not reported in time. */
type OverdueHandoff = Pick<HandoffHandle, "id" | "envelope" | "digest">;

/** A bounded cache of this size keeps at least the latest half of them. */
const HANDOFFS_REMEMBERED = 2_000;
/** How long to retry an acknowledgement during an outage. */
const ACKNOWLEDGE_WITHIN_MS = 60_000;

/**
 * Acknowledges the notices that come after a delegator has stopped waiting for the end: the
 * application knows that its handoff ran out of time, and nothing else here would acknowledge them.
 */
export class LateNotices {
  readonly #context: AgentContext;
  readonly #overdue = new BoundedCache<string, OverdueHandoff>(HANDOFFS_REMEMBERED);

  constructor(context: AgentContext) {
    this.#context = context;
  }

  expect({ id, envelope, digest }: OverdueHandoff): void {
    this.#overdue.set(id, { id, envelope: withoutContents(envelope), digest });
  }

  /** There is a handle again that waits for the end. */
  forget(handoffId: string): void {
    this.#overdue.delete(handoffId);
  }

  /** Acknowledges a late notice. Returns false for everything else: an application has to see a result. */
  async receive({
    handoff_id: handoffId,
    envelope: text,
    received_at: receivedAt,
  }: Extract<Delivery, { type: "envelope" }>): Promise<boolean> {
    const overdue = this.#overdue.get(handoffId);
    if (overdue === undefined) return false;
    const { id: self, hub, clock, link, peers, outgoing, acknowledgements } = this.#context;
    const until = clock.now() + ACKNOWLEDGE_WITHIN_MS;
    const { envelope, digest } = await link.retry(() => peers.verify(text, { receivedAt }), until);
    checkReply(envelope, overdue, { self, hub: hub.id });
    if (envelope.kind !== "notice") return false;
    const sent = acknowledgements.send({ handoff: overdue.envelope, ending: digest, until });
    await outgoing.track({ kind: "receipt", handoffId }, sent);
    this.#overdue.delete(handoffId);
    return true;
  }
}

/** The rest identifies the handoff, and its contents may be large. */
function withoutContents(handoff: HandoffEnvelope): HandoffEnvelope {
  return { ...handoff, body: { capability: handoff.body.capability } };
}
