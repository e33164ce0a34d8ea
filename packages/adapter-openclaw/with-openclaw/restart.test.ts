/// <reference types="node" />
import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openGateway, serveAgent } from "@waybill/adapter-openclaw";
import type { Gateway } from "@waybill/adapter-openclaw";
import { textOf } from "@waybill/agent/adapter";
import { world } from "@waybill/conformance/vitest";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ModelRequest, Reply } from "@waybill/scripted-model";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { GatewayProcess, TOKEN } from "./gateway-fixture.ts";
import { Line } from "./line.ts";
import { shownOf } from "./player.ts";

let play: (request: ModelRequest) => Reply | Promise<Reply>;
/** What the model was last told in each of its requests. */
let told: string[];
let gateway: GatewayProcess;
let model: Awaited<ReturnType<typeof startScriptedModel>>;

beforeAll(async () => {
  model = await startScriptedModel((request) => {
    told.push(textOf(shownOf(request).messages!.findLast(({ role }) => role === "user")!));
    return play(request);
  });
  gateway = await GatewayProcess.start(model.url);
});

afterAll(async () => {
  await gateway.dispose();
  await model.close();
});

beforeEach(() => {
  told = [];
});

const CAPABILITY = {
  name: "advise",
  takes: "delegation",
  max_attempts: 3,
  lease_seconds: 60,
} as const;

async function advising(url: string = gateway.url) {
  const place = await world();
  const [adviser, owner] = [place.agent("adviser"), place.agent("owner")];
  const line: Gateway = await openGateway({ url, token: TOKEN });
  onTestFinished(() => line.close());
  adviser.serve(...serveAgent(line, CAPABILITY));
  await adviser.start();
  const ask = (instruction: string) =>
    owner.handoff({ capability: "advise", brief: { instruction }, timeoutMs: 120_000 });
  return { ask };
}

/** An event that happens once. */
function moment() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { came: promise, come: resolve };
}

test("a gateway that is killed in the middle of a run makes another attempt", async () => {
  const { ask } = await advising();
  const started = moment();
  play = () => {
    if (told.length > 1) return { text: "Take a coat." };
    started.come();
    return new Promise<never>(() => undefined);
  };
  const handle = ask("What to wear?");
  await started.came;
  await gateway.kill();
  await gateway.start();
  const { output, attempt } = await handle.result;
  expect([output, attempt]).toEqual(["Take a coat.", 2]);
  // What the gateway resumes by itself after a restart was stopped: the work was not done twice.
  expect(told).toEqual([
    expect.stringContaining("What to wear?"),
    expect.stringContaining("Your last turn ended"),
  ]);
});

test("work that a gateway had finished when it was killed is found, and not done again", async () => {
  const line = await Line.to(gateway.port);
  onTestFinished(() => line.close());
  const { ask } = await advising(line.url);
  const other = await openGateway({ url: gateway.url, token: TOKEN });
  onTestFinished(() => other.close());
  const over = moment();
  other.listen((event, payload) => {
    const { action, task } = payload as { action?: string; task?: { status: string } };
    if (event === "task" && action === "upserted" && task?.status === "completed") over.come();
  });
  play = () => {
    line.cut();
    return { text: "Take an umbrella." };
  };
  const handle = ask("What to take along?");
  await over.came;
  await gateway.kill();
  await gateway.start();
  line.join();
  const { output, attempt } = await handle.result;
  expect([output, attempt, told.length]).toEqual(["Take an umbrella.", 1, 1]);
});

test("a line that breaks while the gateway works on changes nothing", async () => {
  const line = await Line.to(gateway.port);
  onTestFinished(() => line.close());
  const { ask } = await advising(line.url);
  play = () => {
    line.cut();
    line.join();
    return { text: "Take a map." };
  };
  const { output, attempt } = await ask("What to take to the hills?").result;
  expect([output, attempt, told.length]).toEqual(["Take a map.", 1, 1]);
});

test("the example of the README prints its documented output", async () => {
  play = () => ({ text: "The Sognefjord." });
  const example = fileURLToPath(new URL("example.ts", import.meta.url));
  const env = {
    ...process.env,
    OPENCLAW_GATEWAY_URL: gateway.url,
    OPENCLAW_GATEWAY_TOKEN: TOKEN,
  };
  const args = ["--experimental-strip-types", "--no-warnings", example];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout).toBe("1 The Sognefjord.\n");
});
