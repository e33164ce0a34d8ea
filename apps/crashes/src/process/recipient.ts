/// <reference types="node" />
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createAgent, loadKey } from "@waybill/agent";
import type { Returned, Work } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import { Caller } from "../line/caller.ts";
import { farHub } from "../line/far-hub.ts";
import { HUB } from "../plan/plan.ts";
import type { Kind } from "../plan/plan.ts";
import { findOrMake, startAgent } from "./find-or-make.ts";
import { beginLife, failureOf } from "./life.ts";

type Input = {
  readonly index: number;
  readonly kind: Kind;
  readonly workMs: number;
};

const TERMS = { lease_seconds: 2, max_attempts: 16, effects: "possible" } as const;
const PARTS = 3;

const { folder, given, tell } = beginLife();
const name = given[0]!;
const target = new Caller(folder.targetSocket);
const agent = createAgent({
  id: name,
  key: await loadKey(folder.key(name)),
  hub: farHub(folder.hubSocket, HUB),
  log: ({ event, error }) => {
    const message = event === "failure" ? failureOf(error) : undefined;
    if (message !== undefined) tell({ type: "failure", message });
  },
});

const WORK: Readonly<Record<Kind, (work: Work<Input>) => Promise<Returned | void>>> = {
  plain: workFor,
  slow: workFor,
  async question(work) {
    await workFor(work);
    const answer = await work.ask(`Where to with ${work.handoffId}?`);
    mustAnswer(answer, `Where to with ${work.handoffId}?`);
  },
  async pause(work) {
    await workFor(work);
    const { resume, handoffId } = work;
    if (resume === undefined) return work.pause(`How to go on?`, handoffId);
    if (resume.state !== handoffId) throw new WaybillError(500, "This is another one's state.");
    for (const answer of resume.answers.values()) mustAnswer(answer, "How to go on?");
  },
  async flaky(work) {
    await workFor(work);
    if (work.attempt > 1) return;
    await effect(work.handoffId);
    throw new WaybillError(500, "It has failed after its effect.", { retryable: true });
  },
  async family(work) {
    await Promise.all(Array.from({ length: PARTS }, (_, part) => handOff(work, part)));
  },
  async late(work) {
    await new Promise((_, reject) =>
      work.signal.addEventListener("abort", () => reject(work.signal.reason as Error)),
    );
  },
};

agent.serve<Input>({ name: "work", ...TERMS }, async (work) => {
  const returned = await WORK[work.input.kind](work);
  if (returned !== undefined) return returned;
  await effect(work.handoffId);
  return { index: work.input.index };
});
agent.serve<{ part: number; workMs: number }>({ name: "part", ...TERMS }, async (work) => {
  await delay(work.input.workMs, undefined, { signal: work.signal });
  await effect(work.handoffId);
  return { of: work.envelope.parent_id!, part: work.input.part };
});
await startAgent(agent);
tell({ type: "ready" });

async function workFor({ input, signal }: Work<Input>): Promise<void> {
  await delay(input.workMs, undefined, { signal });
}

/** Reaches the outside target; as long as nobody there has said so, it is not done. */
async function effect(key: string): Promise<void> {
  for (;;) {
    try {
      await target.call("effect", key);
      return;
    } catch (error) {
      if (!WaybillError.is(error, 503)) throw error;
    }
  }
}

async function handOff(work: Work<Input>, part: number): Promise<void> {
  const { workMs } = work.input;
  const id = partId(work.handoffId, part);
  const child = await findOrMake(agent, id, () =>
    work.handoff({
      capability: "part",
      input: { part, workMs },
      handoffId: id,
      acknowledge: "manual",
    }),
  );
  const { output } = await child.result;
  await child.acknowledge();
  const { of, part: done } = output as { of: string; part: number };
  if (of === work.handoffId && done === part) return;
  throw new WaybillError(
    500,
    `Part ${part} of ${work.handoffId} got the result of ${done}, ${of}.`,
  );
}

/** The same in each attempt of this agent, so that a part is found again and not made twice. */
function partId(parentId: string, part: number): string {
  const hex = createHash("sha256").update(`${parentId}/${name}/${part}`).digest("hex");
  return `${parentId.slice(0, 14)}7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

function mustAnswer(answer: unknown, question: string): void {
  if ((answer as { to?: unknown } | null)?.to === question) return;
  throw new WaybillError(500, `${question} was answered with ${JSON.stringify(answer)}.`);
}
