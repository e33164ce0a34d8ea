// `pnpm test:kaiban`, `pnpm test:openclaw` and `pnpm write`: the matrix with the frameworks that are
// installed for it.
import process from "node:process";
import { testAndExit } from "../../.tools/apart.mjs";

const KAIBAN = "../../packages/adapter-kaiban/with-kaibanjs";
const OPENCLAW = "../../packages/adapter-openclaw/with-openclaw";
const NEEDED = {
  kaiban: [KAIBAN],
  openclaw: [OPENCLAW],
  "openclaw-all": [KAIBAN, OPENCLAW],
  all: [KAIBAN, OPENCLAW],
};

const [mode, ...options] = process.argv.slice(2);
for (const folder of NEEDED[mode]) await import(`${folder}/install.mjs`);
// Starts the gateway once, and ends it.
const setUp = NEEDED[mode].includes(OPENCLAW) ? ["--config", `${OPENCLAW}/vitest.config.ts`] : [];
const TIMES = ["--test-timeout", "120000", "--hook-timeout", "300000"];
testAndExit("--dir", "src", "--mode", mode, ...setUp, ...TIMES, ...options);
