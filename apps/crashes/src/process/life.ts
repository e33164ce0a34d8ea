/// <reference types="node" />
import { flushCompileCache } from "node:module";
import { WaybillError } from "@waybill/protocol";
import { folderAt } from "./folder.ts";
import type { Folder } from "./folder.ts";

/** The messages of a process to its supervisor. */
export type ProcessReport =
  | { readonly type: "ready" }
  /** This many handoffs have ended for the delegator. */
  | { readonly type: "ended"; readonly count: number }
  /** All handoffs of the delegator have ended. */
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
  // The supervisor may have ended while this process was loading.
  if (!process.connected) process.exit();
  process.once("disconnect", () => process.exit());
  return {
    folder: folderAt(path),
    given,
    tell: (told) => {
      if (process.connected) process.send!(told);
      // Otherwise the cache is written at exit, which a killed process never reaches.
      if (told.type === "ready") flushCompileCache();
    },
  };
}

/** Forwards failures from the log of an agent or a hub. */
export function loggerOf({ tell }: Life): (line: { event: string; error?: unknown }) => void {
  return ({ event, error }) => {
    const message = event === "failure" ? failureOf(error) : undefined;
    if (message !== undefined) tell({ type: "failure", message });
  };
}

const IDS = /[0-9a-f]{8}-[0-9a-f-]{27}/g;

/** The message of a logged failure; undefined for a cut line, of which a run has many. */
export function failureOf(error: unknown): string | undefined {
  if (WaybillError.is(error, 503)) return undefined;
  // Without ids, so that equal failures are counted together.
  if (WaybillError.is(error)) return `${error.status} ${error.message.replaceAll(IDS, "…")}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
