/// <reference types="node" />
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent, generateKey, WaybillError } from "@waybill/agent";
import type { Agent, HandoffHandle, HandoffOptions } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import { digestOfBytes, signManifest } from "@waybill/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { styleFor } from "./terminal/style.ts";
import { shown, shownJson } from "./terminal/unseen.ts";
import { startDev, Workplace } from "./waybill-fixture.ts";
import type { Dev, Ran } from "./waybill-fixture.ts";

/** Every kind of character that a terminal obeys or does not show. */
const HOSTILE = [
  "\u009b31mC1",
  "\u009d0;title\u009c",
  "\u0090DCS\u0085",
  "\u007f\u007f",
  "\u202ertl\u202d\u2066iso\u2067\u2068\u2069\u200e\u200f\u061c",
  "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u034f\u3164\u115f\uffa0",
  "\u{e0041}\u{e007f}\u{e0100}\u{1d173}\ufff9\ufffb\u2061\u206f",
  "\u2028line\u2029paragraph",
  "\u001b]0;owned\u0007\u001b[31mred\u001b[8mhidden\u001b[2J\u001bc",
  "\b\b\rover\v\f",
].join("");
/** For places where line breaks are expected. */
const LINES = `${HOSTILE}\n${HOSTILE}`;

const FORBIDDEN = new RegExp(
  String.raw`(?![\ufe00-\ufe0f])[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]`,
  "u",
);
/** Every escape except the command's own colours. */
const FOREIGN = new RegExp(String.raw`\u001b(?!\[(?:1|2|4|22|24|31|32|33|34|36|39)m)`, "u");
/** A colour from another agent's text. */
const OWNED = new RegExp(String.raw`\u001b\[31mred`, "u");

let place: Workplace;
let dev: Dev;
let hub: ConnectedHub;
let agents: Agent[];
let job: string;
let lost: string;

beforeAll(async () => {
  place = new Workplace();
  dev = await startDev(place);
  hub = await connect(dev.url);
  const anna = createAgent({
    id: "anna",
    key: generateKey(),
    hub,
    manifest: { description: HOSTILE, version: HOSTILE.slice(0, 20), more: HOSTILE },
  });
  const about = {
    version: HOSTILE.slice(0, 20),
    description: HOSTILE,
    tags: [HOSTILE.slice(0, 10), HOSTILE.slice(10, 20)],
    examples: [{ description: HOSTILE, input: HOSTILE, output: { [HOSTILE]: HOSTILE } }],
    lease_seconds: 5,
  };
  anna.serve({ name: "good", ...about }, async ({ progress, ask }) => {
    await progress({ message: HOSTILE, fraction: 0.5, data: { [HOSTILE]: LINES } });
    const answer = await ask({ id: "q", text: HOSTILE });
    return { [HOSTILE]: LINES, answer };
  });
  anna.serve({ name: "bad", ...about }, () => {
    throw new WaybillError(500, LINES, { cause: new Error(HOSTILE), retryable: false });
  });
  anna.serve({ name: "no", ...about }, () => {
    throw new WaybillError(403, LINES);
  });
  anna.serve({ name: "slow", ...about }, ({ signal }) => {
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new WaybillError(499, HOSTILE)));
    });
  });
  const schema = {
    type: "object",
    title: HOSTILE,
    properties: { [HOSTILE]: { enum: [HOSTILE], description: HOSTILE } },
    required: [HOSTILE],
  };
  anna.serve({ name: "strict", input_schema: schema, output_schema: schema }, () => null);
  await anna.start();
  const bert = createAgent({ id: "bert", key: generateKey(), hub });
  await bert.start();
  agents = [anna, bert];
  const away = createAgent({ id: "away", key: generateKey(), hub });
  away.serve({ name: "good", ...about }, () => null);
  await away.start();
  await away.stop();

  const work: Omit<HandoffOptions, "capability"> = {
    input: { [HOSTILE]: LINES },
    brief: { instruction: HOSTILE, expected_output: LINES },
    messages: [{ role: "user", name: HOSTILE, content: [{ type: "text", text: LINES }] }],
    artifacts: [
      {
        name: HOSTILE,
        media_type: "text/plain",
        data: "AAAA",
        digest: digestOfBytes(new Uint8Array(3)),
      },
    ],
    metadata: { [HOSTILE]: HOSTILE },
  };
  const good: HandoffHandle = bert.handoff({ capability: "good", to: "anna", ...work });
  await good.custody;
  job = good.envelope.correlation_id;
  const of = { correlationId: job };
  for await (const { id } of good.questions) await good.answer(id, { [HOSTILE]: LINES });
  await good.result;
  for (const capability of ["bad", "no"]) {
    await bert.handoff({ capability, ...work, ...of }).result.catch(() => undefined);
  }
  const slow = bert.handoff({ capability: "slow", ...work, ...of });
  await slow.accepted;
  await slow.cancel(LINES);
  await slow.result.catch(() => undefined);
  const nobody = bert.handoff({ capability: "good", to: "away", timeoutMs: 300, ...work, ...of });
  lost = nobody.id;
  await expect(nobody.result).rejects.toMatchObject({ status: 504 });

  const key = generateKey();
  const manifest = {
    agent_id: "carl",
    description: HOSTILE,
    capabilities: [{ name: "x", ...about }],
  };
  writeFileSync(place.path("carl.json"), JSON.stringify(manifest));
  writeFileSync(place.path("carl.jws"), signManifest(manifest, key));
  writeFileSync(place.path("strange.json"), JSON.stringify({ agent_id: HOSTILE, [HOSTILE]: 1 }));
  writeFileSync(place.path("none.json"), `{"${HOSTILE}`);
  mkdirSync(place.path("config"));
  writeFileSync(place.path("config", "unknown.json"), JSON.stringify({ [HOSTILE]: HOSTILE }));
  writeFileSync(place.path("config", "wrong.json"), JSON.stringify({ port: HOSTILE }));
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop({ mode: "release" })));
  await hub.close();
  await dev.stop();
  await place.close();
});

