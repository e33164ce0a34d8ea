/// <reference types="node" />
import type * as Fs from "node:fs";
import type * as Path from "node:path";

/** What keeps keys in files. */
export interface Files {
  readonly fs: typeof Fs;
  readonly path: typeof Path;
}

/**
 * Files, where the runtime has them. They are asked of the process and not imported, so that bundles
 * for browsers and edge runtimes need no stand-in for them.
 */
export function files(): Files | undefined {
  const builtin = globalThis.process?.getBuiltinModule;
  if (builtin === undefined) return undefined;
  const fs = builtin("node:fs");
  const path = builtin("node:path");
  return fs === undefined || path === undefined ? undefined : { fs, path };
}
