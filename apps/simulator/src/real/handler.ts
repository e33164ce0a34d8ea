import type { Handler, Work } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { AgentOptions, ProcessResources } from "../agent/agent-site.ts";
import { behaviourOf } from "../agent/behaviour.ts";
import type { Behaviour, Step } from "../agent/behaviour.ts";
import { childOf, mayHaveChildren } from "../agent/workload.ts";
import { HUB_ID } from "../hub/hub-site.ts";
import type { RealDelegator } from "./real-delegator.ts";

/** How long work hangs: longer than the deadlines that agents set. */
const HANGS_MS = 16 * 60 * 1000;

/** How an application handles one attempt: sometimes well, sometimes not. */
export function handlerOf(
  options: AgentOptions,
  resources: ProcessResources,
  delegator: RealDelegator,
): Handler {
  const { world, target } = options;
  const { process, random } = resources;

  return async (work) => {
    checkResume(work);
    if (options.worksForMs !== undefined) {
      await rest(work, options.worksForMs, false);
      return "done";
    }
    const behaviour = behaviourOf(random, work.attempt);
    const { opening, steps, ignoresStop } = behaviour;
    if (opening === "release") throw released();
    for (const [index, step] of steps.entries()) await take(work, step, index, ignoresStop);
    await rest(work, random.spread(1, 6_000), ignoresStop);
    return finish(work, behaviour);
  };

  function checkResume({ resume, handoffId, attempt }: Work): void {
    if (resume === undefined) return;
    const missing = resume.questions.filter(({ id }) => !resume.answers.has(id));
    if (missing.length === 0 && resume.state === `state of ${handoffId}`) return;
    const message = `Attempt ${attempt} goes on from a pause without ${missing.length} of its answers.`;
    world.breach("resumed_without_answers", handoffId, message);
  }

  async function take(work: Work, step: Step, index: number, ignoresStop: boolean): Promise<void> {
    switch (step) {
      case "progress":
        return work.progress({ message: "at it", fraction: random.fraction() });
      case "ask":
        // Nobody answers questions for the hub.
        if (work.envelope.from !== HUB_ID) await work.ask(`step ${index}?`);
        return;
      case "child":
        return child(work, index);
      case "effect":
        return effect(work);
      case "rest":
      case "impostor":
      case "twins":
        return rest(work, random.spread(1, 10_000), ignoresStop);
    }
  }

  async function effect(work: Work): Promise<void> {
    const key = work.handoffId;
    await process.sleep(random.between(0, 20));
    if (process.isAlive) target.apply(work.handoffId, key);
  }

  /** A part of the work goes to a colleague; a repeated step finds its own child again. */
  async function child(work: Work, index: number): Promise<void> {
    if (!mayHaveChildren(work.envelope)) return;
    const part = childOf(random, options.colleagues, work.envelope);
    const handoff = await delegator.handOffPart(part, work, random.chance(0.5) ? index : undefined);
    if (handoff !== undefined && random.chance(0.7)) await delegator.endOf(handoff.handoff_id);
  }

  function rest({ signal }: Work, ms: number, ignoresStop: boolean): Promise<void> {
    if (ignoresStop) return process.sleep(ms);
    return new Promise((resolve, reject) => {
      const stop = () => reject(WaybillError.from(signal.reason));
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      process.after(ms, resolve);
    });
  }

  async function finish(
    work: Work,
    { finish: how }: Behaviour,
  ): Promise<Awaited<ReturnType<Handler>>> {
    switch (how) {
      case "complete":
        return `by ${options.id} in attempt ${work.attempt}`;
      case "fail":
        throw new WaybillError(500, "It did not work.", { retryable: false });
      case "fail_for_now":
        throw new WaybillError(500, "It did not work.", { retryable: true });
      case "interrupted":
        throw new Error("Something broke.");
      case "release":
        throw released();
      case "pause":
        return work.pause("and now?", `state of ${work.handoffId}`);
      case "fall_silent":
      case "only_beat":
        await rest(work, HANGS_MS, false);
        return "at last";
    }
  }

  function released(): WaybillError {
    return new WaybillError(random.pick([300, 301] as const), "Not now.", {
      retryAfterMs: random.spread(1, 5_000),
    });
  }
}
