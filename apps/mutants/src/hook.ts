/// <reference types="node" />
// Preloaded into every process and thread that a test starts, because vitest's own loader does not
// cover them.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { faultOfEnvironment, planted } from "./fault.ts";

const fault = faultOfEnvironment();
const target = pathToFileURL(fault.file).href;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (url.split("?")[0] !== target) return loaded;
    return { ...loaded, source: planted(readFileSync(fault.file, "utf8"), fault) };
  },
});
