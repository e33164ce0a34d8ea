/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What must be undone, whenever and however the siege ends. */
const undone = new Set<() => void>();

process.once("exit", () => {
  for (const undo of [...undone].toReversed()) undo();
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => process.exit(1));
}

/** Registers an undo for the end of the process; returns a function that runs it now. */
export function undoAtExit(undo: () => void): () => void {
  undone.add(undo);
  return () => {
    if (undone.delete(undo)) undo();
  };
}

/** An empty folder, and a function that removes it. */
export function temporaryFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "waybill-siege-"));
  return { folder, remove: undoAtExit(() => rmSync(folder, { recursive: true, force: true })) };
}
