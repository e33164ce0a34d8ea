import type { HandoffResult, ProgressEvent, QuestionEvent } from "@waybill/agent";
import { failureForModel, resultForModel } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";

/**
 * What a remote tool gives. While the other agent works, each output replaces the one before: the SDK
 * streams them as preliminary results, and a page shows the last. `waybill` tells them apart.
 */
export type RemoteOutput = RemoteWorking | RemoteDone | RemoteFailed;

/** The other agent is at work. */
export interface RemoteWorking {
  readonly waybill: "working";
  /** Its last milestone. */
  readonly progress?: Pick<ProgressEvent, "message" | "fraction" | "data"> | undefined;
  /** What it has written so far, of a long text the end. The result replaces it. */
  readonly text: string;
  /** What it waits for. */
  readonly question?: Pick<QuestionEvent, "id" | "text" | "data" | "schema"> | undefined;
}

/** The other agent's result, whole: the model is shown it as marked data. */
export interface RemoteDone extends Pick<
  HandoffResult,
  "by" | "output" | "messages" | "artifacts" | "usage"
> {
  readonly waybill: "done";
}

/** The other agent has failed, and the model is told so. */
export interface RemoteFailed {
  readonly waybill: "failed";
  readonly by: string;
  readonly status: number;
  readonly message: string;
  /** What the other agent has told of the error behind it. */
  readonly cause?: unknown;
}

const STAGES: ReadonlySet<unknown> = new Set(["working", "done", "failed"]);

/** Whether a tool's output is one of a remote tool. */
export function isRemoteOutput(output: unknown): output is RemoteOutput {
  return STAGES.has((output as { waybill?: unknown } | null | undefined)?.waybill);
}

export function doneOf(result: HandoffResult): RemoteDone {
  const { by, output, messages, artifacts, usage } = result;
  return { waybill: "done", by, output, messages, artifacts, usage };
}

export function failedOf(by: string, { status, message, cause }: WaybillError): RemoteFailed {
  const told = cause instanceof Error ? cause.message : cause;
  return { waybill: "failed", by, status, message, cause: told };
}

/** What a model is told. A page may send an output back that it has changed. */
export function toldOf(output: RemoteOutput): string {
  if (output.waybill === "done") return resultForModel(output);
  if (output.waybill === "failed")
    return failureForModel(output.by, new WaybillError(output.status as 500, output.message));
  return failureForModel("The agent", new WaybillError(499, "It was not waited for."));
}
