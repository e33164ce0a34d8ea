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

/** What a framework's step hands off. */
export interface Call extends Omit<HandoffOptions, "handoffId" | "signal" | "group"> {
  /** Which step of which run. The handoff id is derived from it, so a repeated step finds its handoff. */
  readonly step: Step;
}

/** Refuses every question, for a framework that has nobody to ask. */
export function refuseQuestion(question: QuestionEvent): Promise<never> {
  const asked = question.text ?? question.id;
  return Promise.reject(
    new WaybillError(499, `Nobody here can answer the question of ${question.by}: ${asked}`),
  );
}

/** Hands off for a step, or finds the handoff that the step made earlier. */
export function dispatch(agent: Agent, { step, ...options }: Call): HandoffHandle {
  const handoffId = handoffIdOf(agent.id, step);
  const work = currentWork();
  if (work === undefined) return agent.handoff({ ...options, handoffId });
  // Only the agent that holds an attempt may hand off children of it; another agent's handoff joins
  // the same job.
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
 * Hands off for a step and waits for the end: what a node, a tool or a team member of a framework
 * does.
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
