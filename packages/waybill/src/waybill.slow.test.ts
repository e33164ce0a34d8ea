/// <reference types="node" />
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import { generateKey, newId, STATUS } from "@waybill/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDev, Workplace } from "./waybill-fixture.ts";
import type { Dev } from "./waybill-fixture.ts";

let place: Workplace;
let dev: Dev;
let line: ConnectedHub;
let anna: Agent;
beforeAll(async () => {
  place = new Workplace();
  dev = await startDev(place);
  line = await connect(dev.url);
  anna = createAgent({ id: "anna", key: generateKey(), hub: line });
  const input_schema = { topic: "string" };
  anna.serve(
    { name: "review", input_schema, description: "Reads drafts" },
    async ({ input, progress, ask, handoff }) => {
      await progress({ message: "reading \u001b[31mred\u001b[0m", fraction: 0.5 });
      const { topic } = input as { topic: string };
      if (topic === "closed") throw new Error("the library is closed");
      if (topic === "ask") return { approved: await ask("Approve?") };
      if (topic === "wait") await new Promise(() => undefined);
      const { output } = await handoff({ capability: "count", input: topic }).result;
      return { letters: output! };
    },
  );
  anna.serve("count", ({ input }) => (input as string).length);
  await anna.start();
});
afterAll(async () => {
  await anna.stop({ mode: "release" });
  await line.close();
  await place.close();
});

const DRAFT = '{"topic":"draft"}';

