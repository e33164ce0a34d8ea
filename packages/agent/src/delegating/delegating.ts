import type { Span } from "@opentelemetry/api";
import { createHandoff, WaybillError } from "@waybill/protocol";
import type { HandoffBody, HandoffEnvelope } from "@waybill/protocol";
import { InFlight } from "@waybill/protocol/wire";
import type { Delivery, ShownDelta } from "@waybill/protocol/wire";
import { isArtifact } from "../artifacts/given.ts";
import type { AgentContext } from "../context.ts";
import type { Presence } from "../presence.ts";
import { startSendSpan } from "../tracing/send.ts";
import { contextOf, endSpan } from "../tracing/spans.ts";
import { isAccepted, counteredHandoff } from "./counter.ts";
import type { CounterOffer, CounterRule } from "./counter.ts";
import { checkAhead, checkTimes } from "../times.ts";
import { adopt, findOwn } from "./found.ts";
import { Handle } from "./handle.ts";
import type { HandleOptions } from "./handle.ts";
import { LateNotices } from "./late-notices.ts";
import { DEFAULT_TIMEOUT_MS } from "./options.ts";
import type { AttachOptions, CheckedOptions } from "./options.ts";
import { checkParentOpen } from "./parent-work.ts";
import type { ParentWork } from "./parent-work.ts";
import { sessionOf } from "./session.ts";
import { isSameWork } from "./same-work.ts";

/** The handoffs that an agent has made, in this process or found again. */
export class Delegating {
  readonly newId: () => string;
  readonly #context: AgentContext;
  readonly #presence: Presence;
  readonly #handles = new InFlight<string, Handle>();
  readonly #lateNotices: LateNotices;
  /** Handles that are being made for handoffs of an earlier process. */
  readonly #attaching = new Map<string, Promise<Handle>>();

  constructor(context: AgentContext, presence: Presence) {
    this.newId = context.source.newId;
    this.#context = context;
    this.#presence = presence;
    this.#lateNotices = new LateNotices(context);
  }

  handoff(options: CheckedOptions, parent?: ParentWork): Handle {
    const { acknowledge, acceptCounter, group } = options;
    if (acceptCounter !== undefined && group !== undefined) throw counterInGroup();
    checkTimes(options);
    const made = this.#envelopeOf(options, parent?.envelope);
    const known = this.#handles.get(made.handoff_id);
    if (known !== undefined) {
      if (isSameWork(known.work, { ...made.body, artifacts: options.artifacts })) return known;
      throw handoffIdInUse(made.handoff_id);
    }
    checkAhead(options, this.#context.clock.now());
    const { traceparent, tracestate } = options;
    const scope = parent?.trace?.scope;
    const { envelope, span } = startSendSpan(made, { scope, traceparent, tracestate });
    const isManual = acknowledge === "manual";
    const artifacts = this.#context.artifacts.areToBeSent(options.artifacts)
      ? options.artifacts
      : undefined;
    const handle = this.#handle(envelope, { isManual, artifacts }, acceptCounter);
    const sent = this.#traced(span, this.#send(handle, options, parent));
    this.#context.outgoing
      .track({ kind: "handoff", handoffId: handle.id }, sent)
      .catch((error: unknown) => handle.fail(WaybillError.from(error)));
    return handle;
  }

  #envelopeOf(options: CheckedOptions, parent: HandoffEnvelope | undefined): HandoffEnvelope {
    const { id, hub, source } = this.#context;
    const { to, tags, minReliability, timeoutMs, deadline } = options;
    const { notBefore, priority } = options;
    const { capability, version, input, brief, messages, contract, metadata } = options;
    // Files that have to be read or uploaded are replaced by their references before the envelope is
    // signed.
    const artifacts = options.artifacts?.filter(isArtifact);
    const work = { capability, version, input, brief, messages, artifacts, contract };
    const isUntimed = timeoutMs === undefined && deadline === undefined && parent === undefined;
    return createHandoff(
      {
        from: id,
        domain: hub.domain,
        to: to ?? { capability, version, tags, min_reliability: minReliability },
        body: { ...work, metadata: metadata as HandoffBody["metadata"] },
        deadline,
        timeoutMs: isUntimed ? DEFAULT_TIMEOUT_MS : timeoutMs,
        notBefore,
        priority,
        handoffId: options.handoffId,
        parent,
        correlationId: options.correlationId,
        group: options.group,
        session: sessionOf(options.session),
        replayOf: options.replayOf,
        onBehalfOf: options.onBehalfOf,
        traceparent: options.traceparent,
        tracestate: options.tracestate,
      },
      source,
    );
  }

