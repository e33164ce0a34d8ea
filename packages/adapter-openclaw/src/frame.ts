/** The frames of OpenClaw's gateway protocol, as far as this adapter reads them. */
export type Frame =
  | { readonly type: "event"; readonly event: string; readonly payload: unknown }
  | { readonly type: "res"; readonly id: string; readonly ok: true; readonly payload: unknown }
  | { readonly type: "res"; readonly id: string; readonly ok: false; readonly error: FrameError };

/** The error of a request. */
export interface FrameError {
  readonly code?: string;
  readonly message?: string;
  readonly details?: { readonly code?: string; readonly requestId?: string };
}

/** What the gateway says when it lets a client in. */
export interface Hello {
  readonly protocol: number;
  readonly server: {
    readonly version?: string;
    readonly bootId?: string;
    readonly connId?: string;
  };
  readonly auth?: { readonly deviceToken?: string };
  readonly policy?: { readonly tickIntervalMs?: number };
}

/** A frame, or undefined for anything else. */
export function frameOf(text: unknown): Frame | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const frame = JSON.parse(text) as Partial<Frame> | null;
    if (typeof frame !== "object" || frame === null) return undefined;
    const isKnown = frame.type === "event" || frame.type === "res";
    return isKnown ? (frame as Frame) : undefined;
  } catch {
    return undefined;
  }
}
