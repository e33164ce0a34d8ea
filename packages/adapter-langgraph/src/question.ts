import { digestOf } from "@waybill/protocol";
import type { Digest, Json } from "@waybill/protocol";
import type { Paused, Run } from "@waybill/agent/adapter";
import type { Pending } from "./graph.ts";
import { jsonOf } from "./message-out.ts";

/** How often a node has asked under one interrupt's id, and its last question. */
interface AskedRound {
  readonly round: number;
  readonly value: Digest;
}

type AskedById = Readonly<Record<string, AskedRound>>;

/**
 * Compares what a thread waits for with what was asked before. One node may interrupt repeatedly under
 * one id, and a resume that is repeated after a crash would answer its next question. So each round is
 * a question of its own, and only the open one is given its answer.
 */
export function answersFor(
  pending: readonly Pending[],
  resume: Run["resume"],
): Readonly<Record<string, Json>> {
  const before = askedIn(resume);
  const given = pending.flatMap(({ id, value }) => {
    const asked = before[id];
    if (asked === undefined || asked.value !== valueOf(value)) return [];
    const answer = resume!.answers.get(questionId(id, asked.round));
    return answer === undefined ? [] : [[id, answer] as const];
  });
  return Object.fromEntries(given);
}

/** The interrupts as questions; those that were just answered count as the next round. */
export function pauseOf(
  pending: readonly Pending[],
  resume: Run["resume"],
  answered: Readonly<Record<string, Json>>,
): Paused {
  const before = askedIn(resume);
  const after: Record<string, AskedRound> = {};
  const questions = pending.map(({ id, value, schema }) => {
    const asked = before[id];
    const digest = valueOf(value);
    const isNext = asked !== undefined && (id in answered || asked.value !== digest);
    const round = (asked?.round ?? 0) + (isNext ? 1 : 0);
    after[id] = { round, value: digest };
    const { text, ...shown } = shownOf(value);
    return {
      id: questionId(id, round),
      ...(text === undefined ? {} : { text }),
      ...(schema === undefined ? {} : { schema: schema as Json }),
      ...shown,
    };
  });
  return { questions, state: JSON.stringify(after) };
}

function askedIn(resume: Run["resume"]): AskedById {
  return resume === undefined ? {} : (JSON.parse(resume.state) as AskedById);
}

function questionId(interrupt: string, round: number): string {
  return round === 0 ? interrupt : `${interrupt}/${round}`;
}

function valueOf(value: unknown): Digest {
  return digestOf(JSON.stringify(jsonOf(value ?? null)));
}

const TEXTS = ["text", "question", "message"] as const;

/** A string is the question; any other value goes along, with the question taken from it if it is known. */
function shownOf(value: unknown): { readonly text?: string; readonly data?: Json } {
  if (value === undefined || value === null) return {};
  if (typeof value === "string") return { text: value };
  const text = TEXTS.map((name) => (value as Record<string, unknown>)[name]).find(
    (each) => typeof each === "string",
  );
  return { ...(typeof text === "string" ? { text } : {}), data: jsonOf(value) };
}
