import { expect } from "vitest";
import { testWithAutogen } from "./python-fixture.ts";
import { world } from "./world-fixture.ts";

testWithAutogen("a worker that disappears silently is detected", async () => {
  const { host: open, worker, event } = await world();
  const host = await open();
  const service = await worker(host, "service");
  const caller = await worker(host, "caller");
  const asked = caller.send("service", "hang on");
  await service.told("hanging");
  service.freeze();
  expect(await asked).toMatchObject({
    error: "501 INTERRUPTED: The worker that had the agent is gone.",
  });
  expect(await event("worker-gone")).toBeDefined();
});
