/** A tool that a model wants to be used. */
export interface SaidCall {
  /** Left out: one of the server's own. */
  readonly id?: string | undefined;
  readonly name: string;
  /** A text goes out as it is, and may be no JSON at all. */
  readonly arguments: unknown;
}

type Pieces = AsyncIterable<string> | readonly string[];

/** What a model says once it is asked. */
export interface Turn {
  /**
   * Streamed in pieces. Pieces that come one by one are sent as they come, so that a test holds them
   * back as long as it likes; what is thrown between them is an error in the middle of the stream.
   */
  readonly text?: string | Pieces | undefined;
  /** Where text comes first, may be known only after it. */
  readonly calls?: readonly SaidCall[] | Promise<readonly SaidCall[]> | undefined;
  /** Said instead of text by a model that will not. */
  readonly refusal?: string | undefined;
  /** The tokens that the API reports. Left out: those of the request and the text, roughly. */
  readonly usage?: TurnUsage | undefined;
  /** Where it did not come to its end by itself. */
  readonly cutBy?: "length" | "content_filter" | undefined;
}

/** What a request has used, by the API's own count. */
export interface TurnUsage {
  readonly input_tokens: number;
  /** Part of the input tokens. */
  readonly cached_input_tokens?: number | undefined;
  readonly output_tokens: number;
  /** Part of the output tokens. */
  readonly reasoning_tokens?: number | undefined;
}

/** An error of the API, with its real body. */
export interface ApiFailure {
  readonly status: number;
  /** Over what the API says of this status by itself. */
  readonly error?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Sent as it is where an answer was due. */
export interface Malformed {
  readonly malformed: string;
}

/** What the model replies: words and calls, an error of its API, or what no client can read. */
export type Reply = Turn | ApiFailure | Malformed;

/** What the model was asked. */
export interface ModelRequest {
  readonly api: "chat" | "responses";
  /** The body as it came. */
  // What is in it is for the test to know, which has sent it.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** How many were asked before. */
  readonly index: number;
  /** Fires when whoever has asked is gone before the answer was complete. */
  readonly signal: AbortSignal;
}

/** Turns for one request after the other, or a model of one's own. */
export type Script = readonly Reply[] | ((request: ModelRequest) => Reply | Promise<Reply>);

/** The pieces of a turn's text. A whole text is cut as a model's tokens cut it, a long one more coarsely. */
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
