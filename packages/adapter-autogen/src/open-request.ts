/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";
import { Buffer } from "node:buffer";
import { asFailureOfPart } from "@waybill/agent/adapter";
import type { Step } from "@waybill/agent/adapter";
import { digestOf, WaybillError } from "@waybill/protocol";
import { textOfError } from "./error-text.ts";
import type { AgentId, WireRequest, WireResponse } from "./wire.ts";

/** A request that a worker has not answered yet. */
export class OpenRequest {
  readonly target: AgentId;
  readonly signal: AbortSignal;
  /** Runs the agent's own requests meanwhile as children of this one. */
  readonly within: <Value>(run: () => Value) => Value = AsyncLocalStorage.snapshot();
  readonly response: PromiseWithResolvers<WireResponse> = Promise.withResolvers();
  readonly #run: string;
  readonly #asked = new Map<string, number>();
  readonly #failures = new Map<string, Error>();

  /** `run` identifies it, also when it is repeated. */
  constructor(target: AgentId, run: string, signal: AbortSignal) {
    this.target = target;
    this.#run = run;
    this.signal = signal;
  }

  /**
   * AutoGen has no name for a step that a repeated run would find again: it is identified by its
   * content, and how often that was sent before.
   */
  stepOf({ target, payload }: WireRequest): Step {
    const bytes = payload === null ? "" : Buffer.from(payload.data).toString("base64");
    const asked = digestOf(JSON.stringify([target?.type, target?.key, payload?.data_type, bytes]));
    const count = (this.#asked.get(asked) ?? 0) + 1;
    this.#asked.set(asked, count);
    return { run: this.#run, step: `${asked} ${count}` };
  }

  /** Nothing that an agent has asked of others says by its status what becomes of its own work. */
  partFailed(thrown: unknown): void {
    const error = asFailureOfPart(WaybillError.from(thrown));
    this.#failures.set(textOfError(error), error);
  }

  /** The failure of a child that the agent has passed on. */
  failureIn(text: string): Error | undefined {
    for (const [told, error] of this.#failures) if (text.includes(told)) return error;
    return undefined;
  }
}