const name = HOSTILE.replaceAll("/", "");
const commands = (): string[][] => [
  ["agents"],
  ["agents", "anna"],
  ["agents", HOSTILE],
  ["find", "good"],
  ["find", "strict", "--input", JSON.stringify({ [HOSTILE]: 1 })],
  ["find", "--words", HOSTILE],
  ["find", HOSTILE, "--tag", HOSTILE],
  ["send", "good", "1", "--to", "anna", "--answer", JSON.stringify(LINES)],
  ["send", "good", "1", "--to", "anna"],
  ["send", "bad", JSON.stringify({ [HOSTILE]: 1 })],
  ["send", "no"],
  ["send", "strict", JSON.stringify({ [HOSTILE]: 1 }), "--timeout", "300ms"],
  ["send", "strict", HOSTILE],
  ["send", HOSTILE],
  ["send", "good", "--to", HOSTILE, "--timeout", "300ms"],
  ["send", "slow", "--timeout", HOSTILE],
  ["send", "slow", "--timeout", "300ms", "--message", HOSTILE, "--brief", HOSTILE],
  ["trace", job],
  ["trace", lost],
  ["trace", HOSTILE],
  ["dead-letters", "list"],
  ["dead-letters", "show", lost],
  ["dead-letters", "show", HOSTILE],
  ["dead-letters", "replay", lost, "--timeout", "300ms"],
  ["dead-letters", "discard", HOSTILE, HOSTILE],
  ["dead-letters", "discard", lost, HOSTILE],
  ["dead-letters", HOSTILE],
  ["ledger", "export"],
  ["ledger", "export", "--from-hub"],
  ["ledger", "verify"],
  ["ledger", "verify", "strange.json"],
  ["ledger", "verify", name],
  ["ledger", "checkpoint"],
  ["backup", `${name}.db`],
  ["backup", `${name}.db`],
  ["restore", `${name}.db`, "--database", join(name, "hub.db")],
  ["restore", name],
  ["keys", "new", `${name}.key`],
  ["keys", "new", `${name}.key`],
  ["keys", "show", `${name}.key`],
  ["keys", "show", "none.json"],
  ["keys", "thumbprint", name],
  ["manifest", "check", "carl.json"],
  ["manifest", "check", "carl.jws"],
  ["manifest", "check", "strange.json"],
  ["manifest", "check", "none.json"],
  ["manifest", "sign", "carl.json", "--with", name],
  ["doctor"],
  ["doctor", "--agent", HOSTILE, "--data", name],
  ["doctor", "--hub", `http://${HOSTILE}`],
  ["doctor", "--port", HOSTILE],
  ["doctor", "--config", "config/unknown.json"],
  ["doctor", "--config", "config/wrong.json"],
  ["doctor", "--config", name],
  ["completion", "bash"],
  ["completion", HOSTILE],
  [HOSTILE],
  [`--${HOSTILE}`],
  ["help", HOSTILE],
];

/** A hub limits how often an agent attaches, and every `send` attaches. */
function as(agent: string): Record<string, string> {
  return { WAYBILL_AGENT: agent, WAYBILL_KEY: place.path(`${agent}.key`) };
}

