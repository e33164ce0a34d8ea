import { deepEqual, equal, match } from "node:assert/strict";
import { endingOf, playing } from "../case.ts";
import type { Cases } from "../case.ts";
import { IN_WORDS } from "../sample.ts";

/** An error as frameworks throw it. */
function failing(message: string, members: object = {}, cause?: unknown) {
  return async (): Promise<never> => {
    throw Object.assign(new Error(message, { cause }), members);
  };
}

export const servedEndingCases: Cases = {
  "serve: input that breaks its schema is a 422, and nothing runs": async (scene) => {
    let runs = 0;
    await scene.serve(async () => ({ output: { summary: `${++runs}` } }));
    const { status, message } = await endingOf(
      scene.handoff({ to: "worker", input: { depth: 1 } }).result,
    );
    equal(status, 422);
    match(message, /query/);
    equal(runs, 0, "the framework ran on input that breaks its schema");
  },

  "serve: output that breaks its schema is a 520": async (scene) => {
    await scene.serve(playing({ output: { summary: 7 } }));
    equal((await endingOf(scene.handoff().result)).status, 520);
  },

  "serve: an empty success is a 520": async (scene) => {
    await scene.serve(playing({}), { capability: IN_WORDS });
    equal((await endingOf(scene.handoff().result)).status, 520);
  },

  "serve: a framework's error is a 500 with its real message": async (scene) => {
    await scene.serve(failing("The model is out of words."));
    const { status, message } = await endingOf(scene.handoff().result);
    equal(status, 500);
    match(message, /The model is out of words\./);
  },

  "serve: the cause of a framework's error is reported": async (scene) => {
    const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    await scene.serve(failing("The model is out of reach.", {}, cause));
    const ended = await endingOf(scene.handoff().result);
    match(JSON.stringify(ended.cause), /connect ECONNREFUSED/);
  },

  "serve: an HTTP status of a run's own request is not the handoff's": async (scene) => {
    await scene.serve(failing("No such model.", { status: 404 }));
    equal((await endingOf(scene.handoff().result)).status, 500);
  },

  "serve: a run that stops itself ends as 499": async (scene) => {
    await scene.serve(failing("Stopped by its own budget.", { name: "AbortError" }));
    equal((await endingOf(scene.handoff().result)).status, 499);
    deepEqual((await scene.said("cancel")).length, 0);
  },
};
