/** What a host tells: among it all that AutoGen's own host is silent about. */
export type HostEvent =
  | { readonly event: "worker-connected" | "worker-gone"; readonly worker: string }
  | { readonly event: "agent-registered"; readonly worker: string; readonly agentType: string }
  | { readonly event: "request-refused"; readonly agentType: string; readonly error: string }
  | { readonly event: "response-unclaimed"; readonly worker: string; readonly requestId: string }
  | {
      readonly event: "event-undelivered";
      readonly topicType: string;
      readonly agentType?: string;
    };