/** The output of each command with its command line, for readable failures. */
async function said(more: string[], env: Record<string, string>): Promise<[string, Ran][]> {
  const lines = commands().map((words) => [...words, ...more]);
  const ran = await place.runAll(lines, env);
  return lines.map((words, index) => [shown(words.join(" ")).slice(0, 60), ran[index]!]);
}

function isHarmless(text: string, command: string): void {
  expect(FORBIDDEN.exec(text)?.[0].codePointAt(0)?.toString(16), command).toBeUndefined();
  expect(FOREIGN.test(text), command).toBe(false);
  expect(OWNED.test(text), command).toBe(false);
}

describe("text from strangers, files and arguments never controls a terminal", () => {
  test.each([
    ["as text", [], {}],
    ["as text in colours", [], { FORCE_COLOR: "1" }, "carla"],
    ["as JSON", ["--json"], {}, "jonas"],
    ["as JSON where colours are wanted", ["--json"], { FORCE_COLOR: "1" }, "julia"],
    ["with what went wrong in full", [], { WAYBILL_DEBUG: "1" }, "dora"],
  ])("%s", async (_, more, env, agent?: string) => {
    const all = await said(more, { ...env, ...(agent === undefined ? {} : as(agent)) });
    // The harmless part of the text is still readable.
    expect(
      all.filter(([, ran]) => `${ran.stdout}${ran.stderr}`.includes("hidden")).length,
    ).toBeGreaterThan(25);
    for (const [command, { stdout, stderr }] of all) {
      expect(stderr, command).not.toContain("the request rate of this hub");
      isHarmless(stdout, command);
      isHarmless(stderr, command);
    }
  });

  test("while watching, and in the hub's own log", async () => {
    for (const more of [[], ["--json"]]) {
      const watching = place.start(["watch", "--after", "0", ...more], { FORCE_COLOR: "1" });
      let text = "";
      while (!text.includes(lost.slice(-6)) || !/504|DEADLINE/.test(text)) {
        text += `${await watching.line()}\n`;
      }
      watching.child.kill("SIGINT");
      const { stderr } = await watching.ended();
      isHarmless(text + stderr, `watch ${more.join(" ")}`);
    }
    const own = new Workplace();
    const logging = own.start(["hub", "--port", "0", "--json", "--log-level", "debug"]);
    const { url } = JSON.parse(await logging.line()) as { url: string };
    await fetch(`${url}/v1/agents/${encodeURIComponent(HOSTILE)}`);
    await fetch(`${url}/v1/envelopes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ [HOSTILE]: HOSTILE }),
    });
    logging.child.kill("SIGTERM");
    const { stdout, stderr } = await logging.ended();
    isHarmless(stdout + stderr, "hub");
    await own.close();
  });

  test("JSON output carries the same values as before", async () => {
    const [agent] = await place.runAll([["agents", "anna", "--json"]]);
    expect(JSON.parse(agent!.stdout)).toMatchObject({ manifest: { description: HOSTILE } });
    const answer = ["--answer", JSON.stringify(LINES)];
    const [text, json] = await place.runAll(
      [
        ["send", "good", "1", "--to", "anna", ...answer],
        ["send", "good", "1", "--to", "anna", ...answer, "--json"],
      ],
      as("prudence"),
    );
    const output = { [HOSTILE]: LINES, answer: LINES };
    expect(JSON.parse(text!.stdout)).toEqual(output);
    expect(json).toMatchObject({ code: 0, stderr: "" });
    const events = json!.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(events.at(-1)).toMatchObject({ event: "result", output });
  });
});

test("visible characters stay unchanged", () => {
  for (const text of ["Frachtbrief 🧾 提单 é", "⚠️ a\tb\nc", "ﷺ हिन्दी", ""]) {
    expect(shown(text)).toBe(text);
    expect(shownJson(JSON.stringify(text))).toBe(JSON.stringify(text));
  }
  const style = styleFor(true);
  expect(shown(`${style.bad("a")}\u001b[31mb`)).toBe("\u001b[31ma\u001b[39m\ufffd[31mb");
  expect(shown(style.link("\u001b[8m"))).toBe("\u001b[34m\u001b[4m\ufffd[8m\u001b[24m\u001b[39m");
  const value = { [HOSTILE]: [LINES, "\ud83e\uddfe"] };
  const json = shownJson(JSON.stringify(value, null, 2));
  expect(JSON.parse(json)).toEqual(value);
  expect(FORBIDDEN.test(json)).toBe(false);
});
