/// <reference types="node" />
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { artifactOf, mediaPart, textMessage } from "@waybill/agent/adapter";
import type { Media, PortableWork } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Artifact, Message } from "@waybill/protocol";
import { mediaSeenIn, playing, toldOfMedia } from "../case.ts";
import type { Cases } from "../case.ts";
import { IMAGE, IN_WORDS, OTHER_MEDIA, SHOWING } from "../sample.ts";
import type { Scene } from "../scene.ts";

export const servedMediaCases: Cases = {
  "serve: an image in a history reaches the model": async (scene) => {
    const seen = await shown(scene, [asking(IMAGE)]);
    deepEqual(mediaSeenIn(seen), [toldOfMedia(IMAGE)]);
  },

  "serve: an image that another agent has shown reaches the model": async (scene) => {
    const { content } = asking(IMAGE);
    const showing: Message = { role: "assistant", name: "painter", content };
    const seen = await shown(scene, [showing, textMessage("user", "What is in it?", "anna")]);
    deepEqual(mediaSeenIn(seen), [toldOfMedia(IMAGE)]);
    ok(JSON.stringify(seen).includes("painter"), "it is not told who has shown it");
  },

  "serve: an image that goes along with a conversation reaches the model": async (scene) => {
    const { name = "", media_type, data = "" } = IMAGE;
    const image = artifactOf(name, media_type, Buffer.from(data, "base64url"));
    const seen = await shown(scene, [textMessage("user", "What is in it?", "anna")], [image]);
    deepEqual(mediaSeenIn(seen), [toldOfMedia(IMAGE)]);
  },

  "serve: a recording and a file reach the model, or are refused with the reason": async (
    scene,
  ) => {
    for (const media of OTHER_MEDIA) {
      let asked = 0;
      const agent = await scene.serve(
        async ({ work }) => {
          asked++;
          deepEqual(
            mediaSeenIn(work),
            [toldOfMedia(media)],
            `the ${media.type} is not in what is seen`,
          );
          return { output: "Seen." };
        },
        { id: `sees-${media.type}`, capability: IN_WORDS },
      );
      try {
        const to = `sees-${media.type}`;
        await scene.handoff({ to, messages: [asking(media)] }).result;
        equal(asked, 1);
      } catch (error) {
        ok(WaybillError.is(error), String(error));
        ok(error.status === 422 || error.status === 406, `${error.status} ${error.message}`);
        match(error.message, new RegExp(media.media_type), "the refusal does not say what it is");
        equal(asked, 0, "the model was asked, and the work was refused after that");
      }
      await agent.stop({ mode: "abandon" });
    }
  },

  "serve: an image in the messages that a run has added comes back whole": async (scene) => {
    await scene.serve(playing({ messages: SHOWING }), { capability: IN_WORDS });
    const messages = [textMessage("user", "Paint a tree.", "anna")];
    const [got] = mediaSeenIn(await scene.handoff({ messages }).result);
    deepEqual(got, toldOfMedia(IMAGE));
  },
};

function asking(media: Media): Message {
  const text = { type: "text", text: "What is in it?" };
  return { role: "user", name: "anna", content: [text, mediaPart(media)] };
}

async function shown(
  scene: Scene,
  messages: Message[],
  artifacts?: Artifact[],
): Promise<PortableWork> {
  const seen: PortableWork[] = [];
  await scene.serve(
    async ({ work }) => {
      seen.push(structuredClone(work));
      return { output: "A tree." };
    },
    { capability: IN_WORDS },
  );
  await scene.handoff({ messages, artifacts }).result;
  return seen[0]!;
}
