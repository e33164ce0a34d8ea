/// <reference types="node" />
// Hands off the work in each line of its standard input, and reports every stage as a line of JSON.
import process from "node:process";
import { createInterface } from "node:readline";
import { createAgent, loadKey } from "@waybill/agent";
import type { HandoffHandle, HandoffOptions } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";

interface Line extends HandoffOptions {
  readonly answer?: Json;
  /** Cancels it once it is accepted. */
  readonly cancel?: boolean;
}

const [url = "", id = "", key = ""] = process.argv.slice(2);
const agent = createAgent({ id, key: await loadKey(key), hub: await connect(url) });
await agent.start();
tell({ type: "ready" });

for await (const line of createInterface({ input: process.stdin })) {
  const { answer, cancel = false, ...options } = JSON.parse(line) as Line;
  follow(agent.handoff(options), answer, cancel).catch((error: unknown) =>
    tell({ type: "failure", message: String(error) }),
  );
}
await agent.stop();
process.exit();

async function follow(handle: HandoffHandle, answer: Json | undefined, cancel: boolean) {
  const listening = [listen(handle), answerAll(handle, answer ?? null)];
  try {
    const { by } = await handle.custody;
    tell({ type: "custody", by });
    if (cancel) {
      await handle.accepted;
      tell({ type: "cancelled", was_open: await handle.cancel("not wanted") });
    }
    const { output, messages, artifacts, by: recipient, attempt } = await handle.result;
    await Promise.all(listening);
    await handle.acknowledge();
    tell({ type: "result", output, messages, artifacts, by: recipient, attempt });
  } catch (error) {
    await handle.acknowledge();
    const { status, message } = WaybillError.from(error);
    tell({ type: "error", status, message });
  }
}

async function listen(handle: HandoffHandle): Promise<void> {
  for await (const { message, fraction, data } of handle.progress) {
    tell({ type: "progress", message, fraction, data });
  }
}

async function answerAll(handle: HandoffHandle, answer: Json): Promise<void> {
  for await (const question of handle.questions) {
    tell({ type: "question", id: question.id, text: question.text });
    await handle.answer(question.id, answer);
  }
}

function tell(said: object): void {
  console.log(JSON.stringify(said));
}
