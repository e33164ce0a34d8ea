import { deepEqual, equal, ok } from "node:assert/strict";
import { textMessage } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import { moment, nextQuestion } from "../case.ts";
import type { Cases } from "../case.ts";
import type { Act } from "../fixture.ts";
import { IN_WORDS } from "../sample.ts";
import type { Scene } from "../scene.ts";

/** Words that no framework says by itself, so that they are recognized wherever they occur. */
const FIRST = "The password is kingfisher.";
const SECOND = "What was the password?";
const LAST = "And who has told you?";
const REPLY = "I have noted the password.";

/** Serves an agent that answers with text, and returns what it was shown in each turn, as one text. */
async function listening(scene: Scene): Promise<string[]> {
  const shown: string[] = [];
  const act: Act = async ({ work }) => {
    shown.push(JSON.stringify(work));
    return { output: shown.length === 1 ? REPLY : `Reply ${shown.length}.` };
  };
  await scene.serve(act, { capability: IN_WORDS });
  return shown;
}

function say(scene: Scene, text: string, session?: string, owner?: ReturnType<Scene["agent"]>) {
  return scene.handoff({ messages: [textMessage("user", text)], session }, owner).result;
}

const count = (text: string, part: string) => text.split(part).length - 1;

export const servedSessionCases: Cases = {
  "serve: handoffs of one session share a conversation": async (scene) => {
    const shown = await listening(scene);
    const first = await say(scene, FIRST, "trip");
    const second = await say(scene, SECOND, "trip");
    equal(shown.length, 2);
    ok(!shown[0]!.includes(SECOND));
    for (const part of [FIRST, REPLY, SECOND]) equal(count(shown[1]!, part), 1, part);
    deepEqual([first.session, second.session], ["begun", "continued"]);
    // Words of an earlier turn do not belong to the result.
    ok(!JSON.stringify([second.output, second.messages]).includes(REPLY));
  },

  "serve: two sessions share nothing": async (scene) => {
    const shown = await listening(scene);
    await say(scene, FIRST, "trip");
    const { session } = await say(scene, SECOND, "tripe");
    ok(!shown[1]!.includes(FIRST));
    equal(session, "begun");
  },

  "serve: the same session id of another delegator is another session": async (scene) => {
    const shown = await listening(scene);
    await say(scene, FIRST, "trip");
    const { session } = await say(scene, SECOND, "trip", scene.agent("stranger"));
    ok(!shown[1]!.includes(FIRST));
    equal(session, "begun");
  },

  "serve: without a session nothing is shared": async (scene) => {
    const shown = await listening(scene);
    await say(scene, FIRST);
    const { session } = await say(scene, SECOND);
    ok(!shown[1]!.includes(FIRST));
    equal(session, undefined);
  },

  "serve: handoffs of one session run one after the other": async (scene) => {
    const [entered, left] = [moment(), moment()];
    const shown: string[] = [];
    await scene.serve(
      async ({ work }) => {
        shown.push(JSON.stringify(work));
        if (shown.length > 1) return { output: "Reply 2." };
        entered.come();
        await left.came;
        return { output: REPLY };
      },
      { capability: IN_WORDS },
    );
    const first = say(scene, FIRST, "trip");
    await scene.wait("the first turn", entered.came);
    const handle = scene.handoff({ messages: [textMessage("user", SECOND)], session: "trip" });
    await scene.wait("the custody of the second turn", handle.custody);
    await scene.clock.advance(1_000);
    equal(shown.length, 1);
    left.come();
    await scene.wait("both turns", Promise.all([first, handle.result]));
    ok(shown[1]!.includes(REPLY));
  },

  "serve: a retried turn is in its conversation once": async (scene) => {
    const shown: string[] = [];
    await scene.serve(
      async ({ work }) => {
        shown.push(JSON.stringify(work));
        if (shown.length === 2) throw new WaybillError(500, "Not now.", { retryable: true });
        return { output: shown.length === 1 ? REPLY : `Reply ${shown.length}.` };
      },
      { capability: { ...IN_WORDS, max_attempts: 3 } },
    );
    await say(scene, FIRST, "trip");
    await scene.wait("the second turn", say(scene, SECOND, "trip"));
    await scene.wait("the third turn", say(scene, LAST, "trip"));
    equal(shown.length, 4);
    for (const part of [FIRST, REPLY, SECOND, "Reply 3."]) equal(count(shown[3]!, part), 1, part);
  },

  "serve: a turn that asks continues with the answer": async (scene) => {
    const shown: string[] = [];
    const act: Act = async ({ work, ask }) => {
      shown.push(JSON.stringify(work));
      if (shown.at(-1)!.includes(LAST)) return { output: "You have." };
      if (!shown.at(-1)!.includes(SECOND)) return { output: REPLY };
      // The answer itself may also be in the conversation, as a tool's result.
      return { output: `You are in ${(await ask("town", "Which town?")) as string}.` };
    };
    await scene.serve(act, { capability: IN_WORDS });
    await say(scene, FIRST, "tour");
    const handle = scene.handoff({ messages: [textMessage("user", SECOND)], session: "tour" });
    const { id } = await scene.wait("the question", nextQuestion(handle));
    await handle.answer(id, "Bergen");
    const { output, session } = await scene.wait("the second turn", handle.result);
    deepEqual([output, session], ["You are in Bergen.", "continued"]);
    equal((await scene.said("question")).length, 1, "the question was asked again");
    await scene.wait("the third turn", say(scene, LAST, "tour"));
    const said = [FIRST, REPLY, SECOND, "You are in Bergen."];
    for (const part of said) equal(count(shown.at(-1)!, part), 1, part);
  },
};
