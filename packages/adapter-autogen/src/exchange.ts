/// <reference types="node" />
import { Buffer } from "node:buffer";
import { currentWork } from "@waybill/agent/adapter";
import { newId, WaybillError } from "@waybill/protocol";
import type { Directory } from "./directory.ts";
import { textOfError } from "./error-text.ts";
import type { HostEvent } from "./host-event.ts";
import { assertFits, messageOf, payloadOf } from "./message.ts";
import type { OpenRequest } from "./open-request.ts";
import type { RemoteAgent } from "./remote-agent.ts";
import { Subscriptions } from "./subscriptions.ts";
import { BYTES_TO_WORKER } from "./wire.ts";
import type { AgentId, WireEvent, WireMessage, WireRequest, WireResponse } from "./wire.ts";
import type { Worker } from "./worker.ts";

export interface ExchangeOptions {
  readonly directory: Directory;
  readonly agents: ReadonlyMap<string, RemoteAgent>;
  readonly timeoutMs: number;
  readonly log: (event: HostEvent) => void;
}

/** Routes messages between workers, and to agents elsewhere. Every request gets an answer. */
export class Exchange {
  readonly directory: Directory;
  readonly subscriptions: Subscriptions = new Subscriptions();
  readonly log: (event: HostEvent) => void;
  readonly #agents: ReadonlyMap<string, RemoteAgent>;
  readonly #timeoutMs: number;
  readonly #workers = new Map<string, Worker>();

  constructor({ directory, agents, timeoutMs, log }: ExchangeOptions) {
    this.directory = directory;
    this.#agents = agents;
    this.#timeoutMs = timeoutMs;
    this.log = log;
  }

  worker(id: string): Worker | undefined {
    return this.#workers.get(id);
  }

  connected(worker: Worker): void {
    this.#workers.set(worker.id, worker);
    this.log({ event: "worker-connected", worker: worker.id });
  }

  gone(worker: Worker): void {
    if (!this.#workers.delete(worker.id)) return;
    this.directory.remove(worker);
    this.subscriptions.removeAllOf(worker);
    worker.leave(`The worker that had the agent is gone.`);
    this.log({ event: "worker-gone", worker: worker.id });
  }

  /** The owner of an agent type; undefined if it is free. */
  ownerOf(agentType: string): string | undefined {
    if (this.#agents.has(agentType)) return "an agent of this host";
    return this.directory.owner(agentType)?.id;
  }

  received(worker: Worker, { request, response, event }: WireMessage): void {
    if (request) void this.#answer(worker, request);
    if (event) this.#publish(event);
    if (response && !worker.answered(response)) {
      const { request_id: requestId } = response;
      this.log({ event: "response-unclaimed", worker: worker.id, requestId });
    }
  }

  async #answer(from: Worker, request: WireRequest): Promise<void> {
    const target = request.target ?? { type: "", key: "" };
    const during = from.openFor(request.source);
    const respond = () => this.#respond(from, { ...request, target }, during);
    let response: Omit<WireResponse, "request_id">;
    try {
      response = during === undefined ? await respond() : await during.within(respond);
    } catch (error) {
      during?.partFailed(error);
      response = { error: textOfError(error) };
      const { type: agentType } = target;
      this.log({ event: "request-refused", agentType, error: response.error! });
    }
    from.send({ response: { ...response, request_id: request.request_id } });
  }

  #respond(
    from: Worker,
    request: WireRequest & { readonly target: AgentId },
    during: OpenRequest | undefined,
  ): Promise<Omit<WireResponse, "request_id">> {
    const remote = this.#agents.get(request.target.type);
    if (remote === undefined) return this.#passOn(request, during);
    return this.#handOff(remote, from, request, during);
  }

  async #handOff(
    remote: RemoteAgent,
    from: Worker,
    request: WireRequest & { readonly target: AgentId },
    during: OpenRequest | undefined,
  ): Promise<Omit<WireResponse, "request_id">> {
    const { target, source, payload, metadata, request_id } = request;
    if (payload === null) throw new WaybillError(400, "The request contains no message.");
    const reply = await remote({
      message: messageOf(payload),
      target,
      sender: source ?? undefined,
      step: during?.stepOf(request) ?? { run: from.id, step: request_id },
      traceparent: metadata["traceparent"],
      tracestate: metadata["tracestate"],
      signal: signalOf(from, during),
    });
    return { payload: payloadOf(reply) };
  }

  async #passOn(
    request: WireRequest & { readonly target: AgentId },
    during: OpenRequest | undefined,
  ): Promise<Omit<WireResponse, "request_id">> {
    const { type } = request.target;
    const worker = this.directory.owner(type);
    if (worker === undefined) {
      throw new WaybillError(
        404,
        `No worker has an agent of type ${type}, and neither has the host.`,
      );
    }
    assertFits(request.payload?.data.byteLength ?? 0);
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signal = during === undefined ? timeout : AbortSignal.any([timeout, during.signal]);
    const requestId = newId();
    try {
      const { response } = await worker.ask(request, { requestId, run: requestId, signal });
      assertFits(response.payload?.data.byteLength ?? 0);
      return response;
    } catch (error) {
      if (!timeout.aborted) throw error;
      throw new WaybillError(504, `${type} has not answered in ${this.#timeoutMs} ms.`);
    }
  }

  #publish(event: WireEvent): void {
    const { type: topicType } = event;
    const hearing = this.subscriptions.hearing(topicType);
    if (hearing.size === 0 || bytesOf(event) > BYTES_TO_WORKER) {
      this.log({ event: "event-undelivered", topicType });
      return;
    }
    const workers = new Set<Worker>();
    for (const agentType of hearing) {
      const worker = this.directory.owner(agentType);
      if (worker !== undefined) workers.add(worker);
      else this.log({ event: "event-undelivered", topicType, agentType });
    }
    for (const worker of workers) worker.send({ event });
  }

  close(): void {
    for (const worker of this.#workers.values()) {
      worker.end();
      this.gone(worker);
    }
  }
}

/**
 * Ends the wait of an agent's request. A child of a handoff ends with that handoff; but if the
 * handoff is only given back, its next attempt finds the child again.
 */
function signalOf(from: Worker, during: OpenRequest | undefined): AbortSignal | undefined {
  if (during === undefined) return from.gone;
  return currentWork() === undefined ? during.signal : undefined;
}

function bytesOf({ binary_data, text_data, proto_data }: WireEvent): number {
  return (binary_data ?? proto_data ?? Buffer.from(text_data ?? "")).byteLength;
}
