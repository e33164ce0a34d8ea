import { deepEqual, equal, match } from "node:assert/strict";
import { textMessage } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import { aborted, accepted, carries, endingOf, holding, moment, playing } from "../case.ts";
import type { Between } from "../case.ts";
import type { Played } from "../fixture.ts";
import { tellsHistory } from "../history.ts";
import {
  ARTIFACTS,
  HISTORY,
  IN_WORDS,
  inShort,
  LARGE_FILE,
  REPLIES,
  TRACEPARENT,
  UNICODE,
} from "../sample.ts";
import { conversingPairCases } from "./pair-conversation.ts";

function came({ output, messages }: Played, text: string): void {
  carries({ input: output, messages: messages && [...messages] }, text);
}

const SHOWN: readonly string[] = Array.from({ length: 5 }, (_, index) => `part ${index} is done`);

export const pairCases: Readonly<Record<string, Between>> = {
  "structured work and its output": {
    needs: [],
    async check(scene) {
      const seen: PortableWork[] = [];
      await scene.serve(async ({ work }) => {
        seen.push(work);
        return { output: { summary: UNICODE } };
      });
      came(await scene.call({ work: { input: { query: UNICODE, depth: 41 } } }), UNICODE);
      equal(seen.length, 1);
      carries(seen[0]!, UNICODE);
    },
  },

  "a conversation and its reply": {
    needs: ["call: a conversation goes out, and the reply comes back into the framework"],
    async check(scene) {
      const seen: PortableWork[] = [];
      await scene.serve(
        async ({ work }) => {
          seen.push(work);
          return { output: "In Bergen." };
        },
        { capability: IN_WORDS },
      );
      const messages = [textMessage("user", "Where does it rain?", "anna")];
      came(await scene.call({ work: { messages }, capability: IN_WORDS }), "In Bergen.");
      carries(seen[0]!, "Where does it rain?");
    },
  },

  "a task in words and its result": {
    needs: ["call: a task in words goes out, and its result comes back into the framework"],
    async check(scene) {
      const seen: PortableWork[] = [];
      const capability = { ...IN_WORDS, takes: "delegation" } as const;
      await scene.serve(
        async ({ work }) => {
          seen.push(work);
          return { output: "In Bergen." };
        },
        { capability },
      );
      const brief = { instruction: "Find where it rains.", expected_output: "A town." };
      came(await scene.call({ work: { brief }, capability }), "In Bergen.");
      carries(seen[0]!, brief.instruction);
    },
  },

  "a history with names, tool calls and their results": {
    needs: [
      "serve: a history is seen with its roles, names and tool calls",
      "call: a history goes out whole, with its roles, names and tool calls",
    ],
    async check(scene) {
      const seen: PortableWork[] = [];
      await scene.serve(
        async ({ work }) => {
          seen.push(structuredClone(work));
          return { output: "Rain." };
        },
        { capability: IN_WORDS },
      );
      await scene.call({ work: { messages: [...HISTORY] }, capability: IN_WORDS });
      tellsHistory(seen[0]!, HISTORY, scene.serving);
    },
  },

  "the messages of a result": {
    needs: [
      "serve: the messages that a run has added come back whole, and no others",
      "call: the messages of a result come back into the framework whole",
    ],
    async check(scene) {
      await scene.serve(playing({ messages: REPLIES }), { capability: IN_WORDS });
      const got = await scene.call({ work: { messages: [...HISTORY] }, capability: IN_WORDS });
      deepEqual(got.messages, REPLIES);
    },
  },

  ...conversingPairCases,

  "files, both ways": {
    needs: [
      "serve: artifacts arrive byte for byte",
      "serve: the artifacts that a run has made come back byte for byte",
      "call: artifacts go out byte for byte",
      "call: the artifacts of a result come back into the framework byte for byte",
    ],
    async check(scene) {
      const seen: PortableWork[] = [];
      await scene.serve(async ({ work }) => {
        seen.push(structuredClone(work));
        return { output: { summary: "made" }, artifacts: ARTIFACTS };
      });
      const work = { input: { query: "files" }, artifacts: [...ARTIFACTS] };
      deepEqual((await scene.call({ work })).artifacts, ARTIFACTS);
      deepEqual(seen[0]?.artifacts, ARTIFACTS);
    },
  },

  "a file that is too large for an envelope": {
    needs: [
      "serve: a file that is too large for an envelope arrives byte for byte",
      "call: a file that is too large for an envelope goes out byte for byte",
    ],
    async check(scene) {
      const seen: PortableWork[] = [];
      await scene.serve(async ({ work }) => {
        seen.push(structuredClone(work));
        return { output: { summary: "read" } };
      });
      await scene.call({ work: { input: { query: "files" }, artifacts: [LARGE_FILE] } });
      deepEqual(seen[0]?.artifacts?.map(inShort), [inShort(LARGE_FILE)]);
    },
  },

  "progress, in order and while the work goes on": {
    needs: ["call: progress comes out of the framework's stream in order, before the result"],
    async check(scene) {
      const [first, finish] = [moment(), moment()];
      await scene.serve(async ({ show }) => {
        show(SHOWN[0]!);
        await finish.came;
        for (const message of SHOWN.slice(1)) show(message);
        return { output: { summary: "done" } };
      });
      let shown = "";
      const called = scene.call({
        show(message) {
          shown += message;
          if (shown.includes(SHOWN[0]!)) first.come();
        },
      });
      await scene.wait("progress", first.came);
      finish.come();
      await scene.wait("the end of the call", called);
      const places = SHOWN.map((message) => shown.indexOf(message));
      deepEqual(
        places,
        places.filter((place) => place >= 0).toSorted((one, other) => one - other),
      );
    },
  },

  "a question, and its answer": {
    needs: ["call: a question is the framework's own, and its answer goes back"],
    async check(scene) {
      await scene.serve(async ({ ask }) => ({
        output: { summary: `To ${(await ask("town", "Which town?")) as string}` },
      }));
      const asked: string[] = [];
      const got = await scene.call({
        async ask(_, text) {
          asked.push(text);
          return "Bergen";
        },
      });
      deepEqual(asked, ["Which town?"]);
      came(got, "To Bergen");
    },
  },

  "a failure, with its real message": {
    needs: ["serve: a framework's error is a 500 with its real message"],
    async check(scene) {
      await scene.serve(async () => {
        throw new Error("The model is out of words.");
      });
      const { status, message } = await endingOf(scene.call());
      equal(status, 500);
      match(message, /The model is out of words\./);
    },
  },

  "an empty success, which is an error": {
    needs: ["call: a conversation goes out, and the reply comes back into the framework"],
    async check(scene) {
      await scene.serve(playing({}), { capability: IN_WORDS });
      const messages = [textMessage("user", "Where does it rain?")];
      equal((await endingOf(scene.call({ work: { messages }, capability: IN_WORDS }))).status, 520);
    },
  },

  "stopping a run stops the other": {
    needs: [
      "serve: a handoff that is cancelled stops the framework's run",
      "call: the framework's signal cancels the handoff, and the remote agent stops",
    ],
    async check(scene) {
      const [began, stopped] = [moment(), moment()];
      await scene.serve(holding(began, stopped));
      const controller = new AbortController();
      const called = scene.call({ signal: controller.signal });
      await scene.wait("the run to start", began.came);
      controller.abort(new Error("The run was stopped."));
      await scene.wait("the run to stop", stopped.came);
      await scene.wait(
        "the call to end",
        called.then(
          () => undefined,
          () => undefined,
        ),
      );
      equal((await scene.said("cancel")).length, 1);
    },
  },

  "a deadline that passes": {
    needs: [],
    async check(scene) {
      const began = moment();
      await scene.serve(async ({ signal }) => {
        began.come();
        await aborted(signal);
        throw signal.reason;
      });
      const called = scene.call({ timeoutMs: 20_000 });
      await scene.wait("the run to start", began.came);
      await accepted(scene);
      await scene.clock.advance(20_000);
      equal((await scene.wait("the end of the call", endingOf(called))).status, 504);
    },
  },

  "a repeated step does the work once": {
    needs: [],
    async check(scene) {
      let runs = 0;
      await scene.serve(async () => ({ output: { summary: `run ${++runs}` } }));
      came(await scene.call(), "run 1");
      await scene.restartCaller();
      came(await scene.wait("the second run", scene.call()), "run 1");
      equal(runs, 1);
    },
  },

  "one trace": {
    needs: [
      "serve: the framework sees the trace of the handoff",
      "call: the framework's trace goes along",
    ],
    async check(scene) {
      const seen: unknown[] = [];
      await scene.serve(async ({ traceparent }) => {
        seen.push(traceparent?.split("-")[1]);
        return { output: { summary: "seen" } };
      });
      await scene.call({ traceparent: TRACEPARENT });
      deepEqual(seen, [TRACEPARENT.split("-")[1]]);
    },
  },
};
