import type { HubServer, Store } from "@waybill/hub";
import type { ConsoleRole, Newcomers } from "@waybill/protocol/wire";
import type { ServedLimits } from "./budgets.ts";
import type { HubLogger } from "./log.ts";

/** A certificate with its chain, and its private key, as PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Which hub is served, where, and within which limits. */
export interface ServeOptions {
  readonly hub: HubServer;
  /** The store that the hub was opened over. */
  readonly store: Store;
  /** By default loopback. */
  readonly host?: string | undefined;
  /** By default, or with 0, a free port. */
  readonly port?: number | undefined;
  /**
   * The path of a Unix socket on which it listens too, for agents of the same user on this machine: it
   * is readable by nobody else, and needs no TLS. By default none. Not on Windows.
   */
  readonly socketPath?: string | undefined;
  /** By default no TLS of its own. */
  readonly tls?: TlsFiles | undefined;
  /** Its public URL, if that is not where it listens: behind a proxy, or under a name. */
  readonly publicUrl?: string | undefined;
  /** A trusted proxy is in front of it, terminates TLS and names the client in X-Forwarded-For. */
  readonly isBehindProxy?: boolean | undefined;
  /** Further names under which it may be requested, against DNS rebinding. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may send requests. By default only its own. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Whether strangers may read the registry. By default only if no other machine can reach the hub,
   * that is on loopback, without a proxy and without a public name. A request with a header of a proxy
   * (`X-Forwarded-For`, `Forwarded`, `Via`) always counts as one from elsewhere.
   */
  readonly isOpenRegistry?: boolean | undefined;
  /**
   * Whose first manifest is accepted, as for `openHub`. By default what the hub was opened with, or
   * anybody's if no other machine can reach the hub, and otherwise by invitation.
   */
  readonly newcomers?: Newcomers | undefined;
  /**
   * Addresses of an inner network that the inboxes of agents may use, as `host` or `host:port`, also
   * with http. By default none.
   */
  readonly innerInboxes?: readonly string[] | undefined;
  /**
   * The operators' token, made by `newOperatorToken` for the hub's custody domain. By default one is
   * made at the first start and kept in the store, and so in its backups.
   */
  readonly operatorToken?: string | undefined;
  /** A bearer token that gives access to GET /metrics and nothing else; none by default. */
  readonly metricsToken?: string | undefined;
  readonly limits?: Partial<ServedLimits> | undefined;
  /** By default nothing is logged. */
  readonly logger?: HubLogger | undefined;
}

/** A hub that is served on the network. */
export interface ServedHub {
  readonly url: string;
  readonly port: number;
  /** Its address on the Unix socket, `unix:` and the path, if it listens on one. */
  readonly unixUrl: string | undefined;
  /** The operators' token (`signOperatorRequest`). It is never sent. */
  readonly operatorToken: string;
  /** A link that signs in to the console, once. By default as an operator. */
  consoleLink(role?: ConsoleRole): string;
  /**
   * Answers requests under way, disconnects everybody with a request to reconnect, and leaves the hub
   * open.
   */
  close(): Promise<void>;
}
