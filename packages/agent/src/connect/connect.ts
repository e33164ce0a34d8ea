/// <reference types="node" />
import { resolve } from "node:path";
import type { Hub } from "@waybill/protocol/wire";
import { checkTimeout } from "../times.ts";
import { addressOf } from "./address.ts";
import type { ConnectionLog } from "./connection-log.ts";
import { hubOfFolder } from "./hub-folder.ts";
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
  /** The data folder in which a hub is looked for if no address is given. */
  readonly folder?: string | undefined;
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
 * Connects to the hub at an address: a URL, or `unix:` and the path of its socket on this machine.
 * Waits for a hub that is not up yet; rejects with 503 when the time is over. Later connections that
 * are lost are reopened automatically.
 *
 * Without an address it connects to the one that the environment names (`WAYBILL_HUB`), or to the hub
 * that runs in a data folder on this machine (`folder`, `WAYBILL_DATA`, or `.waybill`): over its Unix
 * socket if it has one.
 *
 * @example
 * ```ts
 * const hub = await connect("https://hub.example.com", { hubKey: "the thumbprint of its key" });
 * const agent = createAgent({ id: "editor", hub });
 * ```
 */
export async function connect(url?: string, options: ConnectOptions = {}): Promise<ConnectedHub> {
  const { timeoutMs = WAITS.openMs, log = () => undefined } = options;
  const { signal = new AbortController().signal } = options;
  const looked = url === undefined ? lookedUp(options) : { url };
  if (looked.url !== undefined) addressOf(looked.url);
  checkTimeout(timeoutMs);
  signal.throwIfAborted();
  const meet = async (ending: AbortSignal): Promise<RemoteHub> => {
    const found = looked.url === undefined ? hubOfFolder(looked.folder) : looked;
    const address = addressOf(found.url);
    const http = new HttpCalls(address);
    const identity = new HubIdentity(address.url, options.hubKey ?? found.hubKey);
    const { hub: id, domain } = await identity.meet(http, ending);
    return new RemoteHub({ id, domain, address, http, identity, log });
  };
  return retry(meet, {
    withinMs: timeoutMs,
    signal,
    waiting: (error) => log({ event: "waiting", url: looked.url ?? looked.folder, error }),
  });
}

type Looked =
  | { readonly url: string; readonly hubKey?: undefined }
  | { readonly url?: undefined; readonly folder: string };

/** The same variables as for the `waybill` command. An empty one is an unset one. */
function lookedUp({ folder }: ConnectOptions): Looked {
  const { WAYBILL_HUB: named, WAYBILL_DATA: data } = process.env;
  if (folder === undefined && named) return { url: named };
  return { folder: resolve(folder ?? (data || ".waybill")) };
}
