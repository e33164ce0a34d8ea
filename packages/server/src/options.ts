import type { HubServer, Store } from "@waybill/hub";
import type { Newcomers } from "@waybill/protocol/wire";
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
  /** Left out: loopback. */
  readonly host?: string | undefined;
  /** Left out, or 0: one that is free. */
  readonly port?: number | undefined;
  /** Left out: no TLS of its own. */
  readonly tls?: TlsFiles | undefined;
  /** Where others reach it, if that is not where it listens: behind a proxy, or under a name. */
  readonly publicUrl?: string | undefined;
  /** A proxy that can be trusted stands before it, ends TLS and says in X-Forwarded-For who asks. */
  readonly isBehindProxy?: boolean | undefined;
  /** More names under which it may be asked, against DNS rebinding. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may ask it. Left out: its own. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Whether strangers may read who is registered. Left out: only where nobody but this machine can
   * ask, that is on loopback, without a proxy and without a public name. A request with a header of a
   * proxy (`X-Forwarded-For`, `Forwarded`, `Via`) counts as one from elsewhere, whatever was said.
   */
  readonly isOpenRegistry?: boolean | undefined;
  /**
   * Whose first manifest is taken, as for `openHub`. Left out: what the hub was opened with, or anybody's
   * where nobody but this machine can ask, and otherwise by invitation.
   */
  readonly newcomers?: Newcomers | undefined;
  /**
   * Places of an inner network that the inboxes of agents may name, as `host` or `host:port`; there
   * http will do. Left out: none.
   */
  readonly innerInboxes?: readonly string[] | undefined;
  /**
   * What operators key their requests with, as `newOperatorToken` makes it for the hub's custody
   * domain. Left out: one is made at the first start and kept in the store, and so in its backups.
   */
  readonly operatorToken?: string | undefined;
  /** Opens GET /metrics, and nothing else, to whoever sends it as a bearer. Left out: to nobody. */
  readonly metricsToken?: string | undefined;
  readonly limits?: Partial<ServedLimits> | undefined;
  /** Left out: nothing is logged. */
  readonly logger?: HubLogger | undefined;
}

/** A hub that is served on the network. */
export interface ServedHub {
  readonly url: string;
  readonly port: number;
  /** What operators key their requests with (`signOperatorRequest`). It is never sent. */
  readonly operatorToken: string;
  /** Answers what is under way, sends everybody away to come again, and leaves the hub open. */
  close(): Promise<void>;
}
