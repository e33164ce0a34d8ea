/** A tool call of the model. */
export interface SaidCall {
  /** By default the server generates an id. */
  readonly id?: string | undefined;
  readonly name: string;
  /** A string is sent unchanged, and need not be JSON. */
  readonly arguments: unknown;
}

type Pieces = AsyncIterable<string> | readonly string[];

/** What the model replies to one request. */
export interface Turn {
  /**
   * Streamed in pieces. An async iterable's pieces are sent as they arrive, so a test can hold them
   * back; an exception between them is an error in the middle of the stream.
   */
  readonly text?: string | Pieces | undefined;
  /** A promise if the calls are known only after the text. */
  readonly calls?: readonly SaidCall[] | Promise<readonly SaidCall[]> | undefined;
  /** A refusal of the model, in place of text. */
  readonly refusal?: string | undefined;
  /** The tokens that the API reports. By default an estimate from the request and the text. */
  readonly usage?: TurnUsage | undefined;
  /** Why the turn was cut off, if it was. */
  readonly cutBy?: "length" | "content_filter" | undefined;
}

/** The usage of a request, as the API counts it. */
export interface TurnUsage {
  readonly input_tokens: number;
  /** Included in the input tokens. */
  readonly cached_input_tokens?: number | undefined;
  readonly output_tokens: number;
  /** Included in the output tokens. */
  readonly reasoning_tokens?: number | undefined;
}

/** An error of the API, with its real body. */
export interface ApiFailure {
  readonly status: number;
  /** Overrides the API's own error body for this status. */
  readonly error?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Sent unchanged in place of an answer. */
export interface Malformed {
  readonly malformed: string;
}

/** What the model replies: a turn, an error of its API, or something that no client can parse. */
export type Reply = Turn | ApiFailure | Malformed;

/** A request to the model. */
export interface ModelRequest {
  readonly api: "chat" | "responses";
  /** The body as received. */
  // What is in it is for the test to know, which has sent it.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The number of requests before this one. */
  readonly index: number;
  /** Aborted when the client disconnects before the answer is complete. */
  readonly signal: AbortSignal;
}

/** The replies to successive requests, or a function that makes each reply. */
export type Script = readonly Reply[] | ((request: ModelRequest) => Reply | Promise<Reply>);

/**
 * The pieces of a turn's text. A whole text is split roughly like tokens, and more coarsely if it is
 * long.
 */
export async function* piecesOf({ text = "" }: Turn): AsyncGenerator<string> {
  if (typeof text !== "string") {
    yield* text;
    return;
  }
  const characters = Array.from(text);
  const size = Math.max(PIECE, Math.ceil(characters.length / PIECES_AT_MOST));
  for (let at = 0; at < characters.length; at += size)
    yield characters.slice(at, at + size).join("");
}

const PIECE = 8;
const PIECES_AT_MOST = 64;

export function argumentsOf(call: SaidCall): string {
  return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
}
