import type { HandoffEnvelope } from "@waybill/protocol";
import type { Draft } from "../custody/draft.ts";
import { envelopeEntry } from "../custody/entries.ts";
import type { Engine } from "./engine.ts";
import { whyWaiting, waitText } from "../routing/why-waiting.ts";
import { DECIDED_WITHOUT_IT, noticeOf, reasonOf } from "./notice.ts";

/** Puts into the commit of an end what belongs to it: the hub's notice, and what is left to do. */
export async function conclude(engine: Engine, draft: Draft): Promise<void> {
  const { state, hasChildren } = draft.record!;
  if (state.outcome === null) {
    const handoff = await engine.cases.handoffOf(draft);
    const { key } = engine.options;
    const { newId: makeId } = engine;
    const reason =
      draft.lastMove === "group_decided"
        ? DECIDED_WITHOUT_IT
        : await reasonFor(engine, draft, handoff);
    const notice = noticeOf(handoff, state, {
      hub: engine.id,
      key,
      now: draft.at,
      newId: makeId,
      reason,
    });
    const { digest, text } = notice;
    draft.entries.push(envelopeEntry(draft.at, notice));
    const isDeadLetter = state.state === "dead_lettered";
    draft.amend({ notice: digest, ...(isDeadLetter && { reason }) });
    draft.outgoing.push({ type: "envelope", to: state.delegator, digest, text, at: draft.at });
  }
  if (mayDecideGroup(draft)) draft.addFollowUp("group");
  if (hasChildren) draft.addFollowUp("children");
  if (state.delegator === engine.id) {
    const { outcome } = state;
    draft.frame({
      type: "acknowledge",
      by: engine.id,
      outcome: outcome ?? draft.record!.notice!,
      at: draft.at,
    });
  } else if (state.state === "dead_lettered" && engine.options.deadLetterAgent !== undefined) {
    draft.addFollowUp("dead_letter");
  }
}

/** Of a handoff that waited, the most telling of the reasons for that, besides what was said of it. */
async function reasonFor(engine: Engine, draft: Draft, handoff: HandoffEnvelope): Promise<string> {
  const { before } = draft;
  const record = draft.record!;
  const { state, cause } = record;
  // Who is not permitted any more is told so, whether it has waited or not.
  const isToldWhy = before?.isWaiting === true || state.status === 403;
  const waited =
    state.state === "dead_lettered" && isToldWhy
      ? waitText(await whyWaiting(engine, before ?? record, handoff, draft.at))
      : undefined;
  return reasonOf(state, cause, waited);
}

/** A success can only reach what asks for less than all, a failure only fail what asks for more than one. */
function mayDecideGroup({ record, lastMove }: Draft): boolean {
  const { group, state } = record!;
  if (group === null || group.size === 1 || lastMove === "group_decided") return false;
  return group.join !== (state.state === "completed" ? "all" : "any");
}
