import { parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import { settled, World } from "../world-fixture.ts";
import { call, currentWork, dispatch, handoffIdOf, offerOf, refuseQuestion } from "./index.ts";
import type { Finished, Paused, Run } from "./index.ts";

const step = { run: "thread-1", step: "node-1" };
const onQuestion = refuseQuestion;

async function served(run: (run: Run) => Promise<object>, id = "worker") {
  const world = await World.open();
  const worker = world.agent(id);
  worker.serve(...offerOf({ capability: { name: "work" }, run }));
  await worker.start();
  return { world, worker, owner: world.agent("owner") };
}

test("a repeated step finds its own handoff", async () => {
  let runs = 0;
  const { world, owner } = await served(async () => ({ output: ++runs }));
  const first = await call(owner, { step, capability: "work", input: 1, onQuestion });
  const again = await call(owner, { step, capability: "work", input: 1, onQuestion });
  expect([first.output, again.output, runs]).toEqual([1, 1, 1]);
  const later = world.agent("owner");
  await owner.stop({ mode: "abandon" });
  const afterRestart = await call(later, { step, capability: "work", input: 1, onQuestion });
  expect(afterRestart.output).toBe(1);
  const other = await call(later, {
    step: { ...step, run: "thread-2" },
    capability: "work",
    input: 1,
    onQuestion,
  });
  expect(other.output).toBe(2);
});

test("a step that replays another's dead letter finds its own handoff again", async () => {
  let isSlow = true;
  const { world, owner } = await served(async ({ signal }) => {
    if (isSlow) await new Promise((_, reject) => signal.addEventListener("abort", reject));
    return { output: "in time" };
  });
  const late = call(owner, { step, capability: "work", timeoutMs: 100, onQuestion });
  await Promise.all([
    expect(late).rejects.toMatchObject({ status: 504 }),
    world.clock.advance(100),
  ]);
  isSlow = false;
  const replayOf = handoffIdOf("owner", step);
  const again = { run: step.run, step: "node-2" };
  for (const _ of ["run", "run again"]) {
    const { output } = await call(owner, { step: again, capability: "work", replayOf, onQuestion });
    expect(output).toBe("in time");
  }
  expect(await world.store.handoff(replayOf)).toMatchObject({ state: "dead_lettered" });
  const view = await world.hub.handoff(handoffIdOf("owner", again), "owner");
  expect(parseEnvelope(readCompact(view!.envelope).payload)).toMatchObject({ replay_of: replayOf });
});

test("a framework that does not read progress delays nothing", async () => {
  const { owner } = await served(async ({ progress }) => {
    progress("half of it");
    return { output: "all of it" };
  });
  const { output } = await call(owner, { step, capability: "work", onQuestion });
  expect(output).toBe("all of it");
});

test("progress arrives in order, and before the result", async () => {
  const { owner } = await served(async (run) => {
    for (let index = 0; index < 50; index++) run.progress(`${index}`);
    return { output: "done" };
  });
  const shown: unknown[] = [];
  const onProgress = async ({ message }: { message?: string | undefined }) => {
    await Promise.resolve();
    shown.push(message);
  };
  await call(owner, { step, capability: "work", onProgress, onQuestion });
  expect(shown).toEqual(Array.from({ length: 50 }, (_, index) => `${index}`));
});

test("a call without a progress listener ends with its result", async () => {
  const { owner } = await served(async ({ progress }) => {
    progress("half of it");
    return { output: "done" };
  });
  const { output } = await call(owner, { step, capability: "work", onQuestion });
  expect(output).toBe("done");
});

test("an open question is asked again when its step is repeated", async () => {
  const { owner } = await served(async ({ ask }) => ({ output: await ask("Where to?") }));
  const options = { step, capability: "work" };
  const pause = new Error("interrupt");
  const pausing = () => Promise.reject(pause);
  await expect(call(owner, { ...options, onQuestion: pausing })).rejects.toBe(pause);
  const asked: unknown[] = [];
  const { output } = await call(owner, {
    ...options,
    onQuestion: async ({ text }) => {
      asked.push(text);
      return "Rome";
    },
  });
  expect([asked, output]).toEqual([["Where to?"], "Rome"]);
});

test("a question that nobody can answer cancels the handoff", async () => {
  const { world, owner } = await served(async ({ ask }) => ({ output: await ask("Why?") }));
  const calling = call(owner, { step, capability: "work", onQuestion });
  await expect(calling).rejects.toMatchObject({
    status: 499,
    message: expect.stringMatching(/Why/),
  });
  expect(await world.store.handoff(handoffIdOf("owner", step))).toMatchObject({
    state: "cancelled",
  });
});

test("the framework's signal cancels the handoff and stops the recipient's run", async () => {
  const stopped = Promise.withResolvers<unknown>();
  const started = Promise.withResolvers<void>();
  const { world, owner } = await served(async ({ signal }) => {
    started.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    stopped.resolve(signal.reason);
    return { output: "too late" };
  });
  const controller = new AbortController();
  const { signal } = controller;
  const calling = call(owner, { step, capability: "work", signal, onQuestion });
  await started.promise;
  controller.abort(new Error("enough"));
  await expect(calling).rejects.toThrow("enough");
  expect(await stopped.promise).toMatchObject({ status: 499 });
  expect(await world.kinds(handoffIdOf("owner", step))).not.toContain("result 200");
  await expect(
    call(owner, { step: { ...step, step: "b" }, capability: "work", signal, onQuestion }),
  ).rejects.toThrow("enough");
  expect(await world.store.handoff(handoffIdOf("owner", { ...step, step: "b" }))).toBeUndefined();
});

test("a run that ignores its cancellation is not reported as finished", async () => {
  const { world, owner } = await served(async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return { output: "late" };
  });
  const handle = dispatch(owner, { step, capability: "work", timeoutMs: 4_000 });
  await handle.accepted;
  await world.clock.advance(10_000);
  await expect(handle.result).rejects.toMatchObject({ status: 504 });
});

