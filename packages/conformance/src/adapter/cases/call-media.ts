import { deepEqual, ok } from "node:assert/strict";
import type { Work } from "@waybill/agent";
import { mediaIn, mediaPart, portableOf } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Message } from "@waybill/protocol";
import { carries, mediaSeenIn, toldOfMedia } from "../case.ts";
import type { Cases } from "../case.ts";
import { IMAGE, IN_WORDS, SHOWING } from "../sample.ts";
import type { Scene } from "../scene.ts";

export const calledMediaCases: Cases = {
  "call: an image in a conversation goes out whole": async (scene) => {
    const seen = await sent(scene, { takes: "conversation" });
    deepEqual((seen.messages ?? []).flatMap(mediaIn).map(toldOfMedia), [toldOfMedia(IMAGE)]);
  },

  "call: an image in a conversation goes along with a task": async (scene) => {
    const seen = await sent(scene, { takes: "delegation" });
    const [got] = mediaSeenIn(seen);
    deepEqual(got, toldOfMedia(IMAGE));
  },

  "call: an image in the messages of a result comes back whole": async (scene) => {
    const [got] = mediaSeenIn(await shown(scene));
    deepEqual(got, toldOfMedia(IMAGE));
  },

  "call: the next model is shown an image in a result, or is told of it by name": async (scene) => {
    const { heard } = await shown(scene);
    ok(heard, "the fixture does not say what the framework's next model is told of the result");
    const messages = [...heard.messages];
    const isShown = messages.flatMap(mediaIn).some(({ data }) => data === IMAGE.data);
    if (!isShown) carries({ messages }, IMAGE.name!);
  },
};

/** What a remote agent gets of a conversation with an image in it. */
async function sent(scene: Scene, { takes }: { takes: "conversation" | "delegation" }) {
  const capability = { ...IN_WORDS, takes };
  const seen: PortableWork[] = [];
  const keep = (work: Work) => {
    seen.push(portableOf(work.body));
    return "A tree.";
  };
  await scene.receive(keep, { capability });
  const content = [{ type: "text", text: "What is in it?" }, mediaPart(IMAGE)];
  const messages: Message[] = [{ role: "user", name: "anna", content }];
  const brief = { instruction: "Say what is in it.", expected_output: "A word." };
  const work = takes === "delegation" ? { messages, brief } : { messages };
  await scene.call({ work, capability });
  return seen[0]!;
}

/** The result of a call whose messages show an image. */
async function shown(scene: Scene) {
  await scene.receive(({ result }) => result({ messages: [...SHOWING] }), { capability: IN_WORDS });
  const content = [{ type: "text", text: "Paint a tree." }];
  return scene.call({
    work: { messages: [{ role: "user", name: "anna", content }] },
    capability: IN_WORDS,
  });
}