describe("dev", () => {
  test("prints its addresses and paths first, and keeps secrets private to their owner", () => {
    expect(dev.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(dev.database).toBe(place.path(".waybill", "hub.db"));
    expect(readFileSync(place.path(".waybill", "operator.token"), "utf8").trim()).toBe(
      dev.operator_token,
    );
    if (process.platform === "win32") return;
    for (const name of ["hub.db", "hub.key", "operator.key", "operator.token"]) {
      expect(statSync(place.path(".waybill", name)).mode & 0o077).toBe(0);
    }
  });

  test("reports whose database it is, if another one uses it", async () => {
    const { code, stderr, stdout } = await place.run(["dev", "--port", "0"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain(`open in process ${dev.running.child.pid}`);
    expect((await place.run(["agents"])).code).toBe(0);
  });
});

describe("agents and find", () => {
  test("list the agents, and print one's card", async () => {
    const { agents } = (await place.json(["agents"])) as { agents: Record<string, unknown>[] };
    expect(agents.find((each) => each["agent_id"] === "anna")).toMatchObject({
      is_connected: true,
      in_flight: 0,
    });
    expect(await place.json(["agents", "anna"])).toMatchObject({
      agent_id: "anna",
      manifest: { capabilities: [{ name: "review" }, { name: "count" }] },
    });
    const { stdout } = await place.run(["agents"]);
    expect(stdout).toMatch(/anna +● yes +0 +count, review/);
  });

  test("list who fits, and why others don't", async () => {
    expect(await place.json(["find", "review"])).toMatchObject({
      fits: [{ agent_id: "anna" }],
      left_out: [],
    });
    const refused = await place.run(["find", "review", "--input", '{"topic":5}']);
    expect(refused.code).toBe(4);
    expect(refused.stdout).toContain("No agent here fits.");
    expect(refused.stdout).toContain("expected string, got 5");
    expect(await place.run(["find", "nothing"])).toMatchObject({
      code: 4,
      stdout: "✗ No agent here offers nothing. To see what is offered: waybill agents\n",
    });
    expect((await place.run(["find", "--words", "reads drafts"])).stdout).toMatch(/anna +review/);
  });

  test("show the load of each agent, why one ranks below another, and what a handoff waits for", async () => {
    const [taken, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const etchers = ["erna", "ulla"].map((id) => {
      const etcher = createAgent({ id, key: generateKey(), hub: line, credit: 4 });
      etcher.serve({ name: "etch", concurrency: 2 }, async () => {
        taken.resolve();
        await done.promise;
        return "etched";
      });
      return etcher;
    });
    for (const etcher of etchers) await etcher.start();
    await place.run(["send", "etch", "1", "--to", "erna", "--detach"]);
    await taken.promise;
    const [found, , waiting] = await place.runAll([
      ["find", "etch"],
      ["send", "etch", "2", "--to", "erna", "--detach"],
      ["send", "etch", "3", "--to", "erna", "--detach"],
    ]);
    expect(found!.stdout).toMatch(/ulla .* 0 of 4 [^]*erna .* 1 of 4 .*ranked lower: fewer of its/);
    const trace = await place.run(["trace", waiting!.stdout.trim()]);
    expect(trace.stdout).toContain("! waits: erna has no room: it works on 2");
    done.resolve();
    for (const etcher of etchers) await etcher.stop();
  });

  test("report an unknown agent", async () => {
    const { code, stderr } = await place.run(["agents", "carl"]);
    expect(code).toBe(4);
    expect(stderr).toBe(
      `✗ No agent "carl" is enrolled at ${dev.url}.\n  To list the agents: waybill agents\n  waybill agents · exit code 4 · 404 NO_CAPABILITY\n`,
    );
  });
});

describe("send", () => {
  test("prints only the result if no terminal is attached", async () => {
    expect(await place.run(["send", "review", DRAFT])).toEqual({
      code: 0,
      stdout: '{\n  "letters": 5\n}\n',
      stderr: "",
    });
    expect((await place.run(["send", "review", "-"], { input: DRAFT })).stdout).toContain(
      "letters",
    );
  });

  test("prints each stage as a line of JSON, with the receipts", async () => {
    const lines = await place.jsonLines(["send", "review", DRAFT]);
    expect(lines.map(({ event }) => event)).toEqual(["custody", "accepted", "progress", "result"]);
    expect(lines[0]).toMatchObject({
      by: expect.stringMatching(/^hub-[0-9a-f]{12}$/) as string,
      receipt: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    });
    expect(lines[1]).toMatchObject({ by: "anna", attempt: 1 });
    expect(lines[3]).toMatchObject({ status: 200, output: { letters: 5 } });
    expect(new Set(lines.map((each) => each["handoff_id"])).size).toBe(1);
  });

  test("reports the recipient's own error with its status", async () => {
    const { code, stdout, stderr } = await place.run([
      "send",
      "review",
      '{"topic":"closed"}',
      "--attempts",
      "1",
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("the library is closed");
    expect(stderr).toMatch(/Full history: waybill trace [0-9a-f-]{36}/);
  });

  test("takes answers in advance, by id or in order", async () => {
    const ask = ["send", "review", '{"topic":"ask"}', "--answer"];
    expect((await place.run([...ask, "true"])).stdout).toContain('"approved": true');
    expect((await place.run([...ask, "anna/1=not yet"])).stdout).toContain('"approved": "not yet"');
  });

  test("without an answer says how to give one later, which works", async () => {
    const first = await place.run(["send", "review", '{"topic":"ask"}']);
    expect(first.code).toBe(9);
    const [, handoff, answer] = /--handoff (\S+) --answer (\S+)=<value>/.exec(first.stderr)!;
    const second = await place.run([
      "send",
      "review",
      '{"topic":"ask"}',
      "--handoff",
      handoff!,
      "--answer",
      `${answer}=1`,
    ]);
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('"approved": 1') });
  });

  test("cancels the handoff on Ctrl-C", async () => {
    const sending = place.start(["send", "review", '{"topic":"wait"}', "--json"]);
    while (!(await sending.line()).includes('"progress"'));
    sending.child.kill("SIGINT");
    const { code, stdout } = await sending.ended();
    expect(code).toBe(130);
    expect(JSON.parse(stdout.trim().split("\n").at(-1)!)).toMatchObject({
      event: "ended",
      status: 499,
    });
  });

  test("runs twice at a time without disconnecting each other", async () => {
    const both = await Promise.all([1, 2, 3].map(() => place.run(["send", "review", DRAFT])));
    expect(both.map(({ code }) => code)).toEqual([0, 0, 0]);
  });

  test("reports that nobody offers the capability", async () => {
    const { code, stderr } = await place.run(["send", "nothing"]);
    expect(code).toBe(4);
    expect(stderr).toContain("Nobody here has published a manifest that offers nothing");
    expect(stderr).not.toContain("Full history");
  });

  test("refuses an input that no recipient takes at once, with the place and the expected value", async () => {
    const { code, stdout, stderr } = await place.run(["send", "review", '{"topic":7}']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/anna refuses the input: \/topic: .*string/);
    expect(stderr).not.toContain("Full history");
    const told = await place.run(["send", "review", '{"topic":7}', "--json"]);
    expect(told.code).toBe(2);
    expect(JSON.parse(told.stdout.trim())).toMatchObject({
      event: "ended",
      status: 422,
      refusals: [{ agent_id: "anna", capability: "review", issues: [{ at: "/topic" }] }],
    });
  });

  test("holds work that starts later, and its trace says until when", async () => {
    const words = ["send", "review", DRAFT, "--not-before", "2h", "--priority", "7", "--detach"];
    const { code, stdout } = await place.run(words);
    expect(code).toBe(0);
    const id = stdout.trim();
    expect((await place.run(["trace", id])).stdout).toMatch(/! held until \d{4}-\d\d-\d\d \S+ UTC/);
    const told = (await place.json(["trace", id])) as { handoffs: { starts_at: string }[] };
    const [handoff] = told.handoffs;
    expect(Date.parse(handoff!.starts_at)).toBeGreaterThan(Date.now() + 3_600_000);
    const { stderr } = await place.run(["send", "review", DRAFT, "--priority", "10"]);
    expect(stderr).toContain("--priority must be a whole number from 0 to 9");
  });

  test("shows the state of a session in its trace", async () => {
    const words = ["send", "review", DRAFT, "--session", "trip-42", "--session-wait", "30s"];
    const { code, stdout } = await place.run([...words, "--not-before", "2h", "--detach"]);
    expect(code).toBe(0);
    const id = stdout.trim();
    expect((await place.run(["trace", id])).stdout).toContain("session trip-42");
    expect(await place.json(["trace", id])).toMatchObject({
      handoffs: [{ session: { id: "trip-42" } }],
    });
    const alone = await place.run(["send", "review", DRAFT, "--session-wait", "30s"]);
    expect(alone.stderr).toContain("name the session with --session");
    const none = await place.run(["send", "review", DRAFT, "--session", "trip 42"]);
    expect(none.stderr).toContain("1 to 128 visible ASCII characters");
  });

  test("refuses to act as an agent that is connected elsewhere, and leaves it unchanged", async () => {
    const { code, stderr } = await place.run([
      "send",
      "count",
      "1",
      "--agent",
      "anna",
      "--key",
      "anna.key",
    ]);
    expect(code).toBe(6);
    expect(stderr).toContain("would disconnect it");
    expect((await place.run(["find", "review"])).code).toBe(0);
  });

  test("explains how to write JSON after invalid input", async () => {
    const { code, stderr } = await place.run(["send", "review", "draft"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`A text needs its own quotes: '"draft"'`);
  });
});

describe("trace", () => {
  test("shows the whole history of a job, and checks every signature", async () => {
    const [custody] = await place.jsonLines(["send", "review", DRAFT]);
    const job = custody!["correlation_id"] as string;
    const trace = (await place.json(["trace", job])) as Record<string, never>;
    expect(trace).toMatchObject({
      correlation_id: job,
      signatures: { failed: 0 },
      handoffs: [
        {
          capability: "review",
          state: "completed",
          children: [{ capability: "count", delegator: "anna" }],
        },
      ],
    });
    const byHandoff = await place.json(["trace", custody!["handoff_id"] as string]);
    expect(byHandoff).toMatchObject({ correlation_id: job });
    const { stdout } = await place.run(["trace", job]);
    expect(stdout).toContain("├─ ✔ count anna → anna");
    expect(stdout).toMatch(/anna +accepts +✔ [\w-]{8} ✔ receipt/);
    expect(stdout).toMatch(/All \d+ signatures are valid/);
    // Without escaping, anna's text would have turned the terminal red.
    expect(stdout).toContain("reading [31mred [0m");
    expect(stdout).not.toContain("\u001b");
  });

  test("refuses an unknown id and an invalid one", async () => {
    const none = await place.run(["trace", "01993a5e-7c1e-7b3a-9a53-0c9b6d3f1a2e"]);
    expect(none).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("neither a job nor a handoff"),
    });
    expect(await place.run(["trace", "job-1"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is not the id of a job"),
    });
  });
});

describe("a handoff that is killed, attempted again, expired and replayed", () => {
  test("has a complete trace", async () => {
    const carl = place.startScript(new URL("recipient-fixture.ts", import.meta.url), [
      dev.url,
      "carl",
      place.path("carl.key"),
    ]);
    expect(await carl.line()).toBe("ready");
    const sending = place.start(["send", "web_research", "1", "--timeout", "20s", "--json"]);
    expect(await carl.line()).toBe("taken");
    carl.child.kill("SIGKILL");
    await carl.ended();
    const other = await connect(dev.url);
    const dora = createAgent({ id: "dora", key: generateKey(), hub: other });
    dora.serve("web_research", ({ attempt }) => `done in attempt ${attempt}`);
    await dora.start();
    const done = await sending.ended();
    expect(done.code).toBe(0);
    expect(JSON.parse(done.stdout.trim().split("\n").at(-1)!)).toMatchObject({
      by: "dora",
      attempt: 2,
    });
    await dora.stop();
    await other.close();

    const lost = (await place.jsonLines(["send", "web_research", "2", "--timeout", "3s"])).at(-1);
    expect(lost).toMatchObject({ event: "ended", status: 504 });
    const id = lost!["handoff_id"] as string;
    expect(await place.json(["dead-letters", "list"])).toMatchObject({
      dead_letters: [{ id, status: 504, capability: "web_research" }],
    });
    expect(await place.json(["dead-letters", "show", id])).toMatchObject({
      id,
      envelope: { body: { input: 2 } },
      trace: { handoffs: [{ id, state: "dead_lettered" }], signatures: { failed: 0 } },
    });
    expect((await place.run(["dead-letters", "show", id])).stdout).toContain(STATUS[504].remedy);

    const again = await connect(dev.url);
    const emil = createAgent({ id: "emil", key: generateKey(), hub: again });
    emil.serve("web_research", ({ input }) => `at last: ${JSON.stringify(input)}`);
    await emil.start();
    const replayed = await place.run([
      "dead-letters",
      "replay",
      id,
      "--timeout",
      "10s",
      "--to",
      "emil",
    ]);
    expect(replayed).toMatchObject({ code: 0, stdout: '"at last: 2"\n' });
    await emil.stop();
    await again.close();
    // The second time it finds the first replay, whose recipient is gone.
    const repeated = await place.run(["dead-letters", "replay", id]);
    expect(repeated).toMatchObject({ code: 0, stdout: '"at last: 2"\n' });
    expect(await place.json(["dead-letters", "list"])).toEqual({ dead_letters: [] });
    expect(await place.json(["trace", id])).toMatchObject({
      handoffs: [
        {
          state: "dead_lettered",
          children: [{ state: "completed", replay_of: id, recipient: "emil" }],
        },
      ],
    });
  });

  test("can be discarded", async () => {
    // No agent that offers it is connected any more.
    const lost = await place.jsonLines(["send", "web_research", "3", "--timeout", "3s"]);
    const id = lost.at(-1)!["handoff_id"] as string;
    expect(await place.json(["dead-letters", "discard", id, "sent twice"])).toEqual({
      discarded: id,
      reason: "sent twice",
    });
    const { stdout } = await place.run(["trace", id]);
    expect(stdout).toContain("removes it from the dead letters: sent twice");
    expect(await place.json(["dead-letters", "list"])).toEqual({ dead_letters: [] });
    const { code, stderr } = await place.run([
      "dead-letters",
      "discard",
      "01993a5e-7c1e-7b3a-9a53-0c9b6d3f1a2e",
      "sent twice",
    ]);
    expect(code).toBe(4);
    expect(stderr).toContain("List the dead letters to see their ids");
  });
});

describe("watch", () => {
  test("prints every entry as it is written, or from the beginning", async () => {
    const watching = place.start(["watch", "--after", "0", "--json"]);
    expect(JSON.parse(await watching.line())).toMatchObject({ sequence: 1, type: "manifest" });
    const [custody] = await place.jsonLines(["send", "review", DRAFT]);
    const id = custody!["handoff_id"];
    for (;;) {
      const entry = JSON.parse(await watching.line()) as Record<string, unknown>;
      const envelope = entry["envelope"] as Record<string, unknown> | undefined;
      if (entry["handoff_id"] === id && envelope?.["kind"] === "result") break;
    }
    watching.child.kill("SIGINT");
    expect((await watching.ended()).code).toBe(0);
  });

  test("prints one job, with the hub's decisions about it", async () => {
    const job = newId();
    await place.run(["send", "count", '"abc"']);
    const send = ["send", "count", '"abcd"', "--correlation", job];
    const [custody] = await place.jsonLines(send);
    const watching = place.start(["watch", "--after", "0", "--correlation", job, "--json"]);
    const told: Record<string, unknown>[] = [];
    for (;;) {
      const { decision, envelope } = JSON.parse(await watching.line()) as Record<
        "decision" | "envelope",
        Record<string, unknown> | undefined
      >;
      told.push((decision ?? envelope)!);
      if (envelope?.["kind"] === "result") break;
    }
    expect(new Set(told.map((each) => each["handoff_id"]))).toEqual(
      new Set([custody!["handoff_id"]]),
    );
    expect(told).toContainEqual(expect.objectContaining({ type: "offer", recipient: "anna" }));
    watching.child.kill("SIGINT");
    await watching.ended();
    const shown = place.start(["watch", "--after", "0", "--correlation", job]);
    while (!/\(hub\) +offers it to anna/.test(await shown.line()));
    shown.child.kill("SIGINT");
    expect(await shown.ended()).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("a request of the operator", () => {
  test("without a token or with an invalid one is refused, naming the token's source", async () => {
    const none = await place.run(["dead-letters", "list", "--data", "elsewhere", "--hub", dev.url]);
    expect(none.code).toBe(5);
    expect(none.stderr).toContain(
      `no operator token was found (${place.path("elsewhere", "operator.token")}, which does not exist)`,
    );
    const wrong = await place.run(["dead-letters", "list"], { env: { WAYBILL_TOKEN: "guessed" } });
    expect(wrong.code).toBe(5);
    expect(wrong.stderr).toContain("from WAYBILL_TOKEN");
    expect(wrong.stderr).not.toContain("guessed");
  });

  test("under the operator's name is impossible without its key, because the hub has reserved the name", async () => {
    const { code, stderr } = await place.run([
      "send",
      "count",
      "1",
      "--data",
      "elsewhere",
      "--hub",
      dev.url,
    ]);
    expect(code).toBe(5);
    expect(stderr).toContain("--agent <id> --key <file>");
    const own = ["--agent", "fritz", "--key", "fritz.key", "--data", "elsewhere", "--hub", dev.url];
    expect(await place.run(["send", "count", '"abc"', ...own])).toMatchObject({
      code: 0,
      stdout: "3\n",
    });
  });
});

test("a closed pipe is no error", async () => {
  const exporting = place.start(["ledger", "export"]);
  await exporting.line();
  exporting.child.stdout!.destroy();
  exporting.child.stdin!.end();
  const [code] = (await once(exporting.child, "exit")) as [number];
  expect(code).toBe(0);
});
