/// <reference types="node" />
// Started by bullmq.ts: the worker, in its own process.
import { Worker } from "bullmq";
import { outputOf } from "../custody/job.ts";
import { QUEUE } from "./queue.ts";

/** How many jobs it runs at once: as many as are ever in flight. */
const CONCURRENCY = 64;

const [port] = process.argv.slice(2);
const worker = new Worker<{ text: string }>(QUEUE, (job) => Promise.resolve(outputOf(job.data)), {
  connection: { host: "127.0.0.1", port: Number(port) },
  concurrency: CONCURRENCY,
});
await worker.waitUntilReady();
process.send!("ready");
process.on("disconnect", () => process.exit());
