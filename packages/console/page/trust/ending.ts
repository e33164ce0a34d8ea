import { createReply, isFailure, LIMITS } from "@waybill/protocol";
import type {
  Digest,
  Envelope,
  NoticeEnvelope,
  ReceiptEnvelope,
  ResultEnvelope,
} from "@waybill/protocol";
import type { Post } from "./post.ts";

/** How something has ended that an agent of this browser has handed off. */
export interface Ending {
  readonly envelope: ResultEnvelope | NoticeEnvelope | ReceiptEnvelope;
  readonly digest: Digest;
}

/** Whether it ends a handoff. A rejection ends one that nobody else can be offered. */
export function isEnding(envelope: Envelope): envelope is Ending["envelope"] {
  const { kind } = envelope;
  return (
    kind === "result" ||
    kind === "notice" ||
    (kind === "receipt" && isFailure(envelope.body.status))
  );
}

/** Confirms endings to the hub, so that it does not deliver them again: as many as it allows at once. */
export async function acknowledge(post: Post, endings: readonly Ending[]): Promise<void> {
  const { agent: from, hub: to } = post.who;
  const most = LIMITS.alsoListed + 1;
  for (let start = 0; start < endings.length; start += most) {
    const [first, ...others] = endings.slice(start, start + most) as [Ending, ...Ending[]];
    const handoff = await post.ownHandoff(first.envelope.handoff_id);
    const also = others.map(({ envelope, digest: re }) => ({
      handoff_id: envelope.handoff_id,
      re,
    }));
    const body = { status: 200, ...(also.length > 0 && { also }) } as const;
    const re = first.digest;
    await post.submit(createReply(handoff, { kind: "receipt", from, to, re, body }));
  }
}
