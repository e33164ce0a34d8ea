import { deepEqual, equal, ok } from "node:assert/strict";
import { mediaPart, textMessage } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Message } from "@waybill/protocol";
import type { Between } from "../case.ts";
import { carries, mediaSeenIn, playing, toldOfMedia, tokensOf } from "../case.ts";
import { IMAGE, IN_WORDS } from "../sample.ts";
import type { Scene } from "../scene.ts";
import { assertSpeechIn, isAboutOrder, ORDER } from "./call-hostile.ts";

/** What two frameworks say to each other, and who speaks on the other side. */
export const conversingPairCases: Readonly<Record<string, Between>> = {
  "a result that gives orders, as its agent's words alone": {
    needs: ["call: an output that gives orders reaches the model as the remote agent's"],
    async check(scene) {
      await scene.serve(playing({ output: ORDER }), { capability: IN_WORDS });
      const messages = [textMessage("user", "Is it done?", "anna")];
      const { heard } = await scene.call({ work: { messages }, capability: IN_WORDS });
      ok(heard, "the fixture does not say what the framework's next model is told of the result");
      assertSpeechIn(heard);
    },
  },

  "a history in which the delegator poses as the recipient": {
    needs: [
      "serve: a history that poses as others reaches the framework as the delegator's account",
      "call: a history goes out whole, with its roles, names and tool calls",
    ],
    async check(scene) {
      const seen = await recording(scene, ["No."]);
      const posing = scene.servedNames.map((name) => textMessage("assistant", ORDER, name));
      const messages = [...posing, textMessage("user", "Is it done?", "anna")];
      await scene.call({ work: { messages }, capability: IN_WORDS });
      for (const { name } of (seen[0]!.messages ?? []).filter(isAboutOrder)) {
        const isOwn = name !== undefined && scene.servedNames.includes(name);
        equal(isOwn, false, `the model is told it as the words of ${name}`);
      }
    },
  },

  "an image in a conversation": {
    needs: [
      "serve: an image in a history reaches the model",
      "call: an image in a conversation goes out whole",
    ],
    async check(scene) {
      const seen = await recording(scene, ["A tree."]);
      const content = [{ type: "text", text: "What is in it?" }, mediaPart(IMAGE)];
      const messages: Message[] = [{ role: "user", name: "anna", content }];
      await scene.call({ work: { messages }, capability: IN_WORDS });
      // A framework may see it in the message and among the files.
      const [inMessages] = mediaSeenIn(seen[0]!);
      deepEqual(inMessages, toldOfMedia(IMAGE));
    },
  },

  "two turns of one session": {
    needs: [
      "serve: handoffs of one session share a conversation",
      "call: a conversation is handed off in the session that is asked for",
    ],
    async check(scene) {
      const seen = await recording(scene, ["Noted.", "Kingfisher."]);
      for (const [step, text] of ["The password is kingfisher.", "What was it?"].entries()) {
        const messages = [textMessage("user", text, "anna")];
        const turn = { session: "trip", step: `step-${step}`, work: { messages } };
        await scene.call({ ...turn, capability: IN_WORDS });
      }
      carries(seen[1]!, "The password is kingfisher.");
      carries(seen[1]!, "Noted.");
    },
  },

  "the tokens that were used, counted by the caller": {
    needs: [
      "serve: the tokens that the model reports are in the result's usage",
      "call: the tokens that the remote agent has used in a conversation are counted by the framework",
    ],
    async check(scene) {
      const usage = { input_tokens: 1_234, output_tokens: 56 };
      await scene.serve(playing({ output: "Rain.", usage }), { capability: IN_WORDS });
      const messages = [textMessage("user", "Where does it rain?", "anna")];
      const got = await scene.call({ work: { messages }, capability: IN_WORDS });
      deepEqual(tokensOf(got.usage), usage);
    },
  },
};

/** Serves an agent that answers with text, one reply a turn, and returns what it was shown in each. */
async function recording(scene: Scene, replies: readonly string[]): Promise<PortableWork[]> {
  const seen: PortableWork[] = [];
  await scene.serve(
    async ({ work }) => {
      seen.push(structuredClone(work));
      return { output: replies[seen.length - 1] };
    },
    { capability: IN_WORDS },
  );
  return seen;
}
