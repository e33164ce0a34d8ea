/// <reference types="node" />
// An agent that behaves as its input says. Started with a hub's address, its id and its key file.
import process from "node:process";
import { createAgent, loadKey } from "@waybill/agent";
import type { Returned, Work } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";

interface Input {
  readonly kind: string;
  readonly value?: Json;
}

type Do = (work: Work<Input>) => Promise<Json | Returned> | Json | Returned;

const kinds: Readonly<Record<string, Do>> = {
  echo: (work) => ({ value: work.input.value ?? null, by: work.agent, attempt: work.attempt }),
  messages: (work) =>
    work.result({
      output: "read",
      messages: work.body.messages ?? [],
      artifacts: work.body.artifacts ?? [],
    }),
  async again({ artifacts: [file], result }) {
    const bytes = await file!.bytes();
    const turned = { name: file!.name, media_type: file!.media_type, bytes: bytes.toReversed() };
    return result({ output: { bytes: bytes.length }, artifacts: [turned] });
  },
  async progress(work) {
    for (let step = 1; step <= 3; step++) {
      await work.progress({ message: `step ${step}`, fraction: step / 4 });
    }
    return { value: "done" };
  },
  ask: async (work) => ({ answer: await work.ask({ id: "q", text: "Which?" }) }),
  pause(work) {
    if (work.resume === undefined) return work.pause([{ id: "p", text: "Go on?" }], "halfway");
    return { state: work.resume.state, answer: work.resume.answers.get("p") ?? null };
  },
  fail() {
    throw new WaybillError(500, "The oven is cold.", {
      cause: new Error("no gas"),
      retryable: false,
    });
  },
  empty: () => "",
  async hang(work) {
    console.log("hanging");
    await new Promise((resolve) => work.signal.addEventListener("abort", resolve, { once: true }));
    console.log(`stopped ${(work.signal.reason as WaybillError).status}`);
    return "too late";
  },
};

const [url = "", id = "", key = ""] = process.argv.slice(2);
const agent = createAgent({ id, key: await loadKey(key), hub: await connect(url) });
const terms = { lease_seconds: 1, max_attempts: 10 };
agent.serve<Input>({ name: "work", ...terms }, (work) => kinds[work.input.kind]!(work));
await agent.start();
console.log("ready");
