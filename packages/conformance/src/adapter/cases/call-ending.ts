import { equal, match, rejects } from "node:assert/strict";
import { WaybillError } from "@waybill/protocol";
import { aborted, accepted, endingOf, moment } from "../case.ts";
import type { Cases, Moment } from "../case.ts";
import type { Handler } from "@waybill/agent";

/** A remote agent that works until it is told to stop. */
function working(started: Moment, stopped: Moment): Handler {
  return async ({ signal }) => {
    started.come();
    await aborted(signal);
    stopped.come();
    throw signal.reason;
  };
}

/** The progress of a remote agent that works until it is stopped. */
export const AT_WORK = "at work";

export const calledEndingCases: Cases = {
  "call: a refusal reaches the framework as 422, with its reason": async (scene) => {
    await scene.receive(() => ({ summary: "done" }));
    const { status, message } = await endingOf(
      scene.call({ to: "remote", work: { input: { depth: 1 } } }),
    );
    equal(status, 422);
    match(message, /query/);
  },

  "call: a failure reaches the framework as 500, with its real message": async (scene) => {
    await scene.receive(() => {
      throw new Error("The model is out of words.");
    });
    const { status, message } = await endingOf(scene.call());
    equal(status, 500);
    match(message, /The model is out of words\./);
  },

  "call: the cause of a failure reaches the framework": async (scene) => {
    await scene.receive(() => {
      const cause = new Error("connect ECONNREFUSED");
      throw new WaybillError(500, "The model is out of reach.", { cause });
    });
    match(JSON.stringify((await endingOf(scene.call())).cause), /connect ECONNREFUSED/);
  },

  "call: an output that breaks its schema reaches the framework as 520": async (scene) => {
    await scene.receive(() => ({ summary: 7 }));
    equal((await endingOf(scene.call())).status, 520);
  },

  "call: a deadline that passes reaches the framework as 504": async (scene) => {
    const [started, stopped] = [moment(), moment()];
    await scene.receive(working(started, stopped));
    const called = scene.call({ timeoutMs: 20_000 });
    await scene.wait("the remote agent to start", started.came);
    await accepted(scene);
    await scene.clock.advance(20_000);
    equal((await scene.wait("the end of the call", endingOf(called))).status, 504);
  },

  "call: the framework's signal cancels the handoff, and the remote agent stops": async (scene) => {
    const [started, stopped] = [moment(), moment()];
    await scene.receive(working(started, stopped));
    const controller = new AbortController();
    const called = scene.call({ signal: controller.signal });
    await scene.wait("the remote agent to start", started.came);
    controller.abort(new Error("The run was stopped."));
    await scene.wait("the remote agent to stop", stopped.came);
    await scene.wait("the run to end", rejects(called));
    equal((await scene.said("cancel")).length, 1);
  },

  "call: the framework's signal cancels a handoff that has gone on for a while": async (scene) => {
    const [shown, stopped] = [moment(), moment()];
    await scene.receive(async ({ progress, signal }) => {
      await progress({ message: AT_WORK });
      await aborted(signal);
      stopped.come();
      throw signal.reason;
    });
    const controller = new AbortController();
    const called = scene.call({ signal: controller.signal, show: () => shown.come() });
    await scene.wait("progress", shown.came);
    controller.abort(new Error("The run was stopped."));
    await scene.wait("the remote agent to stop", stopped.came);
    await scene.wait("the run to end", rejects(called));
    equal((await scene.said("cancel")).length, 1);
  },

  "call: a run that was stopped before it began sends nothing": async (scene) => {
    let runs = 0;
    await scene.receive(() => ({ summary: `${++runs}` }));
    const signal = AbortSignal.abort(new Error("The run was stopped."));
    const called = scene.call({ signal });
    await scene.wait("the run to end", rejects(called));
    equal((await scene.said("handoff")).length, 0);
    equal(runs, 0);
  },

  "call: a handoff that is cancelled from elsewhere ends the step with 499": async (scene) => {
    const [started, stopped] = [moment(), moment()];
    await scene.receive(working(started, stopped));
    const called = scene.call();
    await scene.wait("the remote agent to start", started.came);
    const [handoff] = await scene.said("handoff");
    await scene.cancelElsewhere(handoff!);
    equal((await scene.wait("the end of the call", endingOf(called))).status, 499);
  },
};
