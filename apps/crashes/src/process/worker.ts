/// <reference types="node" />
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Agent, Returned, Work } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { Caller } from "../line/caller.ts";
import type { Kind } from "../plan/plan.ts";
import { findOrMake } from "./find-or-make.ts";

type Input = {
  readonly index: number;
  readonly kind: Kind;
  readonly workMs: number;
};

/** The maximum of a manifest, so that kills don't use up the attempts before the work is done. */
const TERMS = { lease_seconds: 2, max_attempts: 32, effects: "possible" } as const;
const PARTS = 3;

/** All kinds of work, done by one agent, with their effects on the outside target. */
export class Worker {
  readonly #agent: Agent;
  readonly #target: Caller;
  readonly #work: Readonly<Record<Kind, (work: Work<Input>) => Promise<Returned | void>>> = {
    plain: workFor,
    slow: workFor,
    question: askInTheMiddle,
    pause,
    flaky: (work) => this.#failOnce(work),
    family: (work) => this.#handOffAll(work),
    late: never,
  };

  constructor(agent: Agent, target: Caller) {
    this.#agent = agent;
    this.#target = target;
  }

  serve(): void {
    this.#agent.serve<Input>({ name: "work", ...TERMS }, async (work) => {
      const returned = await this.#work[work.input.kind](work);
      if (returned !== undefined) return returned;
      await this.#affect(work.handoffId);
      return { index: work.input.index };
    });
    this.#agent.serve<{ part: number; workMs: number }>(
      { name: "part", ...TERMS },
      async ({ input, signal, handoffId, envelope }) => {
        await delay(input.workMs, undefined, { signal });
        await this.#affect(handoffId);
        return { of: envelope.parent_id!, part: input.part };
      },
    );
  }

  /** Until the target confirms an effect, it counts as not done. */
  async #affect(key: string): Promise<void> {
    for (;;) {
      try {
        await this.#target.call("effect", key);
        return;
      } catch (error) {
        if (!WaybillError.is(error, 503)) throw error;
      }
    }
  }

  async #failOnce(work: Work<Input>): Promise<void> {
    await workFor(work);
    if (work.attempt > 1) return;
    await this.#affect(work.handoffId);
    throw new WaybillError(500, "It has failed after its effect.", { retryable: true });
  }

  async #handOffAll(work: Work<Input>): Promise<void> {
    await Promise.all(Array.from({ length: PARTS }, (_, part) => this.#handOff(work, part)));
  }

  async #handOff(work: Work<Input>, part: number): Promise<void> {
    const { workMs } = work.input;
    const id = partId(this.#agent.id, work.handoffId, part);
    const child = await findOrMake(this.#agent, id, () =>
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
}

async function workFor({ input, signal }: Work<Input>): Promise<void> {
  await delay(input.workMs, undefined, { signal });
}

async function askInTheMiddle(work: Work<Input>): Promise<void> {
  await workFor(work);
  const question = `Where to with ${work.handoffId}?`;
  mustAnswer(await work.ask(question), question);
}

async function pause(work: Work<Input>): Promise<Returned | void> {
  await workFor(work);
  const { resume, handoffId } = work;
  if (resume === undefined) return work.pause("How to go on?", handoffId);
  if (resume.state !== handoffId) throw new WaybillError(500, "This is another one's state.");
  for (const answer of resume.answers.values()) mustAnswer(answer, "How to go on?");
}

function never({ signal }: Work<Input>): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason as Error)),
  );
}

/** The same in each attempt of one agent, so that a child is found again and not made twice. */
function partId(agent: string, parentId: string, part: number): string {
  const hex = createHash("sha256").update(`${parentId}/${agent}/${part}`).digest("hex");
  return `${parentId.slice(0, 14)}7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

function mustAnswer(answer: unknown, question: string): void {
  if ((answer as { to?: unknown } | null)?.to === question) return;
  throw new WaybillError(500, `${question} was answered with ${JSON.stringify(answer)}.`);
}
