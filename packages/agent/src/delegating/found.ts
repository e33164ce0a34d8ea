import type { HandoffEnvelope, SignedText } from "@waybill/protocol";
import type { HandoffView } from "@waybill/protocol/wire";
import type { AgentContext } from "../context.ts";
import type { Handle } from "./handle.ts";

/** An earlier handoff of this agent, as the hub has it. */
export interface FoundHandoff {
  readonly view: HandoffView;
  readonly envelope: HandoffEnvelope;
  readonly signed: SignedText;
}

export async function findOwn(
  { id, hub, link, peers }: AgentContext,
  handoffId: string,
): Promise<FoundHandoff | undefined> {
  const view = await link.within(hub.handoff(handoffId, id));
  if (view === undefined) return undefined;
  const { envelope, text, digest } = await link.within(
    peers.verify(view.envelope, { receivedAt: view.receivedAt }),
  );
  const isOwn = envelope.kind === "handoff" && envelope.from === id;
  return isOwn && envelope.handoff_id === handoffId
    ? { view, envelope, signed: { text, digest } }
    : undefined;
}

/** Replays to a handle everything that has happened to its handoff so far. */
export async function adopt(
  handle: Handle,
  { view, envelope, signed }: FoundHandoff,
): Promise<void> {
  handle.found(envelope, signed);
  const { acceptance, questions, ending, receivedAt } = view;
  for (const each of [acceptance, ...questions, ending]) {
    if (each !== undefined) await handle.receive(each, receivedAt);
  }
  handle.isFound();
}
