import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";

/** The messages on the line, one JSON object a line: requests, answers, and cancellations. */
type Said =
  | { readonly ask: string; readonly id: number; readonly with: Json }
  | { readonly re: number; readonly value?: Json }
  | { readonly re: number; readonly error: Fault }
  | { readonly drop: number };

/** An error with members that any language has. */
interface Fault {
  readonly name: string;
  readonly message: string;
  readonly status?: number | undefined;
  readonly is_waybill?: boolean | undefined;
  readonly retryable?: boolean | undefined;
  readonly cause?: Json | undefined;
}

/** How one side answers the other's requests. */
export type Answering = (
  ask: string,
  given: Json,
  signal: AbortSignal,
) => Promise<Json | undefined>;

/** Requests and answers in both directions, over any transport of text lines. */
export class Line {
  readonly #send: (line: string) => void;
  readonly #answering: Answering;
  readonly #asked = new Map<number, PromiseWithResolvers<Json>>();
  readonly #answers = new Map<number, AbortController>();
  #count = 0;
  #gone: Error | undefined;

  constructor(send: (line: string) => void, answering: Answering) {
    this.#send = send;
    this.#answering = answering;
  }

  async ask(ask: string, given: object, signal?: AbortSignal): Promise<Json> {
    if (this.#gone !== undefined) throw this.#gone;
    const id = ++this.#count;
    const asked = Promise.withResolvers<Json>();
    this.#asked.set(id, asked);
    this.#say({ ask, id, with: given as Json });
    const drop = () => this.#say({ drop: id });
    if (signal?.aborted === true) drop();
    signal?.addEventListener("abort", drop, { once: true });
    try {
      return await asked.promise;
    } finally {
      signal?.removeEventListener("abort", drop);
    }
  }

  take(line: string): void {
    const said = JSON.parse(line) as Said;
    if ("drop" in said) {
      this.#answers.get(said.drop)?.abort(new WaybillError(499, "The run was cancelled."));
    } else if ("ask" in said) {
      void this.#answer(said.id, said.ask, said.with);
    } else {
      const asked = this.#asked.get(said.re);
      this.#asked.delete(said.re);
      if ("error" in said) asked?.reject(errorOf(said.error));
      else asked?.resolve(said.value ?? null);
    }
  }

  /** The other side is gone. */
  end(reason: Error): void {
    this.#gone = reason;
    for (const asked of this.#asked.values()) asked.reject(reason);
    for (const answer of this.#answers.values()) answer.abort(reason);
  }

  async #answer(id: number, ask: string, given: Json): Promise<void> {
    const controller = new AbortController();
    this.#answers.set(id, controller);
    try {
      const value = await this.#answering(ask, given, controller.signal);
      this.#say(value === undefined ? { re: id } : { re: id, value });
    } catch (error) {
      this.#say({ re: id, error: faultOf(error) });
    } finally {
      this.#answers.delete(id);
    }
  }

  #say(said: Said): void {
    this.#send(`${JSON.stringify(said)}\n`);
  }
}

function faultOf(error: unknown): Fault {
  const { name, message, cause } = error instanceof Error ? error : new Error(String(error));
  const { status, retryable } = error as Partial<WaybillError>;
  return {
    name,
    message,
    ...(typeof status === "number" ? { status } : {}),
    ...(WaybillError.is(error) ? { is_waybill: true, retryable } : {}),
    ...(cause instanceof Error ? { cause: cause.message } : {}),
  };
}

function errorOf({ name, message, status, cause }: Fault): Error {
  if (status !== undefined) return new WaybillError(status as never, message, { cause });
  return Object.assign(new Error(message, { cause }), { name });
}
