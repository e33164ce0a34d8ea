import { digestOfJws, editor, hub, id, MINUTE, researcher, salt, timeAt } from "./parties.ts";
import type { Party } from "./parties.ts";
import { signed } from "./wire.ts";

export type Members = Record<string, unknown>;

/** A copy with members replaced; undefined removes a member. */
export function changed(envelope: Members, over: Members): Members {
  return JSON.parse(JSON.stringify({ ...envelope, ...over })) as Members;
}

export const HANDOFF: Members = {
  waybill: 1,
  kind: "handoff",
  id: id(1),
  from: editor.agent,
  domain: hub.kid,
  to: researcher.agent,
  handoff_id: id(1),
  correlation_id: id(2),
  issued_at: timeAt(),
  salt: salt(1),
  deadline: timeAt(10 * MINUTE),
  body: { capability: "web_research", input: { query: "tides", depth: 2 } },
};

export const HANDOFF_TEXT: string = signed(HANDOFF, editor);
export const HANDOFF_DIGEST: string = digestOfJws(HANDOFF_TEXT);

function about(from: Party, to: Party, kind: string, n: number): Members {
  return {
    waybill: 1,
    kind,
    id: id(n),
    from: from.agent,
    to: to.agent,
    handoff_id: id(1),
    correlation_id: id(2),
    issued_at: timeAt(1000),
    salt: salt(n),
  };
}

const ofAttempt = { attempt: 1, re: HANDOFF_DIGEST };

export const CANCEL: Members = {
  ...about(editor, researcher, "cancel", 3),
  body: { reason: "not wanted any more" },
};
export const QUESTION: Members = {
  ...about(researcher, editor, "question", 4),
  ...ofAttempt,
  body: { questions: [{ id: "q-1", text: "Which coast?" }] },
};
export const ANSWER: Members = {
  ...about(editor, researcher, "answer", 5),
  re: digestOfJws(signed(QUESTION, researcher)),
  body: { question_id: "q-1", answer: "the North Sea" },
};
export const RECEIPT: Members = {
  ...about(researcher, editor, "receipt", 6),
  ...ofAttempt,
  body: { status: 101 },
};
export const PROGRESS: Members = {
  ...about(researcher, editor, "progress", 7),
  ...ofAttempt,
  body: { message: "reading", fraction: 0.5 },
};
export const RESULT: Members = {
  ...about(researcher, editor, "result", 8),
  ...ofAttempt,
  body: { status: 200, output: { sources: [], summary: "twice a day" }, effects: "none" },
};
export const NOTICE: Members = {
  ...about(hub, editor, "notice", 9),
  body: { status: 504, reason: "the deadline has come" },
};
