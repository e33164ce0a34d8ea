import type { ServerDuplexStream } from "@grpc/grpc-js";
import { newId, WaybillError } from "@waybill/protocol";
import { OpenRequest } from "./open-request.ts";
import type { AgentId, WireMessage, WirePayload, WireRequest, WireResponse } from "./wire.ts";

export type Channel = ServerDuplexStream<WireMessage, WireMessage>;

export interface AskOptions {
  /** New in every request of the host, because two workers count alike. */
  readonly requestId: string;
  /** Identifies the request, also when it is repeated. */
  readonly run: string;
  readonly signal: AbortSignal;
  /** Sent to the same agent once the signal fires. */
  readonly stop?: WirePayload | undefined;
}

export interface Answer {
  readonly response: WireResponse;
  readonly open: OpenRequest;
}

/** One connected worker. */
export class Worker {
  readonly id: string;
  /** Fires when the worker is gone. */
  readonly gone: AbortSignal;
  readonly #channel: Channel;
  readonly #leaving = new AbortController();
  readonly #open = new Map<string, OpenRequest>();
  readonly #told = new Set<string>();
  /** The conversations of its agents, each with the run that began it. */
  readonly #conversations = new Map<string, string>();

  constructor(id: string, channel: Channel) {
    this.id = id;
    this.#channel = channel;
    this.gone = this.#leaving.signal;
  }

  /**
   * Sends a request to an agent of this worker. There is an answer, or the signal fires, or the worker
   * disappears.
   */
  async ask(
    request: Omit<WireRequest, "request_id" | "target"> & { readonly target: AgentId },
    { requestId, run, signal, stop }: AskOptions,
  ): Promise<Answer> {
    const endings = [signal, this.gone];
    for (const ending of endings) ending.throwIfAborted();
    const open = new OpenRequest(request.target, run, signal);
    const { promise, reject } = open.response;
    const end = ({ target }: Event) => {
      reject((target as AbortSignal).reason);
      if (stop !== undefined) this.#tell(request.target, stop);
    };
    for (const ending of endings) ending.addEventListener("abort", end, { once: true });
    this.#open.set(requestId, open);
    this.send({ request: { ...request, request_id: requestId } });
    try {
      return { response: await promise, open };
    } finally {
      this.#open.delete(requestId);
      for (const ending of endings) ending.removeEventListener("abort", end);
    }
  }

  /** Sends what no answer is waited for. */
  #tell(target: AgentId, payload: WirePayload): void {
    const requestId = newId();
    this.#told.add(requestId);
    this.send({ request: { request_id: requestId, target, payload, metadata: {} } });
  }

  /**
   * Whether an agent of this worker had a conversation before that run of it. AutoGen keeps instances
   * as long.
   */
  hadBefore(agentType: string, thread: string, run: string): boolean {
    const name = JSON.stringify([agentType, thread]);
    const begunBy = this.#conversations.get(name) ?? run;
    this.#conversations.set(name, begunBy);
    return begunBy !== run;
  }

  /** False if nobody waits for it any more. */
  answered(response: WireResponse): boolean {
    if (this.#told.delete(response.request_id)) return true;
    const open = this.#open.get(response.request_id);
    open?.response.resolve(response);
    return open !== undefined;
  }

  /** The request that an agent works on; undefined if there is none, or it can't be determined. */
  openFor(source: AgentId | null | undefined): OpenRequest | undefined {
    const [only, ...more] = [...this.#open.values()].filter(
      ({ target }) => target.type === source?.type && target.key === source.key,
    );
    return more.length === 0 ? only : undefined;
  }

  send(message: WireMessage): void {
    if (!this.gone.aborted) this.#channel.write(message);
  }

  leave(why: string): void {
    this.#leaving.abort(new WaybillError(501, why));
  }

  end(): void {
    this.#channel.end();
  }
}