test("a handoff made inside a run is its child, and the child's failure is a 424", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const { world, worker, owner } = await served(async ({ handoffId }) => {
    const part = await call(currentWorker(), {
      step: { run: handoffId, step: "part" },
      capability: "part",
      onQuestion,
    });
    return { output: part.output };
  });
  const currentWorker = () => worker;
  const other = world.agent("other");
  const seen: unknown[] = [];
  other.serve(
    ...offerOf({
      capability: { name: "part" },
      run: async (run) => {
        seen.push(run.traceparent, run.correlationId, currentWork()?.envelope.parent_id);
        throw new WaybillError(422, "no query");
      },
    }),
  );
  await other.start();
  const handle = owner.handoff({ capability: "work", traceparent });
  await expect(handle.result).rejects.toMatchObject({ status: 424 });
  expect(seen).toEqual([traceparent, handle.envelope.correlation_id, handle.id]);
});

test("another agent's handoff inside a run belongs to the job, but is no child of the handoff", async () => {
  const world = await World.open();
  const other = world.agent("other");
  const worker = world.agent("worker");
  const seen: unknown[] = [];
  worker.serve("part", ({ envelope }) => {
    seen.push(envelope.from, envelope.correlation_id, envelope.parent_id, envelope.deadline);
    return "done";
  });
  worker.serve(
    ...offerOf({
      capability: { name: "work" },
      run: async () => {
        const part = await call(other, { step, capability: "part", onQuestion });
        return { output: part.output };
      },
    }),
  );
  await worker.start();
  const handle = world.agent("owner").handoff({ capability: "work", timeoutMs: 60_000 });
  await handle.result;
  const { correlation_id: job, deadline } = handle.envelope;
  expect(seen).toEqual(["other", job, undefined, deadline]);
});

test("messages without any text are no success", async () => {
  const { world, owner } = await served(async () => ({
    messages: [{ role: "assistant", content: [{ type: "text", text: " " }] }],
  }));
  const calling = call(owner, { step, capability: "work", onQuestion });
  calling.catch(() => undefined);
  await world.clock.advance(5_000);
  await expect(calling).rejects.toMatchObject({ status: 520 });
});

test("a paused run resumes in the next process with its state and the answer", async () => {
  const run = async ({ resume }: Run): Promise<Finished | Paused> =>
    resume === undefined
      ? { questions: [{ id: "q", text: "Where to?" }], state: "half" }
      : { output: [resume.state, resume.answers.get("q")!] };
  const { world, worker, owner } = await served(run);
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const calling = call(owner, {
    step,
    capability: "work",
    onQuestion: () => {
      asked.resolve();
      return answer.promise;
    },
  });
  await asked.promise;
  await worker.stop({ mode: "abandon" });
  const next = world.agent("worker");
  next.serve(...offerOf({ capability: { name: "work" }, run }));
  await next.start();
  answer.resolve("Rome");
  await settled();
  await world.clock.advance(5_000);
  expect((await calling).output).toEqual(["half", "Rome"]);
});
