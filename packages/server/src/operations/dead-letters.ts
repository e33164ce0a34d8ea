import type { DeadLetter, DeadLetterDetail } from "@waybill/hub";
import { writeEntry } from "@waybill/hub/serving";
import { WaybillError } from "@waybill/protocol";
import { httpShapes, writeHandoffView } from "@waybill/protocol/wire";
import type { WireDeadLetter } from "@waybill/protocol/wire";
import type { Caller } from "../access/caller.ts";
import type { Served } from "../served.ts";
import { asWhom } from "./handoffs.ts";
import { operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const PAGE = 100;

export function deadLetterOperations(): readonly AnyOperation[] {
  const { ofHandoff, pageById, deadLetters, deadLetter, submission, receipt, discard } =
    httpShapes();
  return [
    operation({
      id: "listDeadLetters",
      method: "GET",
      path: "/v1/dead-letters",
      summary:
        "Handoffs that ended without a result of their recipient, and that nobody has replayed or discarded. An agent sees its own.",
      cost: "O(limit): one handoff is read for each place of the page.",
      who: "party",
      query: pageById,
      answer: deadLetters,
      refusals: [],
      async handle({ served, caller, query: { after, limit = PAGE } }) {
        const letters = await served.hub.deadLetters.list({ after, limit }, asWhom(caller));
        const next = letters.length < limit ? undefined : letters.at(-1)!.id;
        return { dead_letters: letters.map(writeLetter), next };
      },
    }),
    operation({
      id: "getDeadLetter",
      method: "GET",
      path: "/v1/dead-letters/{id}",
      summary:
        "One dead letter, with its attempts and the first entries about it; if there is a next, its history continues after that entry.",
      cost: "O(1): one handoff is read, with its attempts, and at most 100 entries, or fewer once they reach 1 MiB of text.",
      who: "party",
      params: ofHandoff,
      answer: deadLetter,
      refusals: [404],
      async handle({ served, caller, params: { id } }) {
        const letter = await shown(served, caller, id);
        return {
          ...writeLetter(letter),
          handoff: writeHandoffView(letter.handoff),
          entries: letter.entries.map(writeEntry),
          next: letter.next,
        };
      },
    }),
    operation({
      id: "replayDeadLetter",
      method: "POST",
      path: "/v1/dead-letters/{id}/replay",
      summary:
        "Replays a dead letter, as the handoff that its delegator or an operators' agent has signed with replay_of. Operators' agents replay each one once.",
      cost: "O(bytes of the body): the cost of a submission, one more commit, and reading the dead letter with at most 100 entries.",
      who: "party",
      params: ofHandoff,
      body: submission,
      answer: receipt,
      refusals: [404, 409, 410, 422, 504],
      async handle({ served, caller, params: { id }, body }) {
        if (!(await isOperators(served, caller))) await shown(served, caller, id);
        return { receipt: await served.hub.deadLetters.replay(id, body.envelope) };
      },
    }),
    operation({
      id: "discardDeadLetter",
      method: "POST",
      path: "/v1/dead-letters/{id}/discard",
      summary:
        "Removes a dead letter from the list. It stays in the ledger, with the reason, and with the signed request if it comes from an operators' agent.",
      cost: "O(bytes of the body): one commit.",
      who: "party",
      params: ofHandoff,
      body: discard,
      answer: undefined,
      refusals: [404],
      async handle({ served, caller, params: { id }, body: { reason }, signed }) {
        if (!(await isOperators(served, caller))) {
          throw new WaybillError(
            403,
            "Only operators and their agents may discard a dead letter. To make an agent one of theirs: waybill groups add operators <agent>",
          );
        }
        await served.hub.deadLetters.discard(id, { reason, signed: signed() });
      },
    }),
  ];
}

async function isOperators({ hub }: Served, caller: Caller): Promise<boolean> {
  if (caller.type === "agent") return hub.operator.isOperatorsAgent(caller.agent);
  return caller.type === "operator";
}

/** An agent does not learn whether others' dead letters exist. */
async function shown({ hub }: Served, caller: Caller, id: string): Promise<DeadLetterDetail> {
  const letter = await hub.deadLetters.show(id);
  const as = asWhom(caller);
  if (as === undefined || letter.delegator === as) return letter;
  throw new WaybillError(
    404,
    `There is no dead letter ${id} here. List the dead letters to see their ids.`,
  );
}

function writeLetter(letter: DeadLetter): WireDeadLetter {
  const { id, status, reason, delegator, capability, correlationId, attempts } = letter;
  return {
    id,
    status: status as WireDeadLetter["status"],
    reason,
    delegator,
    capability,
    correlation_id: correlationId,
    attempts,
  };
}
