import type { LedgerEntry } from "@waybill/hub";
import type { StatusCode } from "@waybill/protocol";
import type { Shape, SignedRequest } from "@waybill/protocol/wire";
import type { Caller } from "../access/caller.ts";
import type { Served } from "../served.ts";

/**
 * Who may call it: everybody, readers of the registry, this machine, agents for their own things,
 * operators.
 */
export type Who = "anyone" | "reader" | "local" | "agent" | "party" | "operator";

export interface OperationRequest<Params, Query, Body> {
  readonly served: Served;
  readonly caller: Caller;
  /** The request came from this machine, and not through anything that forwards requests. */
  readonly isLocal: boolean;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Aborted when the client is gone, and when the hub shuts down. */
  readonly signal: AbortSignal;
  readonly accepts: (type: string) => boolean;
  /** A header of the request, by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** The request as its agent has signed it; undefined if it is no agent's. */
  readonly signed: () => SignedRequest | undefined;
  /** The body, if the operation `takesBytes`. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** An answer with another status than 200. */
export class WithStatus {
  readonly status: number;
  readonly value: unknown;

  constructor(status: number, value: unknown) {
    this.status = status;
    this.value = value;
  }
}

/** Any number of bytes, streamed. */
export class Bytes {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: AsyncIterable<Uint8Array>;

  constructor(
    status: number,
    headers: Readonly<Record<string, string>>,
    bytes: AsyncIterable<Uint8Array>,
  ) {
    this.status = status;
    this.headers = headers;
    this.bytes = bytes;
  }
}

/** Waits for new entries, with keep-alive lines meanwhile. */
export type Pause = () => AsyncIterable<string>;

/** Entries that are streamed line by line. */
export class Lines {
  readonly pages: AsyncIterator<readonly LedgerEntry[] | Pause>;

  constructor(pages: AsyncIterator<readonly LedgerEntry[] | Pause>) {
    this.pages = pages;
  }
}

/** A page of entries as JSON, streamed like lines. */
export class EntryPage {
  /** From where it begins, and as many as there are. */
  readonly pages: AsyncIterator<readonly LedgerEntry[]>;
  readonly limit: number;

  constructor(pages: AsyncIterator<readonly LedgerEntry[]>, limit: number) {
    this.pages = pages;
    this.limit = limit;
  }
}

/** An answer in one of several content types, as the client accepts. */
export class Page {
  readonly type: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(type: string, text: string, headers: Readonly<Record<string, string>> = {}) {
    this.type = type;
    this.text = text;
    this.headers = headers;
  }
}

export const NDJSON = "application/x-ndjson";

export interface Operation<Params = never, Query = never, Body = never> {
  readonly id: string;
  readonly method: "GET" | "HEAD" | "POST" | "PUT";
  /** With parameters in braces, as in OpenAPI. */
  readonly path: string;
  readonly summary: string;
  /** The maximum cost of one request, from its own input and page size. */
  readonly cost: string;
  readonly who: Who;
  readonly params?: Shape<Params>;
  readonly query?: Shape<Query>;
  readonly body?: Shape<Body>;
  /** The headers that it reads, with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Its body is a stream of bytes, which no proof covers. */
  readonly takesBytes?: boolean;
  /** The statuses of its answer; by default 200, or 204 without content. */
  readonly statuses?: readonly number[];
  /** The shape of a 200, a content type if it is not JSON, or undefined for a 204. */
  readonly answer: Shape<unknown> | string | undefined;
  /** The other types that a `Page` may have. */
  readonly otherTypes?: readonly string[];
  /** Also NDJSON, if the client accepts it. */
  readonly alsoLines?: boolean;
  /** The refusals besides those of every operation. */
  readonly refusals: readonly StatusCode[];
  /** Its body is a manifest, which costs more than other bodies. */
  readonly isPublication?: boolean;
  /** It holds what it searches until inputs are checked, and has slots of its own. */
  readonly isSearch?: boolean;
  /** It may wait for an event before it answers. */
  readonly waits?: boolean;
  handle(asked: OperationRequest<Params, Query, Body>): Promise<unknown>;
}

export type AnyOperation = Operation<unknown, unknown, unknown>;

/** Declares one operation; its input is typed by its shapes. */
export function operation<Params, Query, Body>(
  given: Operation<Params, Query, Body>,
): AnyOperation {
  return given;
}
