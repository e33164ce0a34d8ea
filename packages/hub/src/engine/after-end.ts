import { createHandoff, derivedId, signEnvelope, WaybillError } from "@waybill/protocol";
import type { AfterEnd, HandoffRecord } from "../custody/handoff-record.ts";
import { childrenKey, endWithParent, submit } from "./submit.ts";
import { commitHandoff } from "./commit-handoff.ts";
import type { Engine } from "./engine.ts";
import { endGroup } from "./end-group.ts";
import { reasonOf } from "./notice.ts";

const PAGE = 100;
const DEAD_LETTER_TIMEOUT_MS = 24 * 60 * 60 * 1000;
/** The original envelope travels inside another one, which has the same size limit. */
const ENVELOPE_PART = 0.5;

/** Does the remaining work after an end. It is idempotent: after a crash all of it is repeated. */
export async function runAfterEnd(engine: Engine, id: string): Promise<void> {
  const found = await engine.records.load(id);
  for (const name of found?.record.afterEnd ?? []) {
    await AFTER_END[name](engine, found!.record);
    await commitHandoff(engine, id, { type: "followed_up", part: name });
  }
}

async function endChildren(engine: Engine, parentId: string): Promise<void> {
  for (let after: string | undefined; ;) {
    const page = await engine.store.children(parentId, { after, limit: PAGE });
    await Promise.all(
      page.flatMap((child) => (child.state === "open" ? [endWithParent(engine, child.id)] : [])),
    );
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

const AFTER_END: Readonly<
  Record<AfterEnd, (engine: Engine, record: HandoffRecord) => Promise<void>>
> = {
  children: (engine, { state }) =>
    engine.records.queue.run(childrenKey(state.id), () => endChildren(engine, state.id)),

  group: (engine, { state, group }) => endGroup(engine, state.delegator, group!.id),

  async dead_letter(engine, record) {
    const { deadLetterAgent: agent, key } = engine.options;
    if (agent === undefined) return;
    const { state } = record;
    const { text } = await engine.records.envelope(state.id, state.digest);
    const isSmall = text.length < engine.limits.envelopeBytes * ENVELOPE_PART;
    const handoff = createHandoff(
      {
        from: engine.id,
        domain: engine.domain,
        to: agent,
        // Derived, so that the letter is handed over once, even if the hub crashes.
        handoffId: derivedId("dead letter", state.id),
        timeoutMs: DEAD_LETTER_TIMEOUT_MS,
        body: {
          capability: "dead_letter",
          input: {
            handoff_id: state.id,
            delegator: state.delegator,
            capability: record.capability,
            status: state.status,
            reason: record.reason ?? reasonOf(state, record.cause, undefined),
            digest: state.digest,
            ...(isSmall ? { envelope: text } : {}),
          },
        },
      },
      { now: () => engine.clock.now(), newId: engine.newId, newSalt: engine.newSalt },
    );
    try {
      await submit(engine, signEnvelope(handoff, key));
    } catch (error) {
      // 409: it was handed over before a crash. Otherwise no agent takes it, and the letter stays
      // listed.
      const isFinal = [403, 404, 409, 422].includes(WaybillError.from(error).status);
      if (!isFinal) throw error;
      engine.log({ event: "failure", handoffId: state.id, error });
    }
  },
};
