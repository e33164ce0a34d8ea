import { deepEqual, equal } from "node:assert/strict";
import type { Work } from "@waybill/agent";
import { portableOf, textMessage, textOf } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import { digestOfBytes } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { carries, tokensOf } from "../case.ts";
import type { Cases } from "../case.ts";
import type { Played } from "../fixture.ts";
import {
  ARTIFACTS,
  HISTORY,
  inShort,
  IN_WORDS,
  LARGE,
  LARGE_BLOB,
  LARGE_FILE,
  REPLIES,
  TRACEPARENT,
  UNICODE,
} from "../sample.ts";

/** A remote agent that records its work. */
function keeping(seen: PortableWork[], output: Json) {
  return (work: Work): Json => {
    seen.push(portableOf(work.body));
    return output;
  };
}

/** What the framework got back, as text. */
function came({ output, messages }: Played): PortableWork {
  return portableOf({ input: output, messages: messages && [...messages] });
}

export const calledWorkCases: Cases = {
  "call: structured input goes out, and the output comes back into the framework": async (
    scene,
  ) => {
    const seen: PortableWork[] = [];
    await scene.receive(keeping(seen, { summary: "It rains in Bergen." }));
    const got = await scene.call({ work: { input: { query: "rain in Bergen", depth: 41 } } });
    deepEqual(seen[0]?.input, { query: "rain in Bergen", depth: 41 });
    carries(came(got), "It rains in Bergen.");
  },

  "call: a conversation goes out, and the reply comes back into the framework": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.receive(keeping(seen, "It rains in Bergen."), { capability: IN_WORDS });
    const messages = [textMessage("user", "Where does it rain?", "anna")];
    const got = await scene.call({ work: { messages }, capability: IN_WORDS });
    carries(seen[0]!, "Where does it rain?");
    carries(came(got), "It rains in Bergen.");
  },

  "call: a task in words goes out, and its result comes back into the framework": async (scene) => {
    const seen: PortableWork[] = [];
    const capability = { ...IN_WORDS, takes: "delegation" } as const;
    await scene.receive(keeping(seen, "In Bergen, as ever."), { capability });
    const brief = { instruction: "Find where it rains.", expected_output: "The name of a town." };
    const got = await scene.call({ work: { brief }, capability });
    carries(seen[0]!, brief.instruction);
    carries(came(got), "In Bergen, as ever.");
  },

  "call: a history goes out whole, with its roles, names and tool calls": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.receive(keeping(seen, "Rain."), { capability: IN_WORDS });
    await scene.call({ work: { messages: [...HISTORY] }, capability: IN_WORDS });
    deepEqual(seen[0]?.messages, HISTORY);
  },

  "call: what was said before goes out with the work": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.receive(keeping(seen, "At six."), { capability: IN_WORDS });
    const messages = [
      textMessage("user", "Which way to Bergen?", "anna"),
      textMessage("assistant", "The ferry from Stavanger.", "almanac"),
      textMessage("user", "When does it leave?", "anna"),
    ];
    await scene.call({ work: { messages }, capability: IN_WORDS });
    for (const message of messages) carries(seen[0]!, textOf(message));
  },

  "call: artifacts go out byte for byte": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.receive(keeping(seen, { summary: "read" }));
    await scene.call({ work: { input: { query: "files" }, artifacts: [...ARTIFACTS] } });
    deepEqual(seen[0]?.artifacts, ARTIFACTS);
  },

  "call: a file that is too large for an envelope goes out byte for byte": async (scene) => {
    const got: unknown[] = [];
    await scene.receive(async ({ artifacts }) => {
      for (const each of artifacts) got.push({ ...each }, digestOfBytes(await each.bytes()));
      return { summary: "read" };
    });
    await scene.call({ work: { input: { query: "files" }, artifacts: [LARGE_FILE] } });
    deepEqual(got, [LARGE_BLOB, LARGE_FILE.digest]);
  },

  "call: the messages of a result come back into the framework whole": async (scene) => {
    await scene.receive(({ result }) => result({ messages: [...REPLIES] }), {
      capability: IN_WORDS,
    });
    const got = await scene.call({ work: { messages: [...HISTORY] }, capability: IN_WORDS });
    deepEqual(got.messages, REPLIES);
  },

  "call: the artifacts of a result come back into the framework byte for byte": async (scene) => {
    await scene.receive(({ result }) =>
      result({ output: { summary: "made" }, artifacts: [...ARTIFACTS] }),
    );
    deepEqual((await scene.call()).artifacts, ARTIFACTS);
  },

  "call: a file of a result that is too large for an envelope comes back into the framework byte for byte":
    async (scene) => {
      await scene.receive(({ result }) =>
        result({ output: { summary: "made" }, artifacts: [LARGE_FILE] }),
      );
      deepEqual((await scene.call()).artifacts?.map(inShort), [inShort(LARGE_FILE)]);
      const [result] = await scene.said("result");
      deepEqual(result?.body.artifacts, [LARGE_BLOB], "the file does not lie at the hub");
    },

  "call: the tokens that the remote agent has used are counted by the framework": async (scene) => {
    const usage = { input_tokens: 1_234, output_tokens: 56 };
    await scene.receive(({ addUsage }) => {
      addUsage({ model: "remote-model", requests: 2, ...usage });
      return { summary: "It rains in Bergen." };
    });
    const got = await scene.call({ work: { input: { query: "rain in Bergen" } } });
    deepEqual(tokensOf(got.usage), usage);
  },

  "call: the tokens that the remote agent has used in a conversation are counted by the framework":
    async (scene) => {
      const usage = { input_tokens: 1_234, output_tokens: 56 };
      const handler = ({ addUsage }: Work) => {
        addUsage({ model: "remote-model", requests: 2, ...usage });
        return "It rains in Bergen.";
      };
      await scene.receive(handler, { capability: IN_WORDS });
      const messages = [textMessage("user", "Where does it rain?", "anna")];
      const got = await scene.call({ work: { messages }, capability: IN_WORDS });
      deepEqual(tokensOf(got.usage), usage);
    },

  "call: a large payload passes both ways": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.receive(keeping(seen, { summary: LARGE }));
    const got = await scene.call({ work: { input: { query: LARGE } } });
    carries(seen[0]!, LARGE);
    carries(came(got), LARGE);
  },

  "call: any Unicode passes both ways": async (scene) => {
    const seen: PortableWork[] = [];
    await scene.receive(keeping(seen, { summary: UNICODE }));
    const got = await scene.call({ work: { input: { query: UNICODE } } });
    carries(seen[0]!, UNICODE);
    carries(came(got), UNICODE);
  },

  "call: the framework's trace goes along": async (scene) => {
    await scene.receive(() => ({ summary: "done" }));
    await scene.call({ traceparent: TRACEPARENT });
    const [handoff] = await scene.said("handoff");
    equal(handoff?.traceparent?.split("-")[1], TRACEPARENT.split("-")[1]);
  },
};
