import { deepEqual, equal } from "node:assert/strict";
import type { Handler, Work } from "@waybill/agent";
import type { Json } from "@waybill/protocol";
import { carries, moment } from "../case.ts";
import type { Cases } from "../case.ts";

const SHOWN: readonly string[] = Array.from({ length: 20 }, (_, index) => `part ${index} is done`);

/** Asks twice, and keeps nothing in memory in between. */
const pausing: Handler = (work: Work) => {
  const answers: ReadonlyMap<string, Json> = work.resume?.answers ?? new Map();
  const [town, day] = [answers.get("town"), answers.get("day")];
  if (town === undefined) return work.pause({ id: "town", text: "Which town?" }, "nothing");
  if (day === undefined) return work.pause({ id: "day", text: "Which day?" }, "a town");
  return { summary: `${town as string}, ${day as string}` };
};

const ANSWERS: Readonly<Record<string, string>> = {
  "Which town?": "Bergen",
  "Which day?": "Monday",
};

export const calledTalkingCases: Cases = {
  "call: progress comes out of the framework's stream in order, before the result": async (
    scene,
  ) => {
    await scene.receive(async ({ progress }) => {
      for (const message of SHOWN) await progress({ message });
      return { summary: "done" };
    });
    const shown: string[] = [];
    await scene.call({ show: (message) => shown.push(message) });
    deepEqual(shown, SHOWN);
  },

  "call: progress comes out while the remote agent works": async (scene) => {
    const finish = moment();
    await scene.receive(async ({ progress }) => {
      await progress({ message: "half of it" });
      await finish.came;
      return { summary: "done" };
    });
    const shown = moment<string>();
    const called = scene.call({ show: shown.come });
    equal(await scene.wait("progress", shown.came), "half of it");
    finish.come();
    await scene.wait("the end of the call", called);
  },

  "call: the remote agent's deltas are shown while it writes": async (scene) => {
    const finish = moment();
    await scene.receive(async ({ delta }) => {
      delta("half of it");
      await finish.came;
      return { summary: "half of it, and the rest" };
    });
    let shown = "";
    const called = scene.call({
      show(message) {
        shown += message;
        if (shown.includes("half of it")) finish.come();
      },
    });
    await scene.wait("what is written", finish.came);
    const got = await scene.wait("the end of the call", called);
    carries({ input: got.output, messages: got.messages && [...got.messages] }, "and the rest");
  },

  "call: a question is the framework's own, and its answer goes back": async (scene) => {
    await scene.receive(async ({ ask }) => ({
      summary: `To ${await ask<string>({ id: "town", text: "Which town?" })}`,
    }));
    const asked: string[] = [];
    const got = await scene.call({
      ask: async (id, text) => {
        asked.push(id, text);
        return "Bergen";
      },
    });
    deepEqual(asked, ["town", "Which town?"]);
    carries({ input: got.output, messages: got.messages && [...got.messages] }, "To Bergen");
  },

  "call: a run that is asked twice and restarted before each answer answers each once": async (
    scene,
  ) => {
    await scene.receive(pausing);
    // Each run gets to a question that it has no answer to, and its process ends there.
    for (let known = 0; known < 2; known++) {
      const unanswered = moment();
      const asked: string[] = [];
      void scene
        .call({
          ask: async (_, text) => {
            asked.push(text);
            if (asked.length <= 1 && known > 0 && text === "Which town?") return ANSWERS[text]!;
            unanswered.come();
            return new Promise<never>(() => undefined);
          },
        })
        .catch(() => undefined);
      await scene.wait("a question", unanswered.came);
      await scene.restartCaller();
    }
    const got = await scene.wait(
      "the end of the call",
      scene.call({ ask: async (_, text) => ANSWERS[text]! }),
    );
    carries({ input: got.output, messages: got.messages && [...got.messages] }, "Bergen, Monday");
    equal((await scene.said("handoff")).length, 1);
    deepEqual(
      (await scene.said("answer")).map(({ body }) => body),
      [
        { question_id: "town", answer: "Bergen" },
        { question_id: "day", answer: "Monday" },
      ],
    );
  },
};
