import type { CountedUsage } from "@waybill/agent/adapter";

/** A line of a session's transcript, as `chat.history` gives it. */
export interface TranscriptRow {
  readonly role: string;
  readonly content: unknown;
  readonly idempotencyKey?: string | undefined;
  readonly stopReason?: string | undefined;
  readonly usage?: { readonly [count: string]: unknown } | undefined;
  readonly model?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly __openclaw?: { readonly id?: string; readonly runId?: string } | undefined;
}

/** How far a turn has come, by the transcript. */
export type TurnState =
  /** The gateway has not written it down. */
  | { readonly state: "absent" }
  | { readonly state: "unfinished" }
  | { readonly state: "failed"; readonly reason: string }
  /** `rowId` finds the whole text, which the history may have shortened. */
  | { readonly state: "finished"; readonly rowId: string | undefined; readonly text: string };

/** The turn that was asked for under this key. */
export function turnState(rows: readonly TranscriptRow[], key: string): TurnState {
  const asked = rows.findIndex((row) => row.idempotencyKey === askedAs(key));
  if (asked === -1) return { state: "absent" };
  // What the gateway does by itself after a restart is a turn of its own, with a key of its own.
  const last = rowsOf(rows, key).findLast(({ role }) => role === "assistant");
  if (last?.stopReason === "error") return { state: "failed", reason: textIn(last) };
  const isOver = last?.stopReason === "stop" || last?.stopReason === "length";
  if (last === undefined || !isOver) return { state: "unfinished" };
  return { state: "finished", rowId: last.__openclaw?.id, text: textIn(last) };
}

/** The usage that models have reported for the requests of a turn. */
export function usageOfTurn(rows: readonly TranscriptRow[], key: string): CountedUsage[] {
  return rowsOf(rows, key).flatMap(({ usage, model }) => {
    if (usage === undefined) return [];
    const { input, output, cacheRead } = usage;
    const read = typeof cacheRead === "number" ? cacheRead : 0;
    const input_tokens = typeof input === "number" ? input + read : input;
    return [{ model, requests: 1, input_tokens, cached_input_tokens: read, output_tokens: output }];
  });
}

/** The keys under which turns were asked for, in order. */
export function keysIn(rows: readonly TranscriptRow[]): string[] {
  return rows.flatMap(({ role, idempotencyKey }) => {
    const isAsked = role === "user" && idempotencyKey?.endsWith(ASKED) === true;
    return isAsked ? [idempotencyKey.slice(0, -ASKED.length)] : [];
  });
}

const ASKED = ":user";

function askedAs(key: string): string {
  return `${key}${ASKED}`;
}

/** What was said and done between this request and the next one. */
function rowsOf(rows: readonly TranscriptRow[], key: string): TranscriptRow[] {
  const asked = rows.findIndex((row) => row.idempotencyKey === askedAs(key));
  const since = rows.slice(asked + 1);
  const next = since.findIndex(({ role }) => role === "user");
  return next === -1 ? since : since.slice(0, next);
}

/** The text of a line, without its calls and media. */
export function textIn({ content }: TranscriptRow): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { type?: string; text?: string }) => part.text ?? "").join("");
}
