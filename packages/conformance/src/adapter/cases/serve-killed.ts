import { deepEqual, equal, ok } from "node:assert/strict";
import type { Cases } from "../case.ts";

export const killedCases: Cases = {
  "serve: after a recipient is killed during its run there is another attempt": async (scene) => {
    const first = await scene.start("hang");
    const handle = scene.handoff();
    await scene.wait("the run to start in a process", first.told("started"));
    await scene.wait("its acceptance", handle.accepted);
    await first.kill();
    await scene.start("finish");
    const { output, attempt } = await scene.wait("the next process's result", handle.result);
    deepEqual(output, { summary: "finished" });
    // An offer may also expire while a process starts slowly, which is one more attempt.
    ok(attempt > 1);
    deepEqual(
      (await scene.said("result")).map(({ body }) => body.status),
      [501, 200],
    );
  },

  "serve: a recipient that is killed while it waits resumes with the answer": async (scene) => {
    const first = await scene.start("ask");
    const handle = scene.handoff();
    scene.waitsFor = "the question";
    for await (const { id } of handle.questions) {
      await first.kill();
      await handle.answer(id, "Bergen");
      break;
    }
    await scene.start("ask");
    const { output } = await scene.wait("the next process's result", handle.result);
    deepEqual(output, { summary: "To Bergen" });
    equal((await scene.said("question")).length, 1);
  },
};
