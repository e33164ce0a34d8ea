import { parseEnvelope, readCompact } from "@waybill/protocol";
import type { Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { interceptCommits, settled, World } from "./world-fixture.ts";

test("a copy of a child that is processed after the parent has ended gets the first answer", async () => {
  const world = await World.open();
  const owner = world.agent("owner");
  const goOn = Promise.withResolvers<void>();
  interceptCommits(world.store, async (commit, make) => {
    if (commit.handoff?.parentId != null && commit.handoff.version === 1) await goOn.promise;
    return make(commit);
  });
  let answers: PromiseSettledResult<string>[] = [];
  const twice: Hub = {
    ...world.hub,
    async submit(text) {
      const envelope = parseEnvelope(readCompact(text).payload);
      if (envelope.kind !== "handoff") return world.hub.submit(text);
      const both = Promise.allSettled([world.hub.submit(text), world.hub.submit(text)]);
      await settled();
      const cancelled = handoff.cancel();
      await settled();
      goOn.resolve();
      await cancelled;
      answers = await both;
      return world.hub.submit(text);
    },
  };
  const worker = world.agent("worker", { hub: twice });
  worker.serve("work", async (work) => {
    await work.handoff({ to: "owner", capability: "part" }).custody;
    return "done";
  });
  await worker.start();
  owner.serve("part", () => "done");
  await owner.start();
  const handoff = owner.handoff({ to: "worker", capability: "work", timeoutMs: 60_000 });
  await expect(handoff.result).rejects.toMatchObject({ status: 499 });
  await settled();
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
});
