import { describeForModel, WaybillError } from "@waybill/protocol";
import type { Capability } from "@waybill/protocol";
import type { HandoffResult } from "../delegating/ending.ts";
import { failureAsData, markedAsData, resultAsData } from "./as-data.ts";
import { toolNameOf } from "./tool-name.ts";

/** What a model is told about a tool that is backed by another agent. */
export interface RemoteToolCard {
  readonly name: string;
  /** Marked as foreign text where it contains the other agent's own words. */
  readonly description: string;
  /** The agent that is responsible for the tool's failures. */
  readonly by: string;
}

/** What happens when another agent fails: the model gets the failure as data, or the run fails. */
export type OnFailure = "tell" | "throw";

/** Shows a capability of another agent to a model as a tool. */
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

/** The result of another agent for a model, marked as data. */
export function resultForModel(result: HandoffOutcome): string {
  return markedAsData(result.by, resultAsData(result));
}

/** The failure of another agent for a model, marked as data. */
export function failureForModel(by: string, failure: WaybillError): string {
  return markedAsData(by, failureAsData(failure));
}

/**
 * The failure to tell a model about. Undefined where the run has to fail with the thrown error:
 * because the option says so, because the run was stopped, or because the fault is not another
 * agent's.
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
