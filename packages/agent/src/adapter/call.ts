import { WaybillError } from "@waybill/protocol";
import type { Agent } from "../agent.ts";
import type { HandoffResult } from "../delegating/ending.ts";
import type { QuestionEvent } from "../delegating/events.ts";
import type { HandoffHandle } from "../delegating/handoff-handle.ts";
import type { HandoffOptions } from "../delegating/options.ts";
import { currentWork } from "./current-work.ts";
import { settle } from "./settle.ts";
import type { Listening } from "./settle.ts";
import { handoffIdOf } from "./step.ts";
import type { Step } from "./step.ts";

/** What a step of a framework hands off. */
export interface Call extends Omit<HandoffOptions, "handoffId" | "signal" | "group"> {
  /** Which step of which run: the handoff id follows from it, so that a step that is run again finds its handoff. */
  readonly step: Step;
}

/** For a framework that has nobody to ask. */
export function refuseQuestion(question: QuestionEvent): Promise<never> {
  const asked = question.text ?? question.id;
  return Promise.reject(
    new WaybillError(499, `Nobody here can answer what ${question.by} asks: ${asked}`),
  );
}

/** Hands a step off, or finds the handoff that it was given to before. */
export function dispatch(agent: Agent, { step, ...options }: Call): HandoffHandle {
  const handoffId = handoffIdOf(agent.id, step);
  const work = currentWork();
  if (work === undefined) return agent.handoff({ ...options, handoffId });
  // Whoever holds an attempt may hand off parts of it; another agent's handoff is one of the same job.
  if (work.agent === agent.id) return work.handoff({ ...options, handoffId });
  const { correlation_id: correlationId, traceparent, tracestate } = work.envelope;
  return agent.handoff({
    ...options,
    handoffId,
    correlationId: options.correlationId ?? correlationId,
    traceparent: options.traceparent ?? traceparent,
    tracestate: options.tracestate ?? tracestate,
    deadline: options.timeoutMs === undefined ? (options.deadline ?? work.deadline) : undefined,
  });
}

/**
 * Hands a step off and waits for its end: what a node, a tool or a team member of a framework does.
 *
 * @example
 * ```ts
 * const result = await call(agent, {
 *   step: { run: session, step: toolCallId },
 *   capability: "web_research",
 *   input,
 *   signal,
 *   onProgress: onEvent,
 *   onQuestion: refuseQuestion,
 * });
 * return wordsOfResult(result);
 * ```
 */
export async function call(
  agent: Agent,
  { signal, onProgress, onDelta, onQuestion, ...options }: Call & Listening,
): Promise<HandoffResult> {
  signal?.throwIfAborted();
  return settle(dispatch(agent, options), { signal, onProgress, onDelta, onQuestion });
}
