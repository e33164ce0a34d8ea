import type { LedgerEntry } from "@waybill/hub";
import type { StatusCode } from "@waybill/protocol";
import type { Shape } from "@waybill/protocol/wire";
import type { Caller } from "../access/caller.ts";
import type { Served } from "../served.ts";

/** Who may ask: everybody, whoever may read the registry, this machine, agents of their own things, operators. */
export type Who = "anyone" | "reader" | "local" | "agent" | "party" | "operator";

export interface OperationRequest<Params, Query, Body> {
  readonly served: Served;
  readonly caller: Caller;
  /** Asked on this machine alone, by no way that could have led here from elsewhere. */
  readonly isLocal: boolean;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Aborted when whoever asked is gone, and when the hub goes down. */
  readonly signal: AbortSignal;
  readonly accepts: (type: string) => boolean;
  /** A header of the request, by its name in lower case. */
  readonly header: (name: string) => string | undefined;
  /** The body, where the operation `takesBytes`. */
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

/** Bytes of any number, as fast as they are read. */
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

/** Waits for entries that are still to come, and says meanwhile what shows that the line is alive. */
export type Pause = () => AsyncIterable<string>;

/** Entries that are answered line by line, for as long as it takes. */
export class Lines {
  readonly entries: AsyncIterable<LedgerEntry | Pause>;

  constructor(entries: AsyncIterable<LedgerEntry | Pause>) {
    this.entries = entries;
  }
}

/** An answer in one of several types, as whoever asked takes it. */
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
  /** With its parameters in braces, as OpenAPI has it. */
  readonly path: string;
  readonly summary: string;
  /** The most that one request can cost the hub, by its own input and page size alone. */
  readonly cost: string;
  readonly who: Who;
  readonly params?: Shape<Params>;
  readonly query?: Shape<Query>;
  readonly body?: Shape<Body>;
  /** The headers that it reads, each with what it says. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Its body is any number of bytes, which are taken as they come. No proof covers them. */
  readonly takesBytes?: boolean;
  /** The statuses of its answer; 200, or 204 for nothing, where they are left out. */
  readonly statuses?: readonly number[];
  /** The shape of a 200, a type for what is no JSON, or nothing for a 204. */
  readonly answer: Shape<unknown> | string | undefined;
  /** The other types that a `Page` may have. */
  readonly otherTypes?: readonly string[];
  /** Also lines, for who asks for NDJSON. */
  readonly alsoLines?: boolean;
  /** What it may be refused with beside what everything may be. */
  readonly refusals: readonly StatusCode[];
  /** Its body is a manifest, which costs more than other bodies. */
  readonly isPublication?: boolean;
  /** It holds what it looks through until inputs are checked, and has places of its own. */
  readonly isSearch?: boolean;
  /** It may wait for something to happen before it is answered. */
  readonly waits?: boolean;
  handle(asked: OperationRequest<Params, Query, Body>): Promise<unknown>;
}

export type AnyOperation = Operation<unknown, unknown, unknown>;

/** Says one operation; what it takes is typed by its shapes. */
export function operation<Params, Query, Body>(
  given: Operation<Params, Query, Body>,
): AnyOperation {
  return given;
}
