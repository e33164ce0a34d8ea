/// <reference types="node" />
import type { Hub } from "../hub.ts";
import { checkTimeout } from "../times.ts";
import { addressOf } from "./address.ts";
import type { ConnectionLog } from "./connection-log.ts";
import { HttpCalls } from "./http-calls.ts";
import { HubIdentity } from "./hub-identity.ts";
import { retry } from "./retry.ts";
import { RemoteHub } from "./remote-hub.ts";
import { WAITS } from "./socket.ts";

/** How to find a hub, and which. */
export interface ConnectOptions {
  /**
   * The custody domain that the hub must be of, or the thumbprint of a key that it must have now. Left out: the hub that is met first is believed,
   * and for the life of this connection no other one.
   */
  readonly hubKey?: string | undefined;
  /** How long to wait for a hub that is not there yet, 10 seconds where it is left out. */
  readonly timeoutMs?: number | undefined;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Told of tries that failed, and of connections that could not be used. */
  readonly log?: ConnectionLog | undefined;
}

/** A served hub, as `createAgent` takes it. */
export interface ConnectedHub extends Hub {
  /** Ends all connections to it; agents that are still attached are told to the hub as gone. */
  close(): Promise<void>;
}

/**
 * Finds the hub at an address. Waits for one that is not there yet; a 503 when the time is over.
 * Afterwards connections are opened again by themselves, whatever cuts them.
 *
 * @example
 * ```ts
 * const hub = await connect("https://hub.example.com", { hubKey: "the thumbprint of its key" });
 * const agent = createAgent({ id: "editor", hub });
 * ```
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<ConnectedHub> {
  const { hubKey, timeoutMs = WAITS.openMs, log = () => undefined } = options;
  const { signal = new AbortController().signal } = options;
  const address = addressOf(url);
  checkTimeout(timeoutMs);
  const http = new HttpCalls(address);
  const identity = new HubIdentity(address.url, hubKey);
  signal.throwIfAborted();
  const { hub: id, domain } = await retry((ending) => identity.meet(http, ending), {
    withinMs: timeoutMs,
    signal,
    waiting: (error) => log({ event: "waiting", url: address.url, error }),
  });
  return new RemoteHub({ id, domain, address, http, identity, log });
}
