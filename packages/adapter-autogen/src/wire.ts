/** Names an agent: its type, and which instance of it. */
export interface AgentId {
  readonly type: string;
  readonly key: string;
}

export interface WirePayload {
  readonly data_type: string;
  readonly data_content_type: string;
  readonly data: Uint8Array;
}

export interface WireRequest {
  readonly request_id: string;
  readonly source?: AgentId | null;
  readonly target: AgentId | null;
  readonly payload: WirePayload | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface WireResponse {
  readonly request_id: string;
  readonly payload?: WirePayload | null;
  readonly error?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Passed on as it is. */
export interface WireEvent {
  readonly type: string;
  readonly source: string;
  readonly binary_data?: Uint8Array;
  readonly text_data?: string;
  readonly proto_data?: Uint8Array;
}

export interface WireSubscription {
  readonly id: string;
  readonly exact?: { readonly topic_type: string; readonly agent_type: string } | null;
  readonly prefix?: { readonly topic_type_prefix: string; readonly agent_type: string } | null;
}

/** `message` says which of them it is. */
export interface WireMessage {
  readonly message?: "request" | "response" | "event";
  readonly request?: WireRequest | null;
  readonly response?: WireResponse | null;
  readonly event?: WireEvent | null;
}

/** More than a worker's own client accepts at once: a larger message would end its connection. */
export const BYTES_TO_WORKER: number = 4 * 1024 * 1024 - 64 * 1024;

/** A larger message ends the connection instead of being answered. */
export const BYTES_FROM_WORKER: number = 16 * 1024 * 1024;
