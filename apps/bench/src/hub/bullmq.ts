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

/** Nothing ever looks at a job that is done. */
const JOBS_KEPT = 1_000;

/** Three processes: who adds jobs in this one, Redis, and a worker. Nothing is signed. */
export async function openBullmq(): Promise<Lane> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
  const redis = await startRedis(folder);
  const worker = await startChild("work.ts", `${redis.port}`);
  const connection = { host: "127.0.0.1", port: redis.port };
  const queue = new Queue(QUEUE, { connection });
  // From the beginning: from "now" on would be from when its first question reaches Redis, and a job
  // that is done before that would never be heard of.
  const events = new QueueEvents(QUEUE, { connection, lastEventId: "0-0" });
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
  // Quicker than waitUntilFinished, which asks Redis once more for each job. A job may be done
  // before it is known here that it was added.
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
