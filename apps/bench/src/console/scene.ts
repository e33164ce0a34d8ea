/// <reference types="node" />
import { setTimeout as sleep } from "node:timers/promises";
import { createAgent } from "@waybill/agent";
import type { Agent, Hub } from "@waybill/agent";
import { generateKey } from "@waybill/protocol";

/** What the pictures of the console show. */
export interface Scene {
  /** A handoff with parts, by several agents. */
  readonly handoff: string;
  readonly job: string;
  readonly deadLetter: string;
  /** Hands work to a person. */
  handTo(name: string): Promise<void>;
  stop(): Promise<void>;
}

const TOPICS = ["bills of lading", "demurrage", "incoterms", "free alongside ship", "salvage"];
const STEP_MS = 400;
const REVIEW_MS = 200;

/** A newsroom at work for so many seconds: an editor, writers, researchers and a reviewer. */
export async function play(hub: Hub, seconds: number): Promise<Scene> {
  const agents = new Map<string, Agent>();
  const enter = (id: string) => {
    const agent = createAgent({ id, key: generateKey(), hub });
    agents.set(id, agent);
    return agent;
  };
  for (const [name, ms] of [
    ["anna", 120],
    ["bert", 350],
  ] as const) {
    const researcher = enter(name);
    researcher.serve<{ topic: string }>(
      {
        name: "web_research",
        description: "Finds sources about a topic and summarises them.",
        reliability_sla: 0.95,
        timeout_seconds: 30,
        input_schema: {
          type: "object",
          required: ["topic"],
          properties: {
            topic: { type: "string", description: "what to look up" },
            depth: { enum: ["quick", "thorough"], description: "how far to go" },
          },
        },
        output_schema: { type: "object", properties: { summary: { type: "string" } } },
      },
      async ({ input: { topic }, progress, addUsage }) => {
        await progress({ message: `reading about ${topic}`, fraction: 0.5 });
        await sleep(ms);
        addUsage({ model: "small", requests: 1, input_tokens: 1_800, output_tokens: 240 });
        if (topic === "salvage" && name === "bert") throw new Error("The archive is closed today");
        return { summary: `All about ${topic}` };
      },
    );
  }
  const carla = enter("carla");
  carla.serve<{ about: string }>("write_article", async ({ input, handoff }) => {
    const work = { capability: "web_research", input: { topic: input.about } };
    const found = await Promise.allSettled([
      handoff({ ...work, to: "anna" }).result,
      handoff({ ...work, to: "bert" }).result,
    ]);
    const draft = await handoff({ to: "dan", capability: "review", input: { text: input.about } })
      .result;
    return { sources: found.length, verdict: draft.output };
  });
  const dan = enter("dan");
  dan.serve("review", async ({ progress }) => {
    await progress({ message: "reading the draft", fraction: 0.3 });
    await sleep(REVIEW_MS);
    return { verdict: "good" };
  });
  const emma = enter("emma");
  emma.serve("approve_budget", async ({ ask }) => ({
    approved: await ask({
      id: "budget",
      text: "May it cost 200 EUR?",
      schema: { type: "boolean" },
    }),
  }));
  for (const each of agents.values()) await each.start();
  const editor = enter("editor");
  const late = enter("archive");
  late.serve("scan_archive", () => ({}));
  await late.start();
  await late.stop();

  const write = (about: string) =>
    editor.handoff({ to: "carla", capability: "write_article", input: { about } });
  let isOver = false;
  const writing = (async () => {
    for (let count = 0; !isOver; count++) {
      // Waves: a flat line shows nothing.
      const wave = Math.round(1.4 + Math.sin(count / 6));
      for (let each = 0; each < wave; each++) {
        write(TOPICS[(count + each) % TOPICS.length]!).result.catch(() => undefined);
      }
      await sleep(STEP_MS);
    }
  })();
  await sleep(seconds * 1_000);
  const asked = editor.handoff({
    to: "emma",
    capability: "approve_budget",
    input: { article: TOPICS[0]! },
    timeoutMs: 3_600_000,
  });
  asked.result.catch(() => undefined);
  const lost = TOPICS.slice(0, 3).map((topic) =>
    editor.handoff({
      to: "archive",
      capability: "scan_archive",
      input: { topic, pages: 40 },
      timeoutMs: 1_500,
    }),
  );
  await Promise.allSettled(lost.map(({ result }) => result));
  const shown = write("salvage");
  await shown.result.catch(() => undefined);
  return {
    handoff: shown.id,
    job: shown.envelope.correlation_id,
    deadLetter: lost[0]!.id,
    async handTo(name) {
      const input = { title: "All about bills of lading", words: 1_200 };
      const brief = { instruction: "Read the article, and say whether it may be printed." };
      const work = { to: name, capability: "review", input, brief, timeoutMs: 3_600_000 };
      const handoff = editor.handoff(work);
      handoff.result.catch(() => undefined);
      await handoff.custody;
    },
    async stop() {
      isOver = true;
      await writing;
      for (const each of agents.values()) await each.stop({ mode: "abandon" });
    },
  };
}
