import { WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import type { UsageTally } from "../serving/usage-tally.ts";
import type { AttemptTrace } from "../tracing/attempt-trace.ts";

/** The running work whose children are handed off. */
export interface ParentWork {
  readonly envelope: HandoffEnvelope;
  /** Aborted, with the reason, when the attempt at the work is closed. */
  readonly signal: AbortSignal;
  readonly trace: AttemptTrace | undefined;
  /** Counts what the children use. */
  readonly tally: UsageTally;
}

/** Throws if the attempt at the parent is closed: the hub would refuse the child. */
export function checkParentOpen({ envelope, signal }: ParentWork, now: number): void {
  const { handoff_id: id, deadline } = envelope;
  const { aborted, reason } = signal as { readonly aborted: boolean; readonly reason: unknown };
  if (!aborted && Date.parse(deadline) > now) return;
  const why = aborted ? WaybillError.from(reason).message : `Its deadline ${deadline} has passed.`;
  throw new WaybillError(
    410,
    `This attempt at ${id} is closed, so it can't hand off parts of it: ${why} Stop the work. What must be done anyway, hand off with agent.handoff.`,
    { at: "/parent_id", cause: reason },
  );
}
