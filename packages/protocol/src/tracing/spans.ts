import type { HandoffEnvelope } from "../envelope/envelope.ts";
import { GEN_AI, MESSAGING, SYSTEM, WAYBILL } from "./attributes.ts";

/** The description of a span to start, independent of any tracing library. */
export interface SpanShape {
  readonly name: string;
  readonly kind: "PRODUCER" | "CONSUMER" | "CLIENT" | "SERVER" | "INTERNAL";
  readonly attributes: Readonly<Record<string, string | number>>;
}

/**
 * The delegator's span: until the hub has the handoff in custody. It is a producer if its own context
 * is sent with the handoff; a context that the application passes is sent instead.
 */
export function sendSpan(handoff: HandoffEnvelope, isCreator: boolean): SpanShape {
  return messagingSpan(handoff, handoff.from, {
    operation: "send",
    type: "send",
    kind: isCreator ? "PRODUCER" : "CLIENT",
  });
}

/**
 * The hub's span: from a verified handoff to the receipt. The conventions have no operation type for
 * an intermediary, and reserve `process` for the consumer.
 */
export function custodySpan(handoff: HandoffEnvelope, hub: string): SpanShape {
  return messagingSpan(handoff, hub, { operation: "custody", kind: "SERVER" });
}

/** The recipient's span: one for each attempt, from its offer to its last envelope. */
export function processSpan(handoff: HandoffEnvelope, agent: string, attempt: number): SpanShape {
  const shape = messagingSpan(handoff, agent, {
    operation: "process",
    type: "process",
    kind: "CONSUMER",
  });
  return { ...shape, attributes: { ...shape.attributes, [WAYBILL.attempt]: attempt } };
}

/** Around the handler, inside `process`. */
export function invokeAgentSpan(handoff: HandoffEnvelope, agent: string): SpanShape {
  return {
    name: `invoke_agent ${agent}`,
    kind: "INTERNAL",
    attributes: {
      [GEN_AI.operationName]: "invoke_agent",
      [GEN_AI.provider]: SYSTEM,
      [GEN_AI.agentId]: agent,
      [GEN_AI.agentName]: agent,
      [GEN_AI.conversationId]: handoff.correlation_id,
    },
  };
}

interface Operation {
  readonly operation: string;
  readonly type?: string;
  readonly kind: SpanShape["kind"];
}

function messagingSpan(
  handoff: HandoffEnvelope,
  client: string,
  { operation, type, kind }: Operation,
): SpanShape {
  const { to, body } = handoff;
  const destination = typeof to === "string" ? to : to.capability;
  return {
    name: `${operation} ${destination}`,
    kind,
    attributes: {
      [MESSAGING.system]: SYSTEM,
      [MESSAGING.operationName]: operation,
      ...(type === undefined ? {} : { [MESSAGING.operationType]: type }),
      [MESSAGING.destination]: destination,
      [MESSAGING.clientId]: client,
      [MESSAGING.messageId]: handoff.id,
      [MESSAGING.conversationId]: handoff.correlation_id,
      [WAYBILL.handoffId]: handoff.handoff_id,
      ...(handoff.on_behalf_of === undefined ? {} : { [WAYBILL.onBehalfOf]: handoff.on_behalf_of }),
      [WAYBILL.capability]: typeof to === "string" ? body.capability : to.capability,
    },
  };
}
