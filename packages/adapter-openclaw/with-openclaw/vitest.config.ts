import { fileURLToPath } from "node:url";

const globalSetup = fileURLToPath(new URL("global-setup.ts", import.meta.url));

/** One gateway for all test files of a run. */
const config: { readonly test: object } = { test: { globalSetup, fileParallelism: false } };
export default config;
