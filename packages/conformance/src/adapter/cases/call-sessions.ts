import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { textMessage } from "@waybill/agent/adapter";
import type { Cases } from "../case.ts";
import { IN_WORDS } from "../sample.ts";
import type { Scene } from "../scene.ts";

export const calledSessionCases: Cases = {
  "call: a value is handed off in the session that is asked for": async (scene) => {
    await scene.receive(() => ({ summary: "Rain." }));
    await scene.call({ session: "trip", step: "step-1" });
    await scene.call({ step: "step-2" });
    deepEqual(await sessions(scene), ["trip", undefined]);
  },

  "call: a conversation is handed off in the session that is asked for": async (scene) => {
    await scene.receive(() => "Rain.", { capability: IN_WORDS });
    const messages = [textMessage("user", "Where does it rain?", "anna")];
    await scene.call({ session: "trip", work: { messages }, capability: IN_WORDS });
    deepEqual(await sessions(scene), ["trip"]);
  },

  "call: the steps of a run share its session, where that is asked for": async (scene) => {
    await scene.receive(() => ({ summary: "Rain." }));
    await scene.call({ session: true, run: "run-1", step: "step-1" });
    await scene.call({ session: true, run: "run-1", step: "step-2" });
    await scene.call({ session: true, run: "run-2", step: "step-1" });
    const [first, second, other] = await sessions(scene);
    ok(first, "the handoff names no session");
    equal(first, second);
    notEqual(first, other);
  },
};

async function sessions(scene: Scene): Promise<(string | undefined)[]> {
  return (await scene.said("handoff")).map(({ session }) => session?.id);
}
