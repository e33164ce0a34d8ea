/// <reference types="node" />
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { Network } from "./served-fixture.ts";

const SCRIPT = fileURLToPath(new URL("interrupted-fixture.ts", import.meta.url));

let network: Network;

let child: ChildProcess | undefined;

afterEach(async () => {
  child?.kill("SIGKILL");
  await network.close();
});

/** A recipient that works until it is told to stop. */
async function recipient() {
  const begun = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<unknown>();
  const worker = await network.agent("worker");
  worker.serve("work", async ({ signal, progress }) => {
    await progress({ message: "begun" });
    begun.resolve();
    await once(signal, "abort");
    stopped.resolve(signal.reason);
    throw signal.reason;
  });
  await worker.start();
  return { begun: begun.promise, stopped: stopped.promise };
}

async function stateOf(id: string): Promise<string | undefined> {
  return (await network.hub.handoff(id, "owner"))?.state;
}

test("a cancel that was not awaited is in custody once the agent has stopped", async () => {
  network = await Network.open();
  const { begun, stopped } = await recipient();
  const owner = await network.agent("owner");
  const handle = owner.handoff({ capability: "work" });
  await begun;
  const cancelled = handle.cancel("The user has left.");
  expect(await owner.stop()).toEqual([]);
  expect(await cancelled).toBe(true);
  expect(await stopped).toMatchObject({ status: 499 });
  expect(await stateOf(handle.id)).toBe("cancelled");
});

test("a cancel while the agent stops is in custody too", async () => {
  network = await Network.open();
  const { begun } = await recipient();
  const owner = await network.agent("owner");
  const handle = owner.handoff({ capability: "work" });
  await begun;
  const interrupted = new AbortController();
  const asked = owner.handoff({ capability: "work", signal: interrupted.signal });
  await asked.custody;
  interrupted.abort();
  const stopping = owner.stop();
  const cancelled = handle.cancel();
  expect(await stopping).toEqual([]);
  expect(await cancelled).toBe(true);
  expect(await stateOf(handle.id)).toBe("cancelled");
  expect(await stateOf(asked.id)).toBe("cancelled");
});

test("a handoff, its answer and its acknowledgement are in custody once their agent has stopped", async () => {
  network = await Network.open();
  const worker = await network.agent("worker");
  const answered = Promise.withResolvers<unknown>();
  worker.serve("work", async ({ ask }) => {
    answered.resolve(await ask({ id: "colour", text: "Which colour?" }));
    return "painted";
  });
  worker.serve("echo", () => "echo");
  await worker.start();
  const owner = await network.agent("owner");
  await owner.start();
  const asking = owner.handoff({ capability: "work" });
  for await (const { id } of asking.questions) {
    void asking.answer(id, "red");
    break;
  }
  const ended = owner.handoff({ capability: "echo" });
  await ended.result;
  const last = owner.handoff({ capability: "echo" });
  expect(await owner.stop()).toEqual([]);
  expect(await answered.promise).toBe("red");
  expect(await stateOf(last.id)).toBeDefined();
  expect((await network.hub.handoff(ended.id, "owner"))?.isAcknowledged).toBe(true);
});

test.each(["awaits its call", "only stops"])(
  "a process that is interrupted by Ctrl-C and %s has cancelled its handoffs",
  async (how) => {
    network = await Network.open();
    const { begun, stopped } = await recipient();
    const folder = await mkdtemp(join(tmpdir(), "waybill-interrupted-"));
    child = spawn(process.execPath, [SCRIPT, network.url, how], {
      env: { ...process.env, WAYBILL_KEYS: folder },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const { value: id } = (await lines.next()) as { value: string };
    await begun;
    child.kill("SIGINT");
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(130);
    expect(await stopped).toMatchObject({ status: 499 });
    expect(await stateOf(id)).toBe("cancelled");
    await rm(folder, { recursive: true });
  },
);
