// `pnpm test:openclaw`: the tests with a real gateway of OpenClaw.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileBeside, testAndExit } from "../../../.tools/apart.mjs";
import "./install.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
compileBeside(import.meta.url);
const SETUP = ["--config", join(here, "vitest.config.ts")];
const TIMES = ["--test-timeout", "120000", "--hook-timeout", "300000"];
testAndExit("--dir", here, ...SETUP, ...TIMES);
