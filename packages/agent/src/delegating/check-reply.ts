import { WaybillError } from "@waybill/protocol";
import type { Envelope } from "@waybill/protocol";
import type { HandoffHandle } from "./handoff-handle.ts";

/** Throws unless an envelope is about this handoff, and its sender may send it. */
export function checkReply(
  envelope: Envelope,
  handle: Pick<HandoffHandle, "id" | "envelope" | "digest">,
  { self, hub }: { readonly self: string; readonly hub: string },
): void {
  const { to } = handle.envelope;
  const isOwn = envelope.kind === "cancel" && envelope.from === self;
  const isForUs = envelope.to === self;
  const isNotice = envelope.kind === "notice" && envelope.from === hub && isForUs;
  const isRecipient = typeof to !== "string" || envelope.from === to;
  const isForThis = "re" in envelope && envelope.re === handle.digest && isForUs && isRecipient;
  const isAbout = envelope.handoff_id === handle.id;
  const isOfJob = envelope.correlation_id === handle.envelope.correlation_id;
  if (isAbout && isOfJob && (isOwn || isNotice || isForThis)) return;
  throw new WaybillError(
    403,
    `A ${envelope.kind} from ${envelope.from} was delivered for ${handle.id}, but it is about another handoff.`,
  );
}
