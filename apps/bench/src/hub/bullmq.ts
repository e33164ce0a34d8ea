/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue, QueueEvents } from "bullmq";
import { checkOutput, inputOf } from "../custody/job.ts";
import type { Lane } from "../custody/lane.ts";
import { startChild } from "./child.ts";
import { QUEUE } from "./queue.ts";
import { startRedis } from "./redis.ts";

/** Finished jobs are never read. */
const JOBS_KEPT = 1_000;

/** Three processes: this one, which adds jobs, Redis, and a worker. Nothing is signed. */
export async function openBullmq(): Promise<Lane> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
  const redis = await startRedis(folder);
  const worker = await startChild("work.ts", `${redis.port}`);
  const connection = { host: "127.0.0.1", port: redis.port };
  const queue = new Queue(QUEUE, { connection });
  // From the beginning: "now" would mean when its first request reaches Redis, and the end of an
  // earlier job would be missed.
  const events = new QueueEvents(QUEUE, { connection, lastEventId: "0-0" });
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
  // Faster than waitUntilFinished, which asks Redis again for each job. A job may end before this
  // process knows that it was added.
  const waiting = new Map<string, (output: unknown) => void>();
  const early = new Map<string, unknown>();
  events.on("completed", ({ jobId, returnvalue }) => {
    const resolve = waiting.get(jobId);
    if (resolve === undefined) early.set(jobId, returnvalue);
    else resolve(returnvalue);
    waiting.delete(jobId);
  });
  return {
    async doOne(index) {
      const { id } = await queue.add("job", inputOf(index), {
        removeOnComplete: { count: JOBS_KEPT },
      });
      const output = early.has(id!)
        ? early.get(id!)
        : await new Promise<unknown>((resolve) => waiting.set(id!, resolve));
      early.delete(id!);
      checkOutput(index, output);
    },
    settle: () => Promise.resolve(),
    async close() {
      await Promise.all([queue.close(), events.close()]);
      await worker.stop();
      await redis.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
