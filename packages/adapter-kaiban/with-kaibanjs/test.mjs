// `pnpm test:kaiban`: the tests with the real KaibanJS.
import { fileURLToPath } from "node:url";
import { compileBeside, testAndExit } from "../../../.tools/apart.mjs";
import "./install.mjs";

compileBeside(import.meta.url);
testAndExit("--dir", fileURLToPath(new URL(".", import.meta.url)), "--test-timeout", "120000");
