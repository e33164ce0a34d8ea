/// <reference types="node" />
import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import { generateKey } from "@waybill/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDev, Workplace } from "./waybill-fixture.ts";
import type { Dev } from "./waybill-fixture.ts";

let place: Workplace;
let dev: Dev;
let lines: readonly ConnectedHub[];
let agents: Agent[];

beforeAll(async () => {
  place = new Workplace();
  dev = await startDev(place);
  const [own, other] = await Promise.all([connect(dev.url), connect(dev.url)]);
  lines = [own, other];
  const worker = createAgent({ id: "worker", key: generateKey(), hub: own });
  worker.serve({ name: "edit", from: { groups: ["partners"] } }, () => "done");
  worker.serve({ name: "read", from: { agents: ["anna"] } }, () => "done");
  const anna = createAgent({ id: "anna", key: generateKey(), hub: other });
  agents = [worker, anna];
  await Promise.all(agents.map((each) => each.start()));
});

afterAll(async () => {
  for (const each of agents) await each.stop({ mode: "release" });
  for (const each of lines) await each.close();
  await place.close();
});

const run = (...words: string[]) => place.run(words);

test("an operator creates a group, sets its quota, and removes both", async () => {
  const work = { to: "worker", capability: "edit" };
  const anna = agents[1]!;
  const refused = await anna.handoff(work).custody.then(
    () => undefined,
    (error: unknown) => error as Error,
  );
  expect(refused).toMatchObject({ status: 403 });
  // The refusal contains the command that admits the agent.
  expect(refused?.message).toContain("waybill groups add <group> anna");
  expect((await run("groups", "list")).stdout).toContain("There is no group yet");
  expect(await run("groups", "add", "partners", "anna", "ben")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("anna, ben are in the group partners now.") as string,
  });
  await expect(anna.handoff(work).result).resolves.toMatchObject({ output: "done" });
  expect(
    await run("groups", "quota", "partners", "--per-minute", "1", "--open", "7"),
  ).toMatchObject({ code: 0, stdout: expect.stringContaining("7 open, 1 a minute") as string });
  const listed = JSON.parse((await run("groups", "list", "--json")).stdout) as { groups: unknown };
  expect(listed.groups).toEqual([
    {
      name: "partners",
      members: ["anna", "ben"],
      member_count: 2,
      quota: { open: 7, per_minute: 1 },
    },
  ]);
  expect((await run("groups", "list", "partners")).stdout).toMatch(
    /7 open, 1 a minute[^]*anna\nben/,
  );
  await run("groups", "quota", "partners", "--lift");
  expect((await run("groups", "list")).stdout).toContain("no quota");
  await run("groups", "remove", "partners", "anna");
  await expect(anna.handoff(work).custody).rejects.toMatchObject({ status: 403 });
  expect(await run("groups", "remove", "partners")).toMatchObject({ code: 0 });
  expect((await run("groups", "list")).stdout).toContain("There is no group yet");
});

test("an unknown group is answered with the existing ones and the command to type", async () => {
  await run("groups", "add", "editors", "anna");
  const unknown = await run("groups", "list", "editorz");
  expect(unknown).toMatchObject({ code: 4 });
  expect(unknown.stderr).toContain("Did you mean editors?");
  expect((await run("groups", "remove", "nobody", "anna")).stderr).toContain("waybill groups list");
  expect((await run("groups", "quota", "editors")).stderr).toContain("--per-minute <number>");
  expect((await run("groups", "add", "editors")).stderr).toContain("needs <agent>");
  expect((await run("groups", "quota", "editors", "--open", "1", "--lift")).code).toBe(2);
});

test("watch shows changes of groups as they are recorded", async () => {
  const watched = place.start(["watch", "--after", "0"]);
  await run("groups", "add", "readers", "anna");
  for (;;) {
    const shown = await watched.line();
    if (shown.includes("an operator added anna to the group readers")) break;
  }
});

test("an operator finds restricted capabilities, and sees whom they are for", async () => {
  const found = await run("find", "read");
  expect(found.code).toBe(0);
  expect(found.stdout.replaceAll(/\s+/g, " ")).toContain("takes work only from agents anna");
  // `send` is an agent of its own, which the capability does not name.
  expect(await run("send", "read", "1", "--to", "worker")).toMatchObject({ code: 5 });
});

test("an agent's card shows from whom each capability takes work", async () => {
  const { stdout } = await run("agents", "worker");
  expect(stdout).toMatch(/from +groups partners/);
  expect(stdout).toMatch(/from +agents anna/);
});
