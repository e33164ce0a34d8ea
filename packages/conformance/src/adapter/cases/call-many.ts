import { deepEqual, equal, notEqual } from "node:assert/strict";
import type { Hub } from "@waybill/agent";
import { textMessage } from "@waybill/agent/adapter";
import { aborted, accepted, carries, moment } from "../case.ts";
import type { Cases } from "../case.ts";
import type { Played } from "../fixture.ts";
import { CAPABILITY, IN_WORDS, TRACEPARENT } from "../sample.ts";

function came({ output, messages }: Played, text: string): void {
  carries({ input: output, messages: messages && [...messages] }, text);
}

/** Delivers everything twice, as a connection does that was cut before the first copy was acknowledged. */
function repeating(hub: Hub): Hub {
  return {
    ...hub,
    attach: (request, handler, show) =>
      hub.attach(
        request,
        (delivery) => {
          handler(delivery);
          handler(structuredClone(delivery));
        },
        show,
      ),
  };
}

export const calledManyCases: Cases = {
  "call: parallel calls are not mixed up": async (scene) => {
    const all = moment();
    let running = 0;
    await scene.receive(async ({ input }) => {
      if (++running === 8) all.come();
      await all.came;
      return { summary: `about ${(input as { query: string }).query}` };
    });
    const numbers = Array.from({ length: 8 }, (_, index) => `number ${index}`);
    scene.waitsFor = "eight calls at once";
    const got = await Promise.all(
      numbers.map((query) => scene.call({ run: `run ${query}`, work: { input: { query } } })),
    );
    got.forEach((each, index) => came(each, `about ${numbers[index]}`));
  },

  "call: a repeated step finds its own handoff": async (scene) => {
    let runs = 0;
    await scene.receive(() => ({ summary: `run ${++runs}` }));
    came(await scene.call(), "run 1");
    came(await scene.wait("the second run", scene.call()), "run 1");
    equal((await scene.said("result")).length, 1);
  },

  "call: a repeated step of a conversation finds its own handoff": async (scene) => {
    let runs = 0;
    await scene.receive(() => `run ${++runs}`, { capability: IN_WORDS });
    const again = () =>
      scene.call({
        work: { messages: [textMessage("user", "Where does it rain?", "anna")] },
        capability: IN_WORDS,
      });
    await again();
    await scene.wait("the second run", again());
    equal(runs, 1);
    equal((await scene.said("result")).length, 1);
  },

  "call: a step that is repeated after a restart finds its own handoff": async (scene) => {
    const [started, finish] = [moment(), moment()];
    let runs = 0;
    await scene.receive(async () => {
      runs++;
      started.come();
      await finish.came;
      return { summary: "done once" };
    });
    void scene.call().catch(() => undefined);
    await scene.wait("the remote agent to start", started.came);
    await scene.restartCaller();
    const again = scene.call();
    finish.come();
    came(await scene.wait("the second run", again), "done once");
    equal(runs, 1);
    equal((await scene.said("handoff")).length, 1);
  },

  "call: two steps of a run are two handoffs": async (scene) => {
    let runs = 0;
    await scene.receive(() => ({ summary: `run ${++runs}` }));
    came(await scene.call({ step: "step-1" }), "run 1");
    came(await scene.call({ step: "step-2" }), "run 2");
  },

  "call: one step of two runs is two handoffs": async (scene) => {
    let runs = 0;
    await scene.receive(() => ({ summary: `run ${++runs}` }));
    came(await scene.call({ run: "run-1" }), "run 1");
    came(await scene.call({ run: "run-2" }), "run 2");
  },

  "call: a duplicate delivery is taken once": async (scene) => {
    const answers: unknown[] = [];
    await scene.receive(async ({ progress, ask }) => {
      await progress({ message: "half of it" });
      answers.push(await ask({ id: "town", text: "Which town?" }));
      return { summary: "done" };
    });
    const shown: string[] = [];
    let asked = 0;
    scene.lineCaller(repeating);
    const got = await scene.call({
      show: (message) => shown.push(message),
      ask: async () => `Bergen ${++asked}`,
    });
    came(got, "done");
    deepEqual([shown, answers, asked], [["half of it"], ["Bergen 1"], 1]);
  },

  "call: if the remote agent goes silent, the framework gets one result of another agent": async (
    scene,
  ) => {
    const started = moment();
    const first = await scene.receive(
      async ({ signal }) => {
        started.come();
        await aborted(signal);
        return { summary: "too late" };
      },
      { id: "first" },
    );
    const called = scene.call({ timeoutMs: 300_000 });
    await scene.wait("the first to start", started.came);
    await accepted(scene);
    await first.stop({ mode: "abandon" });
    await scene.receive(() => ({ summary: "by the second" }), { id: "second" });
    await scene.clock.advance(60_000);
    came(await scene.wait("the end of the call", called), "by the second");
  },

  "call: the result is acknowledged once the framework has it": async (scene) => {
    await scene.receive(() => ({ summary: "done" }));
    await scene.call();
    const [handoff] = await scene.said("handoff");
    await scene.until("the acknowledgement", async () => {
      const view = await scene.hub.handoff(handoff!.handoff_id, "caller");
      return view?.isAcknowledged;
    });
  },

  "call: inside a served run, a call is a child of its handoff": async (scene) => {
    await scene.receive(() => ({ summary: "a part" }));
    const whole = `${CAPABILITY.name}-whole`;
    await scene.serveWhole(whole);
    const handle = scene.owner.handoff({
      capability: whole,
      timeoutMs: 40_000,
      traceparent: TRACEPARENT,
    });
    await scene.wait("the whole", handle.result);
    const [, part] = await scene.said("handoff");
    notEqual(part, undefined);
    deepEqual(
      [
        part!.parent_id,
        part!.traceparent?.split("-")[1],
        part!.deadline <= handle.envelope.deadline,
      ],
      [handle.id, TRACEPARENT.split("-")[1], true],
    );
  },
};
