/// <reference types="node" />
// A thread that simulates given seeds, optionally with a planted bug.
import { parentPort, workerData } from "node:worker_threads";
import { mutantNamed } from "../mutants/mutants.ts";
import { plant } from "../mutants/plant.ts";
import type { Judge } from "../judge/verdict.ts";
import { rememberSignatures } from "./known-signatures.ts";
import type { Job, DeliveredEvent, WorkerStart } from "./delivered-event.ts";

const { mutant, storage } = workerData as WorkerStart;
rememberSignatures();
const planted = mutant === undefined ? undefined : mutantNamed(mutant);
if (planted !== undefined) plant(planted);

const sound = mutant === undefined ? "" : "?sound";
const { judge } = (await import(`../judge/judge.ts${sound}`)) as { readonly judge: Judge };
const { simulateSeed } = await import("../simulate-seed.ts");
const { simulateEachCall } = await import("../simulate-each-call.ts");

const scenario = { ...(storage && { storage }), ...planted?.worlds };
const tell = (told: DeliveredEvent) => parentPort!.postMessage(told);

parentPort!.on("message", ({ seed, isTraced, crashesAtEachCall }: Job) => {
  const running = crashesAtEachCall
    ? simulateEachCall(seed, judge, scenario)
    : simulateSeed(seed, judge, { isTraced, scenario });
  running.then(
    (run) => tell({ type: "run", run }),
    (error: unknown) => tell({ type: "failed", seed, message: String((error as Error).stack) }),
  );
});
tell({ type: "ready" });
