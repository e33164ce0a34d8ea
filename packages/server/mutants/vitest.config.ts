import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import type { ViteUserConfig } from "vitest/config";
import { MUTANTS } from "./mutants.ts";

const PACKAGES = fileURLToPath(new URL("../../", import.meta.url));
const mutant = MUTANTS.find(({ name }) => name === process.env["WAYBILL_MUTANT"]);
if (mutant === undefined) throw new Error("WAYBILL_MUTANT names one of the mutants.");
const { file, find, replace } = mutant;

/** Runs the tests over sources of which one has the fault. No file is changed. */
const config: ViteUserConfig = defineConfig({
  plugins: [
    {
      name: "waybill-mutant",
      enforce: "pre",
      load(id) {
        if (id.split("?")[0] !== PACKAGES + file) return undefined;
        return readFileSync(PACKAGES + file, "utf8").replace(find, () => replace);
      },
    },
  ],
});

export default config;
