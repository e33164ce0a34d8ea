/// <reference types="node" />
import { flushCompileCache } from "node:module";
import { WaybillError } from "@waybill/protocol";
import { folderAt } from "./folder.ts";
import type { Folder } from "./folder.ts";

/** What a process tells its supervisor. */
export type ProcessReport =
  | { readonly type: "ready" }
  /** So many handoffs have ended for the delegator. */
  | { readonly type: "ended"; readonly count: number }
  /** The delegator has the end of all its handoffs. */
  | { readonly type: "finished" }
  /** Nothing is open in the hub. */
  | { readonly type: "drained" }
  | { readonly type: "failure"; readonly message: string };

export interface Life {
  readonly folder: Folder;
  /** The arguments after the folder. */
  readonly given: readonly string[];
  tell(told: ProcessReport): void;
}

/** The start of every process here. It ends with its supervisor, however that ends. */
export function beginLife(): Life {
  const [, , path, ...given] = process.argv;
  if (path === undefined || process.send === undefined) {
    throw new WaybillError(400, "This process is one of a run: start src/crashes.ts instead.");
  }
  // It may have gone while this process was still loading.
  if (!process.connected) process.exit();
  process.once("disconnect", () => process.exit());
  return {
    folder: folderAt(path),
    given,
    tell: (told) => {
      if (process.connected) process.send!(told);
      // Otherwise written at an exit, which a life that is killed never comes to.
      if (told.type === "ready") flushCompileCache();
    },
  };
}

/** What an agent or a hub logs, told as far as it is a failure. */
export function loggerOf({ tell }: Life): (line: { event: string; error?: unknown }) => void {
  return ({ event, error }) => {
    const message = event === "failure" ? failureOf(error) : undefined;
    if (message !== undefined) tell({ type: "failure", message });
  };
}

const IDS = /[0-9a-f]{8}-[0-9a-f-]{27}/g;

/** Words for a logged failure; nothing for a line that was cut, of which a run has many. */
export function failureOf(error: unknown): string | undefined {
  if (WaybillError.is(error, 503)) return undefined;
  // Without the ids, so that the same failure counts as the same.
  if (WaybillError.is(error)) return `${error.status} ${error.message.replaceAll(IDS, "…")}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
