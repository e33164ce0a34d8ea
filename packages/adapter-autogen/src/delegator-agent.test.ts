import { expect } from "vitest";
import { delegatorAgent } from "./delegator-agent.ts";
import { testWithAutogen } from "./python-fixture.ts";
import { serveAgent } from "./serve.ts";
import { world } from "./world-fixture.ts";

async function informed() {
  const here = await world();
  const delegator = delegatorAgent({ question: "Ask", delta: "Piece", reply: "Answer" });
  const host = await here.host({ agents: { delegator } });
  const office = here.agent("office");
  const capability = { name: "clerk", input_schema: { text: "string" } };
  const agent = { agentType: "clerk", messageType: "Ask", stop: "Stop", capability };
  office.serve(...serveAgent(host, agent));
  await office.start();
  const worker = await here.worker(host);
  const owner = here.agent("owner");
  const ask = (text: string) => owner.handoff({ capability: "clerk", input: { text } });
  return { ...here, worker, ask };
}

testWithAutogen("a served agent asks its delegator, and gets the answer", async () => {
  const { ask } = await informed();
  const handle = ask("ask Which town?");
  for await (const { id, text } of handle.questions) {
    expect(text).toBe("Which town?");
    await handle.answer(id, "Bergen");
  }
  expect((await handle.result).output).toEqual({ text: "heard Bergen" });
});

testWithAutogen("what a served agent writes reaches its delegator", async () => {
  const { ask } = await informed();
  const handle = ask("write half of it");
  const written: string[] = [];
  for await (const { text } of handle.deltas) written.push(text);
  expect(written.join("")).toBe("half of it");
});

testWithAutogen("an agent that works on no handoff has no delegator", async () => {
  const { worker } = await informed();
  expect(await worker.send("delegator", "Which town?")).toMatchObject({
    error: "404 NO_CAPABILITY: The sender works on no handoff, so it has no delegator.",
  });
});

testWithAutogen("an agent whose handoff is cancelled is told to stop", async () => {
  const { worker, ask } = await informed();
  const handle = ask("hang on");
  await worker.told("hanging");
  await handle.cancel("not wanted");
  expect(await worker.told("heard")).toEqual({ heard: `stop ${handle.id}:1` });
});
