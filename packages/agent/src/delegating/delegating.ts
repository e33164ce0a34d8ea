import { createHandoff, WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import type { AgentContext } from "../context.ts";
import type { Delivery } from "../hub.ts";
import { sending } from "../tracing/send.ts";
import { endSpan } from "../tracing/spans.ts";
import { adopt, findOwn } from "./found.ts";
import { handoffGroup } from "./group.ts";
import type { GroupHandle, GroupOptions } from "./group.ts";
import { HandoffHandle } from "./handle.ts";
import { DEFAULT_TIMEOUT_MS } from "./options.ts";
import type { HandoffOptions, ParentedOptions } from "./options.ts";
import { isSameWork } from "./same-work.ts";

/** The handoffs that an agent has made, in this process or found again. */
export class Delegating {
  readonly #context: AgentContext;
  /** Starts the agent, where that was not done; refuses once it has stopped. */
  readonly #start: () => Promise<void>;
  readonly #handles = new Map<string, HandoffHandle>();
  /** Handles that are being made for handoffs of an earlier life. */
  readonly #attaching = new Map<string, Promise<HandoffHandle>>();

  constructor(context: AgentContext, start: () => Promise<void>) {
    this.#context = context;
    this.#start = start;
  }

  handoffAll(all: readonly HandoffOptions[], group: GroupOptions): GroupHandle {
    // One job: where nobody says which, the first handoff gives its correlation id to the others.
    const correlationId = all[0]?.correlationId ?? this.#context.source.newId();
    return handoffGroup(all.length, group, (index, place) =>
      this.handoff({ correlationId, ...all[index]!, group: place }),
    );
  }

  handoff(options: ParentedOptions): HandoffHandle {
    const { acknowledge, signal } = options;
    const made = this.#envelopeOf(options);
    const known = this.#handles.get(made.handoff_id);
    if (known !== undefined) {
      if (isSameWork(known.envelope.body, made.body)) return known;
      throw takenBy(made.handoff_id);
    }
    const { envelope, span } = sending(made, options);
    const handle = this.#handle(envelope, acknowledge === "manual");
    this.#send(handle, signal).then(
      () => span && endSpan(span, 100),
      (reason: unknown) => {
        const error = WaybillError.from(reason);
        if (span !== undefined) endSpan(span, error.status);
        handle.fail(error);
      },
    );
    return handle;
  }

  #envelopeOf(options: ParentedOptions): HandoffEnvelope {
    const { id, source } = this.#context;
    const { to, tags, minReliability, timeoutMs, deadline, parent } = options;
    const { capability, version, input, brief, messages, artifacts, contract, metadata } = options;
    const isUntimed = timeoutMs === undefined && deadline === undefined && parent === undefined;
    return createHandoff(
      {
        from: id,
        to: to ?? { capability, version, tags, min_reliability: minReliability },
        body: { capability, version, input, brief, messages, artifacts, contract, metadata },
        deadline,
        timeoutMs: isUntimed ? DEFAULT_TIMEOUT_MS : timeoutMs,
        handoffId: options.handoffId,
        parent,
        correlationId: options.correlationId,
        group: options.group,
        replayOf: options.replayOf,
        traceparent: options.traceparent,
        tracestate: options.tracestate,
      },
      source,
    );
  }

  async #send(handle: HandoffHandle, signal: AbortSignal | undefined): Promise<void> {
    await this.#start();
    if (signal?.aborted === true)
      throw new WaybillError(499, "It was cancelled before it was sent.");
    await this.#submit(handle);
    if (signal === undefined) return;
    const cancel = () => {
      const { reason } = signal as { reason: unknown };
      handle
        .cancel(reason instanceof Error ? reason.message : undefined)
        .catch((error: unknown) => this.#failed(error));
    };
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
  }

  /**
   * Where the hub has another handoff under this id, it may be this agent's own, made before a
   * restart. Asking only then, and not first, costs nothing where nothing was repeated, and also
   * finds one that was on its way to the hub meanwhile.
   */
  async #submit(handle: HandoffHandle): Promise<void> {
    try {
      await handle.submit();
    } catch (error) {
      if (!WaybillError.is(error, 409)) throw error;
      const until = Date.parse(handle.envelope.deadline);
      const own = await this.#context.link.persist(() => findOwn(this.#context, handle.id), until);
      if (own === undefined) throw error;
      if (!isSameWork(own.envelope.body, handle.envelope.body)) throw takenBy(handle.id, error);
      await adopt(handle, own);
    }
  }

  #handle(envelope: HandoffEnvelope, isManual: boolean): HandoffHandle {
    const handle = new HandoffHandle(this.#context, envelope, isManual);
    this.#handles.set(handle.id, handle);
    return handle;
  }

  async attach(handoffId: string, isManual: boolean): Promise<HandoffHandle> {
    const known = this.#handles.get(handoffId) ?? this.#attaching.get(handoffId);
    if (known !== undefined) return known;
    const attaching = this.#attach(handoffId, isManual);
    this.#attaching.set(handoffId, attaching);
    return attaching.finally(() => this.#attaching.delete(handoffId));
  }

  async #attach(handoffId: string, isManual: boolean): Promise<HandoffHandle> {
    const own = await findOwn(this.#context, handoffId);
    if (own === undefined) {
      throw new WaybillError(
        404,
        `The hub knows of no handoff ${handoffId} of ${this.#context.id}. If it was never in custody, hand off again with this handoffId.`,
      );
    }
    const known = this.#handles.get(handoffId);
    if (known !== undefined) return known;
    const handle = this.#handle(own.envelope, isManual);
    try {
      await adopt(handle, own);
    } catch (error) {
      // Half of what has happened is no handle: the next try makes another.
      handle.fail(WaybillError.from(error));
      throw error;
    }
    return handle;
  }

  /** Gives a delivery to the handle that it is about; false where nobody here waits for it. */
  async receive({
    handoffId,
    envelope,
    receivedAt,
  }: Extract<Delivery, { type: "envelope" }>): Promise<boolean> {
    // What comes in while its handle is being made would otherwise be nobody's.
    await this.#attaching.get(handoffId)?.catch(() => undefined);
    const handle = this.#handles.get(handoffId);
    await handle?.receive(envelope, receivedAt);
    return handle !== undefined;
  }

  /** Nothing more is expected about this handoff. */
  forget(handoffId: string): void {
    this.#handles.delete(handoffId);
  }

  /** None of them will be heard of again here. */
  fail(error: WaybillError): void {
    for (const handle of this.#handles.values()) handle.fail(error);
  }

  #failed(error: unknown): void {
    const { id: agent, log } = this.#context;
    log({ event: "failure", agent, error });
  }
}

function takenBy(handoffId: string, cause?: unknown): WaybillError {
  return new WaybillError(
    409,
    `The handoff id ${handoffId} stands for other work of this agent: its capability, input, brief, messages or artifacts are not these. Give new work an id of its own, or repeat it as it was.`,
    { at: "/handoff_id", cause },
  );
}
