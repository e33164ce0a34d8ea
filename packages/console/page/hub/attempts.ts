import type { HandoffRecord } from "./record.ts";
import { envelopeText } from "./event-text.ts";

/** One attempt, as its handoff's record tells it. */
export interface AttemptRow {
  readonly handoff: string;
  readonly number: number;
  readonly recipient: string;
  readonly offeredAt: number | undefined;
  /** From the offer to the last that is on record about it. */
  readonly tookMs: number | undefined;
  readonly state: string;
  readonly status: number;
  /** What the recipient said, in order. */
  readonly says: readonly string[];
}

interface Decision {
  readonly type: string;
  readonly attempt?: number;
}

/** The attempts of a handoff, with what is on record about each. */
export function attemptsOf({ hub, view, entries }: HandoffRecord): readonly AttemptRow[] {
  const decisions = entries.flatMap(({ entry }) =>
    entry.type === "decision"
      ? [{ at: Date.parse(entry.at), ...(JSON.parse(entry.content) as Decision) }]
      : [],
  );
  const offers = decisions.filter(({ type }) => type === "offer");
  return view.attempts.map(({ number, recipient, state, closed, status }) => {
    const said = entries.flatMap(({ entry, envelope }) =>
      envelope !== undefined && "attempt" in envelope && envelope.attempt === number
        ? [{ at: Date.parse(entry.at), ...envelopeText(envelope, hub) }]
        : [],
    );
    const about = decisions.filter(({ attempt }) => attempt === number);
    const offeredAt = offers[number - 1]?.at;
    const last = Math.max(...[...said, ...about].map(({ at }) => at), offeredAt ?? 0);
    return {
      handoff: view.id,
      number,
      recipient,
      offeredAt,
      tookMs: offeredAt === undefined ? undefined : last - offeredAt,
      state: closed === null ? state : closed.replaceAll("_", " "),
      status,
      says: said.map(({ what, more }) => (more === "" ? what : `${what}: ${more}`)),
    };
  });
}
