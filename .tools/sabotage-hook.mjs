// Preloaded into a process: one source file of an adapter is read with a fault in it. The file on
// disk stays unchanged.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { planted } from "./sabotage-fault.mjs";

const fault = JSON.parse(process.env.WAYBILL_FAULT);
const target = pathToFileURL(fault.file).href;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url.split("?")[0] !== target) return loaded;
    return { ...loaded, source: planted(readFileSync(fault.file, "utf8"), fault) };
  },
});
