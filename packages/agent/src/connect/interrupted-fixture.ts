/// <reference types="node" />
// A script that waits for another agent, as a step of a framework does, until Ctrl-C.
import process from "node:process";
import { call, handoffIdOf, refuseQuestion } from "../adapter/index.ts";
import { createAgent } from "../agent.ts";
import { connect } from "./connect.ts";

const [url, how] = process.argv.slice(2) as [string, string];
const owner = createAgent({ id: "owner", hub: await connect(url) });
const step = { run: "script", step: "1" };
const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());
console.log(handoffIdOf(owner.id, step));

const { signal } = interrupted;
const called = call(owner, { step, capability: "work", signal, onQuestion: refuseQuestion }).catch(
  () => undefined,
);
signal.addEventListener("abort", () => void leave());

async function leave(): Promise<never> {
  if (how === "awaits its call") await called;
  await owner.stop();
  // The connection to the hub is still open, and nothing waits for it.
  process.exit(130);
}
