import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import type { ViteUserConfig } from "vitest/config";
import { NearestFirst } from "./nearest-first.ts";
import { faultOfEnvironment, planted } from "./fault.ts";

const fault = faultOfEnvironment();

/** Runs the tests over the sources, one of which has the fault. No file is changed. */
const config: ViteUserConfig = defineConfig({
  test: { sequence: { sequencer: NearestFirst } },
  plugins: [
    {
      name: "waybill-mutant",
      enforce: "pre",
      load(id) {
        if (id.split("?")[0] !== fault.file) return undefined;
        return planted(readFileSync(fault.file, "utf8"), fault);
      },
    },
  ],
});

export default config;
