import { deepEqual, equal } from "node:assert/strict";
import type { Hub } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import { endingOf, moment } from "../case.ts";
import type { Cases } from "../case.ts";
import type { Act } from "../fixture.ts";
import type { Scene, Serving } from "../scene.ts";
import { settled } from "../clock.ts";
import { CAPABILITY, TRACEPARENT } from "../sample.ts";

const PART: string = `${CAPABILITY.name}-part`;

/** Delivers every offer twice, as a connection does that was cut before the first copy was acknowledged. */
function repeating(hub: Hub): Hub {
  return {
    ...hub,
    attach: (request, handler, show) =>
      hub.attach(
        request,
        (delivery) => {
          handler(delivery);
          if (delivery.type === "offer") handler(structuredClone(delivery));
        },
        show,
      ),
  };
}

/** An agent that hands off a child, and the plain agent that does it. */
async function withPart(scene: Scene, part: () => unknown): Promise<void> {
  await scene.receive(part as never, {
    id: "other",
    capability: { name: PART, output_schema: {} },
  });
  const worker: Serving = await scene.serve(async (stage) => ({
    output: { summary: (await worker.part(stage, PART, { query: "a part" })) as string },
  }));
}

export const servedManyCases: Cases = {
  "serve: parallel handoffs are not mixed up": async (scene) => {
    const all = moment();
    let running = 0;
    await scene.serve(async ({ work }) => {
      const [number] = /number \d/.exec(JSON.stringify(work))!;
      if (++running === 8) all.come();
      await all.came;
      return { output: { summary: number } };
    });
    const numbers = Array.from({ length: 8 }, (_, index) => `number ${index}`);
    const handles = numbers.map((query) => scene.handoff({ input: { query } }));
    scene.waitsFor = "eight runs at once";
    const results = await Promise.all(handles.map(({ result }) => result));
    deepEqual(
      results.map(({ output }) => (output as { summary: string }).summary),
      numbers,
    );
  },

  "serve: never more runs at once than the capability allows": async (scene) => {
    let [running, most] = [0, 0];
    const two = moment();
    const act: Act = async () => {
      most = Math.max(most, ++running);
      if (running === 2) two.come();
      await two.came;
      // If a third run may start, it does so now.
      await settled();
      running--;
      return { output: { summary: "done" } };
    };
    await scene.serve(act, { capability: { concurrency: 2 } });
    scene.waitsFor = "two runs at once";
    await Promise.all(Array.from({ length: 6 }, () => scene.handoff().result));
    equal(most, 2);
  },

  "serve: a duplicate delivery runs once": async (scene) => {
    let runs = 0;
    const act: Act = async () => ({ output: { summary: `run ${++runs}` } });
    await scene.serve(act, { hub: repeating(scene.hub) });
    const handle = scene.handoff();
    await handle.custody;
    await scene.hub.submit(handle.text);
    await handle.result;
    await scene.hub.submit(handle.text);
    await settled();
    equal(runs, 1);
    equal((await scene.said("result")).length, 1);
  },

  "serve: every attempt runs under the same name, which is the handoff's id": async (scene) => {
    const names: string[] = [];
    await scene.serve(async ({ run }) => {
      names.push(run);
      if (names.length > 1) return { output: { summary: "at the second try" } };
      throw new WaybillError(500, "Not this time.", { retryable: true });
    });
    const handle = scene.handoff();
    await scene.wait("the second attempt", handle.result);
    deepEqual(names, [handle.id, handle.id]);
  },

  "serve: the framework sees the trace of the handoff": async (scene) => {
    const seen: unknown[] = [];
    await scene.serve(async ({ traceparent }) => {
      seen.push(traceparent?.split("-")[1]);
      return { output: { summary: "seen" } };
    });
    await scene.handoff({ traceparent: TRACEPARENT }).result;
    deepEqual(seen, [TRACEPARENT.split("-")[1]]);
  },

  "serve: a handoff made inside a run is its child": async (scene) => {
    await withPart(scene, () => "done");
    const handle = scene.handoff({ traceparent: TRACEPARENT });
    await scene.wait("the result", handle.result);
    const [, part] = await scene.said("handoff");
    const { parent_id, correlation_id, traceparent } = part!;
    deepEqual(
      [parent_id, correlation_id, traceparent?.split("-")[1]],
      [handle.id, handle.envelope.correlation_id, TRACEPARENT.split("-")[1]],
    );
  },

  "serve: a failed child makes a 424": async (scene) => {
    await withPart(scene, () => {
      throw new WaybillError(413, "The part is too large.");
    });
    const { status, message } = await endingOf(scene.handoff().result);
    equal(status, 424);
    equal(message.includes("The part is too large."), true);
  },
};
