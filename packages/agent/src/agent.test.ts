import { expect, test } from "vitest";
import { World } from "./world-fixture.ts";

test("a handoff is submitted, accepted by its recipient, and returns its result", async () => {
  const world = await World.open();
  const researcher = world.agent("researcher");
  researcher.serve<{ query: string }>("web_research", async ({ input, progress }) => {
    await progress({ message: "looking", fraction: 0.5 });
    return { answer: `all about ${input.query}` };
  });
  await researcher.start();
  const editor = world.agent("editor");
  const handoff = editor.handoff({
    to: "researcher",
    capability: "web_research",
    input: { query: "waybills" },
  });
  const custody = await handoff.custody;
  expect(custody).toMatchObject({ by: "hub" });
  world.received(custody.text);
  const accepted = await handoff.accepted;
  expect(accepted).toMatchObject({ by: "researcher", attempt: 1 });
  const result = await handoff.result;
  expect(result.output).toEqual({ answer: "all about waybills" });
  const progress = [];
  for await (const each of handoff.progress) progress.push(each);
  expect(progress).toEqual([{ message: "looking", fraction: 0.5, by: "researcher", attempt: 1 }]);
  await handoff.acknowledge();
  const view = await world.server.handoff(handoff.id, "editor");
  expect(view).toMatchObject({ state: "completed", isAcknowledged: true });
  await editor.stop();
  await researcher.stop();
  await world.down();
  await world.up();
  expect(await world.kinds(handoff.id)).toContain("receipt 101");
  expect(await world.check()).toMatchObject({ holds: true, handoffs: 1, violations: [] });
  expect(world.errors).toEqual([]);
});
