/// <reference types="node" />
import { createAgent, loadKey } from "@waybill/agent";
import type { HandoffHandle } from "@waybill/agent";
import { newId, WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { hubOf } from "./hub-of.ts";
import { DELEGATOR, tasksFrom } from "../plan/plan.ts";
import type { Task } from "../plan/plan.ts";
import { findOrMake, startAgent } from "./find-or-make.ts";
import type { AppliedLine, KeptLine, ReceiptLine } from "./folder.ts";
import { Journal } from "./journal.ts";
import { beginLife, loggerOf } from "./life.ts";

const AT_ONCE = 16;

const life = beginLife();
const { folder, given, tell } = life;
const tasks = tasksFrom(Number(given[0]), Number(given[1]));
const kept = new Journal<KeptLine>(folder.kept);
const receipts = new Journal<ReceiptLine>(folder.receipts);
const applied = new Journal<AppliedLine>(folder.applied);
const ids = new Map(kept.lines.map(({ index, id }) => [index, id]));
const isApplied = new Set(applied.lines.map(({ id }) => id));

const log = loggerOf(life);
const agent = createAgent({
  id: DELEGATOR,
  key: await loadKey(folder.key(DELEGATOR)),
  hub: await hubOf(folder),
  log,
});
await startAgent(agent);
tell({ type: "ready" });
tell({ type: "ended", count: applied.lines.length });

const rest = tasks.values();
await Promise.all(Array.from({ length: AT_ONCE }, workOff));
tell({ type: "finished" });

async function workOff(): Promise<void> {
  for (const task of rest) await settle(task);
}

async function settle(task: Task): Promise<void> {
  const id = ids.get(task.index) ?? newId();
  if (!ids.has(task.index)) kept.append({ index: task.index, id });
  const handle = await custodyOf(task, id);
  answerAll(handle).catch((error: unknown) => log({ event: "failure", error }));
  const line = await endOf(task, handle);
  if (!isApplied.has(id)) {
    applied.append(line);
    tell({ type: "ended", count: applied.lines.length });
  }
  await handle.acknowledge();
}

async function custodyOf(task: Task, id: string): Promise<HandoffHandle> {
  for (;;) {
    try {
      return await findOrMake(agent, id, () => make(task, id));
    } catch (error) {
      // The hub was down until the deadline had passed: it never had the handoff.
      if (!WaybillError.is(error, 504)) throw error;
    }
  }
}

function make({ index, kind, workMs, timeoutMs, to }: Task, handoffId: string): HandoffHandle {
  const handle = agent.handoff({
    to,
    capability: "work",
    input: { index, kind, workMs },
    timeoutMs,
    handoffId,
    acknowledge: "manual",
  });
  handle.custody.then(
    ({ text }) => receipts.append({ at: Date.now(), id: handoffId, text }),
    () => undefined,
  );
  return handle;
}

async function endOf({ index }: Task, handle: HandoffHandle): Promise<AppliedLine> {
  const { id } = handle;
  try {
    const { status, digest, output } = await handle.result;
    const outputIndex = (output as { index?: number } | undefined)?.index;
    return { at: Date.now(), index, id, status, digest, outputIndex };
  } catch (error) {
    return { at: Date.now(), index, id, status: WaybillError.from(error).status };
  }
}

async function answerAll(handle: HandoffHandle): Promise<void> {
  for await (const { id, text } of handle.questions) {
    try {
      await handle.answer(id, { to: text } as Json);
    } catch (error) {
      // An earlier life has answered it, or it has ended meanwhile.
      if (!WaybillError.is(error, 410)) throw error;
    }
  }
}
