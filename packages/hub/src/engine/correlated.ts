import type { HandoffView } from "@waybill/protocol/wire";
import { recordOf } from "../custody/handoff-record.ts";
import { PAGE_CHARACTERS } from "../page.ts";
import type { Page } from "../store.ts";
import type { Engine } from "./engine.ts";
import { isParty, viewOf } from "./view.ts";

/** How many handoffs under one correlation id are searched for those of one agent. */
const LOOKED_THROUGH = 1_000;
const LOOKED_AT_ONCE = 100;

/** A page of the handoffs under one correlation id. */
export interface Correlated {
  readonly handoffs: readonly HandoffView[];
  /** The cursor; undefined at the end. */
  readonly last: string | undefined;
}

/**
 * The handoffs under one correlation id, by id; with `as`, those to which it is party. A page
 * may end early for its size.
 */
export async function correlated(
  engine: Engine,
  correlationId: string,
  { after, limit }: Page<string>,
  as?: string,
): Promise<Correlated> {
  const { store } = engine;
  const handoffs: HandoffView[] = [];
  let characters = 0;
  let looked = 0;
  const size = as === undefined ? limit : LOOKED_AT_ONCE;
  for (let from = after; looked < LOOKED_THROUGH;) {
    const stored = await store.correlated(correlationId, { after: from, limit: size });
    for (const each of stored) {
      const { record } = recordOf(each);
      if (as !== undefined && !isParty(record, as)) continue;
      const view = await viewOf(engine, record);
      handoffs.push(view);
      characters += charactersOf(view);
      const isFull = handoffs.length >= limit || characters >= PAGE_CHARACTERS;
      // Only an id of its own: an agent does not learn that others' exist.
      if (isFull) return { handoffs, last: each.id };
    }
    looked += stored.length;
    from = stored.at(-1)?.id;
    if (stored.length < size) break;
  }
  return { handoffs, last: undefined };
}

function charactersOf({ envelope, acceptance = "", questions, ending = "" }: HandoffView): number {
  const texts = [envelope, acceptance, ending, ...questions];
  return texts.reduce((sum, { length }) => sum + length, 0);
}
