import { statusOf, WaybillError } from "@waybill/protocol";
import type {
  Digest,
  Effects,
  Json,
  Message,
  SessionState,
  StatusCode,
  VerifiedEnvelope,
} from "@waybill/protocol";
import type { Artifacts } from "../artifacts/artifacts.ts";
import type { ReceivedArtifact } from "../artifacts/received.ts";
import { handoffUsage } from "./usage.ts";
import type { HandoffUsage } from "./usage.ts";

/** A successful result, as its recipient signed it. */
export interface HandoffResult<Output = Json | undefined> {
  /** Always 200: every other end is an error. */
  readonly status: StatusCode;
  /**
   * The output of the work. Without a declaration it may be missing: messages and artifacts are
   * results, too.
   */
  readonly output: Output;
  /** What the recipient said, as turns of a conversation. */
  readonly messages: readonly Message[];
  /** Files that came with it. Those that are stored at the hub are read on demand. */
  readonly artifacts: readonly ReceivedArtifact[];
  /** Whether the work has had effects outside. */
  readonly effects: Effects | undefined;
  /** What it has used, if its recipient reports it: requests, tokens and cost, including children. */
  readonly usage: HandoffUsage | undefined;
  /**
   * If the handoff names a session: whether its conversation was `continued`, has `begun`, or was
   * `lost` and begins again. Undefined if the recipient keeps no conversations.
   */
  readonly session: SessionState | undefined;
  /** The agent that did it, and its attempt. */
  readonly by: string;
  readonly attempt: number;
  /** The result as its recipient signed it. */
  readonly envelope: string;
  /** Digest of that envelope. */
  readonly digest: Digest;
}

export type Ending =
  | { readonly type: "result"; readonly result: HandoffResult }
  | {
      readonly type: "error";
      readonly error: WaybillError;
      readonly usage?: HandoffUsage | undefined;
    };

/** What an envelope says about the end of its handoff; undefined if it ends nothing. */
export function endingOf(
  { envelope, digest, text }: VerifiedEnvelope,
  files: Pick<Artifacts, "received">,
): Ending | undefined {
  const { from } = envelope;
  switch (envelope.kind) {
    case "result": {
      const { status, output, messages = [], effects, session, error } = envelope.body;
      const usage = handoffUsage(envelope.body.usage);
      if (status !== 200) {
        const { cause, retryable, retry_after_ms: retryAfterMs } = error ?? {};
        const message = error?.message ?? statusOf(status).meaning;
        return { ...failed(status, message, { cause, retryable, retryAfterMs }), usage };
      }
      const { attempt } = envelope;
      const artifacts = files.received(envelope.body.artifacts ?? []);
      const said = { status, output, messages, artifacts, effects, usage, session };
      const result = { ...said, by: from, attempt };
      return { type: "result", result: { ...result, envelope: text, digest } };
    }
    case "receipt": {
      const { status, reason, counter } = envelope.body;
      if (status < 400) return undefined;
      const why = reason ?? statusOf(status).meaning;
      return failed(
        status,
        `${from} rejected it: ${why}`,
        counter && { cause: { counter, by: from, reason: why } },
      );
    }
    case "notice":
      return failed(envelope.body.status, envelope.body.reason, { cause: envelope.body.data });
    case "cancel":
      return failed(499, envelope.body.reason ?? statusOf(499).meaning);
    default:
      return undefined;
  }
}

function failed(
  status: StatusCode,
  message: string,
  options?: ConstructorParameters<typeof WaybillError>[2],
): Extract<Ending, { type: "error" }> {
  return { type: "error", error: new WaybillError(status, message, options) };
}
