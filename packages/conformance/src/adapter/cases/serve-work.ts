import { deepEqual, equal } from "node:assert/strict";
import { textMessage, wordsOfResult } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import { digestOfBytes } from "@waybill/protocol";
import type { Message } from "@waybill/protocol";
import { carries, playing, tokensOf } from "../case.ts";
import type { Cases } from "../case.ts";
import type { Act } from "../fixture.ts";
import { tellsHistory } from "../history.ts";
import {
  ARTIFACTS,
  HISTORY,
  inShort,
  IN_WORDS,
  LARGE,
  LARGE_BLOB,
  LARGE_FILE,
  REPLIES,
  UNICODE,
} from "../sample.ts";

/** Records what reached the inside of the framework. */
function keeping(seen: PortableWork[], output: string | object): Act {
  return async ({ work }) => {
    seen.push(structuredClone(work));
    return { output: output as never };
  };
}

export const servedWorkCases: Cases = {
  "serve: structured input reaches the framework, and its output comes back": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.serve(keeping(seen, { summary: "It rains in Bergen." }));
    const { output } = await scene.handoff({ input: { query: "rain in Bergen", depth: 41 } })
      .result;
    deepEqual(output, { summary: "It rains in Bergen." });
    equal(seen.length, 1);
    carries(seen[0]!, "rain in Bergen");
    equal(JSON.stringify(seen).includes("41"), true, "the number in the input did not arrive");
  },

  "serve: a conversation reaches the framework, and its reply comes back": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.serve(keeping(seen, "It rains in Bergen."), { capability: IN_WORDS });
    const messages = [textMessage("user", "Where does it rain?", "anna")];
    const result = await scene.handoff({ messages }).result;
    equal(wordsOfResult(result), "It rains in Bergen.");
    equal(seen.length, 1);
    carries(seen[0]!, "Where does it rain?");
  },

  "serve: a task in words reaches the framework, and its result comes back": async (scene) => {
    const seen: PortableWork[] = [];
    const capability = { ...IN_WORDS, takes: "delegation" } as const;
    await scene.serve(keeping(seen, "In Bergen, as ever."), { capability });
    const brief = { instruction: "Find where it rains.", expected_output: "The name of a town." };
    const result = await scene.handoff({ brief }).result;
    equal(wordsOfResult(result), "In Bergen, as ever.");
    equal(seen.length, 1);
    carries(seen[0]!, brief.instruction);
    carries(seen[0]!, brief.expected_output);
  },

  "serve: a history is seen with its roles, names and tool calls": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.serve(keeping(seen, "Rain."), { capability: IN_WORDS });
    await scene.handoff({ messages: [...HISTORY] }).result;
    tellsHistory(seen[0]!, HISTORY, scene.serving);
  },

  "serve: code in the framework gets the complete history": async (scene) => {
    const had: (readonly Message[] | undefined)[] = [];
    const act: Act = async ({ history, work }) => {
      had.push(structuredClone(history ?? work.messages));
      return { output: "Rain." };
    };
    await scene.serve(act, { capability: IN_WORDS });
    await scene.handoff({ messages: [...HISTORY] }).result;
    deepEqual(had[0], HISTORY);
  },

  "serve: artifacts arrive byte for byte": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.serve(keeping(seen, { summary: "read" }));
    const input = { query: "what is in the files" };
    await scene.handoff({ input, artifacts: [...ARTIFACTS] }).result;
    deepEqual(seen[0]?.artifacts, ARTIFACTS);
  },

  "serve: a file that is too large for an envelope arrives byte for byte": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.serve(keeping(seen, { summary: "read" }));
    const input = { query: "what is in the file" };
    await scene.handoff({ input, artifacts: [LARGE_FILE] }).result;
    const [handoff] = await scene.said("handoff");
    deepEqual(handoff?.body.artifacts, [LARGE_BLOB], "the file does not lie at the hub");
    deepEqual(seen[0]?.artifacts?.map(inShort), [inShort(LARGE_FILE)]);
  },

  "serve: the messages that a run has added come back whole, and no others": async (scene) => {
    await scene.serve(playing({ messages: REPLIES }), { capability: IN_WORDS });
    const { messages } = await scene.handoff({ messages: [...HISTORY] }).result;
    deepEqual(messages, REPLIES);
  },

  "serve: the artifacts that a run has made come back byte for byte": async (scene) => {
    await scene.serve(playing({ output: { summary: "made" }, artifacts: ARTIFACTS }));
    const { artifacts } = await scene.handoff().result;
    deepEqual(artifacts, ARTIFACTS);
  },

  "serve: a file that a run has made and that is too large for an envelope comes back byte for byte":
    async (scene) => {
      await scene.serve(playing({ output: { summary: "made" }, artifacts: [LARGE_FILE] }));
      const { artifacts } = await scene.handoff().result;
      deepEqual(artifacts, [LARGE_BLOB], "the file does not lie at the hub");
      equal(digestOfBytes(await artifacts[0]!.bytes()), LARGE_FILE.digest);
    },

  "serve: the tokens that the model reports are in the result's usage": async (scene) => {
    const usage = { input_tokens: 1_234, output_tokens: 56 };
    await scene.serve(playing({ output: "Rain.", usage }), { capability: IN_WORDS });
    const messages = [textMessage("user", "Where does it rain?", "anna")];
    const result = await scene.handoff({ messages }).result;
    deepEqual(tokensOf(result.usage?.total), usage);
  },

  "serve: a large payload passes both ways": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.serve(keeping(seen, { summary: LARGE }));
    const { output } = await scene.handoff({ input: { query: LARGE } }).result;
    carries(seen[0]!, LARGE);
    deepEqual(output, { summary: LARGE });
  },

  "serve: any Unicode passes both ways": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.serve(keeping(seen, { summary: UNICODE }));
    const { output } = await scene.handoff({ input: { query: UNICODE } }).result;
    carries(seen[0]!, UNICODE);
    deepEqual(output, { summary: UNICODE });
  },
};
