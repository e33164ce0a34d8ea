import { describeForModel, WaybillError } from "@waybill/protocol";
import type { Capability } from "@waybill/protocol";
import type { HandoffResult } from "../delegating/ending.ts";
import { failureAsData, markedAsData, resultAsData } from "./as-data.ts";
import { toolNameOf } from "./tool-name.ts";

/** What a model is told of a tool behind which another agent stands. */
export interface RemoteToolCard {
  readonly name: string;
  /** Marked as another's words, where it holds the agent's own. */
  readonly description: string;
  /** Who is answerable for the tool's failures. */
  readonly by: string;
}

/** What a failure of another agent does: the model is told as data, or the run ends with it. */
export type OnFailure = "tell" | "throw";

/** How a capability of another agent is shown to a model as a tool. */
export function remoteToolCard(
  capability: Capability,
  { name, to }: { readonly name?: string | undefined; readonly to?: string | undefined },
): RemoteToolCard {
  return {
    name: name ?? toolNameOf(capability.name),
    description: `Hands this work off to another agent, and gives its result.\n${describeForModel(capability)}`,
    by: to ?? capability.name,
  };
}

/** The result of another agent as a model is told it, marked as data. */
export function resultForModel(result: HandoffOutcome): string {
  return markedAsData(result.by, resultAsData(result));
}

/** The failure of another agent as a model is told it, marked as data. */
export function failureForModel(by: string, failure: WaybillError): string {
  return markedAsData(by, failureAsData(failure));
}

/**
 * The failure that a model is to be told of; undefined where the run ends with what was thrown: because
 * that was asked for, because the run was stopped, or because the fault is no other agent's.
 */
export function failureToTell(
  thrown: unknown,
  onFailure: OnFailure,
  signal: AbortSignal | undefined,
): WaybillError | undefined {
  const isTold = onFailure === "tell" && signal?.aborted !== true;
  return isTold && WaybillError.is(thrown) ? thrown : undefined;
}

type HandoffOutcome = Pick<HandoffResult, "by" | "output" | "messages" | "artifacts">;
