/// <reference types="node" />
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createAgent } from "@waybill/agent";
import type { Agent, AgentLogEvent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import { generateKey } from "@waybill/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDev, Workplace } from "./waybill-fixture.ts";

let place: Workplace;
const lines: ConnectedHub[] = [];
beforeEach(() => {
  place = new Workplace();
});
afterEach(async () => {
  await Promise.all(lines.splice(0).map((line) => line.close()));
  await place.close();
});

const socket = (): string => place.path(".waybill", "hub.sock");
const data = (): string => place.path(".waybill");

/** An agent that is connected to the hub of the folder. */
async function agentHere(id: string, log?: (event: AgentLogEvent) => void): Promise<Agent> {
  const hub = await connect(undefined, { folder: data() });
  lines.push(hub);
  return createAgent({ id, key: generateKey(), hub, log });
}

describe.skipIf(process.platform === "win32")("the Unix socket (skipped: not on Windows)", () => {
  test("is shown, and every command takes it as the hub", async () => {
    const dev = await startDev(place);
    expect(dev).toMatchObject({ unix_url: `unix:${socket()}` });
    expect(lstatSync(socket()).mode & 0o777).toBe(0o600);
    expect(lstatSync(data()).mode & 0o777).toBe(0o700);
    const anna = await agentHere("anna");
    anna.serve<string>("count", ({ input }) => input.length);
    anna.serve("wait", () => new Promise(() => undefined));
    await anna.start();
    const at = ["--hub", `unix:${socket()}`];
    const results = await place.runAll([
      ["agents", "anna", "--json", ...at],
      ["send", "count", '"twelve chars"', ...at],
      ["send", "wait", "1", "--timeout", "1s", "--json", ...at],
      ["dead-letters", "list", ...at],
      ["ledger", "export", ...at],
      ["doctor", "--json", ...at],
      ["groups", "add", "partners", "anna", ...at],
    ]);
    const [card, sent, lost, letters, ledger, doctor, groups] = results.map((ran) => ran);
    expect(JSON.parse(card!.stdout)).toMatchObject({ agent_id: "anna" });
    expect(sent).toMatchObject({ code: 0, stdout: "12\n" });
    const { handoff_id: id } = JSON.parse(lost!.stdout.split("\n")[0]!) as { handoff_id: string };
    expect(letters!.stdout).toContain(id);
    expect(ledger!.stdout.split("\n").length, ledger!.stderr).toBeGreaterThan(8);
    const { findings } = JSON.parse(doctor!.stdout) as {
      findings: { name: string; verdict: string; says: string }[];
    };
    const verdicts = Object.fromEntries(findings.map(({ name, verdict }) => [name, verdict]));
    expect(verdicts).toMatchObject({ hub: "ok", clock: "ok", token: "ok", secrets: "ok" });
    expect(findings.find(({ name }) => name === "hub")!.says).toContain(`unix:${socket()}`);
    expect(groups!.code, groups!.stderr).toBe(0);
    const traced = await place.run(["trace", id, "--hub", "unix:.waybill/hub.sock"]);
    expect(traced.code, traced.stderr).toBe(0);
    await anna.stop({ mode: "abandon" });
    const { stdout, stderr } = await dev.stop();
    expect(stderr + stdout).not.toContain("No Unix socket");
    expect(existsSync(socket())).toBe(false);
  });

  test("takes a console's page to the hub", async () => {
    await startDev(place);
    const page = place.start(["console", "--json", "--hub", `unix:${socket()}`]);
    const { console: link } = JSON.parse(await page.line()) as { console: string };
    const { origin } = new URL(link);
    expect(await (await fetch(`${origin}/v1/console/host`)).json()).toEqual({ host: "unix:" });
    const body = JSON.stringify({ code: link.split("/").at(-1) });
    const headers = { "content-type": "application/json" };
    const asked = { method: "POST", headers, body };
    const session = await fetch(`${origin}/v1/console/sessions`, asked);
    expect(session.status).toBe(200);
    expect(await session.json()).toMatchObject({ session: expect.any(String) as string });
  });

  test("of a killed hub is taken over, and agents keep their work", async () => {
    const dev = await startDev(place);
    const events: AgentLogEvent["event"][] = [];
    const anna = await agentHere("anna", ({ event }) => void events.push(event));
    const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    anna.serve("work", async () => {
      begun.resolve();
      await finish.promise;
      return "done";
    });
    await anna.start();
    const owner = await agentHere("owner");
    const handoff = owner.handoff({ capability: "work", timeoutMs: 120_000 });
    await begun.promise;
    await handoff.accepted;
    await dev.stop("SIGKILL");
    expect(lstatSync(socket()).isSocket()).toBe(true);
    const again = await startDev(place);
    finish.resolve();
    expect(await handoff.result).toMatchObject({ output: "done", by: "anna" });
    await handoff.acknowledge();
    // The result may travel before the agent is attached again.
    await expect
      .poll(() => events.filter((event) => event === "attached").length, { timeout: 60_000 })
      .toBe(2);
    await Promise.all([anna.stop(), owner.stop()]);
    await again.stop();
    expect(await place.json(["ledger", "verify"])).toMatchObject({ holds: true });
  });

  test("of a running hub keeps another one out of its folder", async () => {
    const dev = await startDev(place);
    const second = await place.run(["dev", "--port", "0", "--database", "other.db"]);
    expect(second.code).toBe(3);
    expect(second.stderr).toContain("another hub already listens there");
    const third = await place.run(["dev", "--port", "0", "--database", "o.db", "--no-socket"]);
    expect(third.code).toBe(3);
    await (await agentHere("anna")).start();
    expect((await dev.stop()).code).toBe(0);
  });

  test("is left out with --no-socket, and what a killed hub left is removed", async () => {
    await (await startDev(place)).stop("SIGKILL");
    expect(existsSync(socket())).toBe(true);
    const dev = await startDev(place, ["--port", "0", "--no-socket"]);
    expect(dev).not.toHaveProperty("unix_url");
    expect(existsSync(socket())).toBe(false);
    const hub = await connect(undefined, { folder: data() });
    lines.push(hub);
    expect(readFileSync(place.path(".waybill", "hub.url"), "utf8").trim()).toBe(dev.url);
    expect((await dev.stop()).code).toBe(0);
  });

  test("is left out with a warning if its path is too long", async () => {
    const far = place.path("x".repeat(100));
    const dev = await startDev(place, ["--port", "0", "--data", far]);
    expect(dev).not.toHaveProperty("unix_url");
    expect(existsSync(place.path("x".repeat(100), "hub.sock"))).toBe(false);
    const line = await connect(undefined, { folder: far });
    lines.push(line);
    const { stderr } = await dev.stop();
    expect(stderr).toMatch(/"warning":"No Unix socket: The path .* has at most 10[37] bytes/);
  });

  test("is not made where a link is, and the hub says so", async () => {
    mkdirSync(data(), { mode: 0o700 });
    symlinkSync(place.path("elsewhere"), socket());
    const { code, stderr } = await place.run(["dev", "--port", "0"]);
    expect(code).toBe(5);
    expect(stderr).toContain("a symbolic link, which is not followed");
    expect(existsSync(place.path("elsewhere"))).toBe(false);
  });
});
