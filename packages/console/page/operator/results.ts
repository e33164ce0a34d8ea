import { effect, signal } from "@preact/signals";
import { isFailure, newId } from "@waybill/protocol";
import type { Delivery } from "@waybill/protocol/wire";
import { payloadOf } from "../hub/handoffs.ts";
import { acknowledge, isEnding } from "../trust/ending.ts";
import type { Ending } from "../trust/ending.ts";
import { inOnePage, receive } from "../trust/mailbox.ts";
import type { Post } from "../trust/post.ts";
import { lookForKey, operatorPost } from "./key.ts";

/** How what was replayed and handed off here has ended, since the page was opened. */
export interface Results {
  readonly completed: number;
  readonly failed: number;
}

export const results = signal<Results>({ completed: 0, failed: 0 });

/** Signatures that are checked before the page is drawn again. */
const AT_ONCE = 8;

/**
 * Receives the results of the operators' agent of this browser until the signal aborts. The ledger has
 * them, and the page shows them from there: each is acknowledged as soon as its signature holds.
 */
export function keepResults(stop: AbortSignal): void {
  // Where the key is needed, its panel asks again and says why it is not known.
  lookForKey().catch(() => undefined);
  let restart = new AbortController();
  const dispose = effect(() => {
    restart.abort();
    const post = operatorPost.value;
    if (post === undefined) return;
    const ends = AbortSignal.any([stop, (restart = new AbortController()).signal]);
    const mailbox = {
      who: post.who,
      instance: newId(),
      // It offers nothing.
      credit: () => 0,
      take: (deliveries: readonly Delivery[]) => take(post, deliveries),
      changed: () => undefined,
    };
    inOnePage(
      post.who,
      ends,
      () => receive(mailbox, ends),
      () => undefined,
    );
  });
  stop.addEventListener("abort", dispose);
}

async function take(post: Post, deliveries: readonly Delivery[]): Promise<void> {
  const endings: Ending[] = [];
  for (const each of deliveries) {
    if (each.type !== "envelope") continue;
    const unchecked = payloadOf(each.envelope);
    if (!isEnding(unchecked)) continue;
    // One that does not hold is not acknowledged: its record shows why.
    const verified = await post
      .verifyReceived(each.envelope, unchecked.from, each)
      .catch(() => undefined);
    if (verified === undefined || !isEnding(verified.envelope)) continue;
    endings.push({ envelope: verified.envelope, digest: verified.digest });
    if (endings.length % AT_ONCE === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  await acknowledge(post, endings);
  const failed = endings.filter(({ envelope }) => isFailure(envelope.body.status)).length;
  const { value } = results;
  if (endings.length === 0) return;
  results.value = {
    completed: value.completed + endings.length - failed,
    failed: value.failed + failed,
  };
}
