import { WaybillError } from "@waybill/protocol";
import type { Delivery } from "@waybill/protocol/wire";
import { get } from "../hub/hub.ts";
import { proofBy } from "./browser-key.ts";
import type { BrowserAgent } from "./browser-key.ts";

/** Whether an agent of this browser receives what the hub has for it. */
export type MailboxState =
  | { readonly type: "opening" }
  | { readonly type: "open" }
  | { readonly type: "gone"; readonly why: string }
  /** Another page or program acts as this agent. */
  | { readonly type: "elsewhere"; readonly why: string };

/** What the hub delivers to an agent of this browser. */
export interface Mailbox {
  readonly who: BrowserAgent;
  /** Tells this page from others that act as the same agent. */
  readonly instance: string;
  /** For how many attempts the agent has room now. */
  credit(): number;
  /** What it throws for is delivered again. */
  take(deliveries: readonly Delivery[]): Promise<void>;
  changed(state: MailboxState): void;
}

const WAIT_SECONDS = 20;
const AGAIN_MS = 500;
const AGAIN_AT_MOST_MS = 10_000;

/** Receives until the signal aborts, or until somebody else acts as this agent. */
export async function receive(
  { who, instance, credit, take, changed }: Mailbox,
  stop: AbortSignal,
): Promise<void> {
  let cursor = "";
  let isOpen = false;
  for (let wait = AGAIN_MS; !stop.aborted; wait = Math.min(wait * 2, AGAIN_AT_MOST_MS)) {
    try {
      for (;;) {
        // The first answer comes at once: it says that the inbox is open.
        const seconds = isOpen ? WAIT_SECONDS : 0;
        const query = `instance=${instance}&credit=${credit()}&wait_seconds=${seconds}&cursor=${cursor}`;
        const { deliveries, cursor: next } = await get<{
          cursor: string;
          deliveries: readonly Delivery[];
        }>(`/v1/inbox?${query}`, stop, proofBy(who));
        if (!isOpen) changed({ type: "open" });
        isOpen = true;
        wait = AGAIN_MS;
        await take(deliveries);
        // The next poll confirms them.
        cursor = next;
      }
    } catch (error) {
      if (stop.aborted) return;
      isOpen = false;
      const { status, message } = WaybillError.from(error);
      if (status === 401 || status === 403 || status === 409) {
        return changed({ type: "elsewhere", why: message });
      }
      changed({ type: "gone", why: message });
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/**
 * Follows the inbox of an agent in one page of this browser at a time: two would take each other's
 * deliveries away. `elsewhere` is called if another page has it; this one follows after that.
 */
export function inOnePage(
  { domain, agent }: BrowserAgent,
  stop: AbortSignal,
  follow: () => Promise<void>,
  elsewhere: () => void,
): void {
  const name = `waybill inbox ${domain} ${agent}`;
  const run = async () => {
    const isMine = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
      if (lock === null) return false;
      await follow();
      return true;
    });
    if (isMine) return;
    elsewhere();
    await navigator.locks.request(name, { signal: stop }, follow);
  };
  run().catch(() => {
    // The page is closing, or somebody else acts here now.
  });
}
