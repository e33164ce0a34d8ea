// The single entry point of `npm run demo`, `npm test`, `npm run check` and the other commands: sets
// the workspace up if necessary, then runs the command on the workspace's own Node. This file and
// setup.mjs run on the Node that started them (20 or newer), with nothing installed.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { demo, root } from "./workspace.mjs";
import { setUp, SetupError } from "./setup.mjs";

const jobs = {
  demo: { needs: "demo", file: demo.entry },
  // The demo leaves a database, which this command explores.
  waybill: { needs: "demo", file: "packages/waybill/src/waybill.ts" },
  test: { needs: "all", file: ".tools/test.mjs" },
  "test:python": { needs: "all", file: ".tools/python.mjs" },
  build: { needs: "all", file: ".tools/build.mjs" },
  ranges: { needs: "all", file: ".tools/ranges.mjs" },
  check: { needs: "all", file: ".tools/check.mjs" },
  bench: { needs: "all", file: "apps/bench/src/bench.ts" },
  conformance: { needs: "all", file: ".tools/conformance.mjs" },
  mutants: { needs: "all", file: "apps/mutants/src/run.ts" },
  simulate: { needs: "all", file: "apps/simulator/src/simulate.ts" },
  sbom: { needs: "all", file: ".tools/sbom.mjs" },
  siege: { needs: "all", file: "apps/siege/src/siege.ts" },
};

const [name, ...args] = process.argv.slice(2);
const job = Object.hasOwn(jobs, name ?? "") ? jobs[name] : undefined;
if (!job) {
  console.error(`There is no job '${name ?? ""}'. There are: ${Object.keys(jobs).join(", ")}.`);
  process.exit(2);
}

try {
  await setUp(job.needs);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`\nSet-up stopped: ${error.message}`);
  process.exit(1);
}

const environment = {
  ...process.env,
  PATH: [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter),
  DO_NOT_TRACK: "1",
  TURBO_TELEMETRY_DISABLED: "1",
  TURBO_NO_UPDATE_NOTIFIER: "1",
};
const child = spawn("node", [join(root, job.file), ...args], {
  env: environment,
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(
    `\nThe workspace's Node did not start (${error.message}). Delete node_modules and try again.`,
  );
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
