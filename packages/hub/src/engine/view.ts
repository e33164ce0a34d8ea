import type { Digest } from "@waybill/protocol";
import { endingOf, openQuestions } from "../custody/record.ts";
import type { HandoffRecord } from "../custody/record.ts";
import type { HandoffView } from "../hub-api.ts";
import type { Engine } from "./engine.ts";

export async function viewOf(engine: Engine, record: HandoffRecord): Promise<HandoffView> {
  const { state, acceptance } = record;
  const receivedAt: Record<string, number> = {};
  const paper = async (digest: Digest) => {
    const { text, at } = await engine.cases.paper(state.id, digest);
    receivedAt[digest] = at;
    return text;
  };
  const ending = endingOf(record);
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
    envelope: await paper(state.digest),
    ...(acceptance === null ? {} : { acceptance: await paper(acceptance) }),
    questions: await Promise.all(openQuestions(record).map(({ digest }) => paper(digest))),
    ...(ending === null ? {} : { ending: await paper(ending) }),
    receivedAt,
  };
}

/** Knowing an id is not owning it: only the delegator and those who were asked see anything. */
export function isParty({ state }: HandoffRecord, agent: string): boolean {
  return state.delegator === agent || state.attempts.some(({ recipient }) => recipient === agent);
}