  async #send(
    handle: Handle,
    { signal, checked }: CheckedOptions,
    parent: ParentWork | undefined,
  ): Promise<void> {
    if (checked !== undefined) await checked;
    if (parent !== undefined) checkParentOpen(parent, this.#context.clock.now());
    await this.#presence.startForHandoff();
    if (signal?.aborted === true)
      throw new WaybillError(499, "The handoff was cancelled before it was sent.");
    await handle.upload(signal);
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
   * If the hub has another handoff under this id, it may be this agent's own from before a restart.
   * Asking only then costs nothing in the usual case, and also finds a handoff that reached the hub
   * meanwhile.
   */
  async #submit(handle: Handle): Promise<void> {
    try {
      await handle.submit();
    } catch (error) {
      if (!WaybillError.is(error, 409)) throw error;
      const until = Date.parse(handle.envelope.deadline);
      const own = await this.#context.link.retry(() => findOwn(this.#context, handle.id), until);
      if (own === undefined) throw error;
      if (!isSameWork(own.envelope.body, handle.envelope.body))
        throw handoffIdInUse(handle.id, error);
      await adopt(handle, own);
    }
  }

  #handle(
    envelope: HandoffEnvelope,
    options: Pick<HandleOptions, "isManual" | "artifacts">,
    rule?: CounterRule,
  ): Handle {
    const renew =
      rule && ((handle: Handle, counter: CounterOffer) => this.#renew(handle, counter, rule));
    const handles = this.#handles;
    const lateNotices = this.#lateNotices;
    const handle = new Handle(this.#context, envelope, { ...options, handles, lateNotices, renew });
    handles.set(handle.id, handle);
    lateNotices.forget(handle.id);
    return handle;
  }

  async #renew(handle: Handle, counter: CounterOffer, rule: CounterRule): Promise<boolean> {
    const { source } = this.#context;
    const { envelope: offer } = handle;
    if (!(await isAccepted(rule, counter, offer.body.contract))) return false;
    const { envelope, span } = startSendSpan(counteredHandoff(offer, counter.contract, source), {
      scope: contextOf(offer),
    });
    handle.goOnWith(envelope);
    this.#handles.set(handle.id, handle);
    await this.#traced(span, this.#submit(handle));
    return true;
  }

  async #traced(span: Span | undefined, work: Promise<void>): Promise<void> {
    if (span === undefined) return work;
    try {
      await work;
      endSpan(span, 100);
    } catch (error) {
      endSpan(span, WaybillError.from(error).status);
      throw error;
    }
  }

  async attach(handoffId: string, options: AttachOptions): Promise<Handle> {
    const known = this.#handles.get(handoffId) ?? this.#attaching.get(handoffId);
    if (known !== undefined) return known;
    const attaching = this.#attach(handoffId, options);
    this.#attaching.set(handoffId, attaching);
    return attaching.finally(() => this.#attaching.delete(handoffId));
  }

  async #attach(handoffId: string, { acknowledge, acceptCounter }: AttachOptions): Promise<Handle> {
    const own = await findOwn(this.#context, handoffId);
    if (own === undefined) {
      throw new WaybillError(
        404,
        `The hub has no handoff ${handoffId} of ${this.#context.id} at the moment, but one may still be in flight. Hand off again with this handoffId, or ask again after its deadline.`,
      );
    }
    const known = this.#handles.get(handoffId);
    if (known !== undefined) return known;
    const handle = this.#handle(
      own.envelope,
      { isManual: acknowledge === "manual" },
      acceptCounter,
    );
    try {
      await adopt(handle, own);
    } catch (error) {
      // A handle with half of the events is unusable: the next try makes another.
      handle.fail(WaybillError.from(error));
      throw error;
    }
    return handle;
  }

  /** Passes a delivery to its handle; false if nobody here expects it. */
  async receive(delivery: Extract<Delivery, { type: "envelope" }>): Promise<boolean> {
    const { handoff_id: handoffId, envelope, received_at: receivedAt } = delivery;
    // A delivery that comes while its handle is being made waits for the handle.
    await this.#attaching.get(handoffId)?.catch(() => undefined);
    const handle = this.#handles.get(handoffId);
    if (handle === undefined) return this.#lateNotices.receive(delivery);
    await handle.receive(envelope, receivedAt);
    return true;
  }

  show(delta: ShownDelta): void {
    this.#handles.get(delta.handoffId)?.show(delta);
  }

  /** Fails all handles: nothing will be delivered for them any more. */
  fail(error: WaybillError): void {
    for (const handle of this.#handles.values()) handle.fail(error);
  }

  /** Fails all handles, but only after the hub has confirmed the handoffs that are being sent. */
  lose(reason: WaybillError): void {
    for (const handle of this.#handles.values()) {
      const fail = () => handle.fail(reason);
      handle.custody.then(fail, fail);
    }
  }

  #failed(error: unknown): void {
    const { id: agent, log } = this.#context;
    log({ event: "failure", agent, error });
  }
}

function counterInGroup(): WaybillError {
  return new WaybillError(
    400,
    "A member of a group can't accept a counter-offer: its 406 may decide the group before that. Offer terms that the recipient's manifest names, or hand it off outside the group.",
    { at: "/group" },
  );
}

function handoffIdInUse(handoffId: string, cause?: unknown): WaybillError {
  return new WaybillError(
    409,
    `The handoff id ${handoffId} is already used for different work of this agent: its capability, input, brief, messages or artifacts differ. Use a new id for new work, or repeat the original work unchanged.`,
    { at: "/handoff_id", cause },
  );
}
