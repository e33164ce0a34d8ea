import { equal } from "node:assert/strict";
import type { Hub } from "@waybill/agent";
import { accepted, endingOf, holding, moment } from "../case.ts";
import type { Cases } from "../case.ts";

/** Records how much more work its agent takes. */
function hearingCredit(hub: Hub, hear: (credit: number) => void): Hub {
  return {
    ...hub,
    async attach(...request) {
      const attachment = await hub.attach(...request);
      const setCredit = attachment.setCredit.bind(attachment);
      return Object.assign(attachment, {
        setCredit(credit: number) {
          setCredit(credit);
          hear(credit);
        },
      });
    },
  };
}

export const servedStoppingCases: Cases = {
  "serve: at the deadline the framework's signal fires, and the run stops": async (scene) => {
    const [started, stopped] = [moment(), moment()];
    await scene.serve(holding(started, stopped));
    const handle = scene.handoff({ timeoutMs: 20_000 });
    await scene.wait("the run to start", started.came);
    await accepted(scene);
    await scene.clock.advance(20_000);
    await scene.wait("the run to stop at its deadline", stopped.came);
    equal((await endingOf(handle.result)).status, 504);
  },

  "serve: a handoff that is cancelled stops the framework's run": async (scene) => {
    const [started, stopped] = [moment(), moment()];
    await scene.serve(holding(started, stopped));
    const handle = scene.handoff();
    await scene.wait("the run to start", started.came);
    await handle.cancel("not needed");
    await scene.wait("the run to stop once it is cancelled", stopped.came);
    equal((await endingOf(handle.result)).status, 499);
  },

  "serve: a stopping agent finishes its runs, and takes no more": async (scene) => {
    const started = moment();
    const finish = moment();
    let runs = 0;
    const takesNoMore = moment();
    const agent = await scene.serve(
      async () => {
        runs++;
        started.come();
        await finish.came;
        return { output: { summary: "finished" } };
      },
      { hub: hearingCredit(scene.hub, (credit) => credit === 0 && takesNoMore.come()) },
    );
    const handle = scene.handoff();
    await scene.wait("the run to start", started.came);
    const stopping = agent.stop();
    // An agent in another process is told later.
    await scene.wait("the hub to hear that it takes no more", takesNoMore.came);
    const next = scene.handoff({ timeoutMs: 20_000 });
    await next.custody;
    finish.come();
    await scene.wait("the agent to stop", stopping);
    equal(((await handle.result).output as { summary: string }).summary, "finished");
    await scene.clock.advance(20_000);
    equal((await endingOf(next.result)).status >= 500, true);
    equal(runs, 1, "a run was started while the agent stopped");
  },

  "serve: released work stops here, and is done by another agent": async (scene) => {
    const [started, stopped] = [moment(), moment()];
    const first = await scene.serve(holding(started, stopped), { id: "first" });
    const handle = scene.handoff();
    await scene.wait("the run to start", started.came);
    await scene.serve(async () => ({ output: { summary: "by the second" } }), { id: "second" });
    const releasing = first.stop({ mode: "release" });
    await scene.wait("the run to stop once it is given back", stopped.came);
    await releasing;
    equal((await scene.wait("the other's result", handle.result)).by, "second");
  },
};
