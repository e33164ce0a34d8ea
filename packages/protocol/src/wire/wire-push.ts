import type { Delivery } from "./delivery.ts";

/** The body of a push, as JSON. */
export interface WirePush {
  readonly waybill: 1;
  readonly hub: string;
  readonly agent: string;
  readonly deliveries: readonly Delivery[];
  readonly challenge?: string | undefined;
}

/** An agent's answer: the envelopes that it would have submitted, and which attempts it has taken. */
export interface PushAnswer {
  readonly envelopes?: readonly string[] | undefined;
  /** The challenge of the push: deliveries for the agent may be sent here. */
  readonly echo?: string | undefined;
  readonly taken?: readonly { readonly handoff_id: string; readonly attempt: number }[] | undefined;
}
