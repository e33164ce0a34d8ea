/// <reference types="node" />
import type { Hub } from "@waybill/protocol/wire";
import { checkTimeout } from "../times.ts";
import { addressOf } from "./address.ts";
import type { ConnectionLog } from "./connection-log.ts";
import { HttpCalls } from "./http-calls.ts";
import { HubIdentity } from "./hub-identity.ts";
import { retry } from "./retry.ts";
import { RemoteHub } from "./remote-hub.ts";
import { WAITS } from "./socket.ts";

/** Which hub is expected, and how to look for it. */
export interface ConnectOptions {
  /**
   * The custody domain of the hub, or the thumbprint of a current key of it. By default the first hub
   * that answers is trusted, and no other one for the life of this connection.
   */
  readonly hubKey?: string | undefined;
  /** How long to wait for a hub that is not up yet, 10 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Called for tries that failed, and for connections that could not be used. */
  readonly log?: ConnectionLog | undefined;
}

/** A served hub, as `createAgent` takes it. */
export interface ConnectedHub extends Hub {
  /** Closes all connections to it; the hub regards agents that are still attached as gone. */
  close(): Promise<void>;
}

/**
 * Connects to the hub at an address. Waits for a hub that is not up yet; rejects with 503 when the
 * time is over. Later connections that are lost are reopened automatically.
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
