import { expect } from "vitest";
import { testWithAutogen } from "./python-fixture.ts";
import { world } from "./world-fixture.ts";

testWithAutogen("agents of two workers talk, and each gets its own answer", async () => {
  const { host: open, worker } = await world();
  const host = await open();
  const [service, one, other] = await Promise.all(
    ["service", "one", "other"].map((type) => worker(host, type)),
  );
  // Every worker counts its requests from 1.
  const asked = [one!.send("service", "from one"), other!.send("service", "from the other")];
  expect(await Promise.all(asked)).toMatchObject([
    { number: 1, answer: "from one" },
    { number: 1, answer: "from the other" },
  ]);
  expect(await service!.send("service", "to itself")).toMatchObject({ answer: "to itself" });
  expect(await one!.send("service", "raise no")).toMatchObject({ error: "no" });
});

testWithAutogen(
  "an unanswered request is an error where AutoGen's own host is silent",
  async () => {
    const { host: open, worker } = await world();
    const host = await open({ timeoutMs: 1000 });
    const [, caller] = await Promise.all(["service", "caller"].map((type) => worker(host, type)));
    expect(await caller!.send("nobody", "hello")).toMatchObject({
      error: "404 NO_CAPABILITY: No worker has an agent of type nobody, and neither has the host.",
    });
    for (const text of ["none", "unheard of", "hang on"]) {
      expect(await caller!.send("service", text)).toMatchObject({
        error: "504 DEADLINE_EXCEEDED: service has not answered in 1000 ms.",
      });
    }
  },
);

testWithAutogen(
  "a message that is too large for a worker is refused, and its connection kept",
  async () => {
    const { host: open, worker } = await world();
    const host = await open();
    const [, caller] = await Promise.all(["service", "caller"].map((type) => worker(host, type)));
    for (const text of ["x".repeat(5_000_000), "grow 5000000"]) {
      expect(await caller!.send("service", text)).toMatchObject({
        error: expect.stringMatching(/^413 TOO_LARGE/),
      });
    }
    expect(await caller!.send("service", "still there")).toMatchObject({ answer: "still there" });
  },
);

testWithAutogen("requests to a worker that dies fail", async () => {
  const { host: open, worker, event } = await world();
  const host = await open();
  const [service, caller] = await Promise.all(
    ["service", "caller"].map((type) => worker(host, type)),
  );
  const asked = caller!.send("service", "hang on");
  await service!.told("hanging");
  await service!.kill();
  expect(await asked).toMatchObject({
    error: "501 INTERRUPTED: The worker that had the agent is gone.",
  });
  expect(await caller!.send("service", "hello")).toMatchObject({
    error: expect.stringMatching(/^404 NO_CAPABILITY/),
  });
  await event("worker-gone");
  const again = await worker(host, "service");
  expect(await again.told("ready")).toEqual({ ready: "service" });
});

testWithAutogen("an agent type has one owner", async () => {
  const { host: open, worker } = await world();
  const host = await open({ agents: { translator: () => Promise.reject(new Error("unused")) } });
  await worker(host, "clerk");
  for (const [type, owner] of [
    ["clerk", /clerk is taken by [-0-9a-f]{36}/],
    ["translator", /translator is taken by an agent of this host/],
  ] as const) {
    const refused = await worker(host, type);
    expect(await refused.told("refused")).toEqual({ refused: expect.stringMatching(owner) });
  }
});

testWithAutogen(
  "published messages reach their subscribers, without an acknowledgement",
  async () => {
    const { host: open, worker, event } = await world();
    const host = await open();
    const [one, other] = await Promise.all(["one", "other"].map((type) => worker(host, type)));
    expect(await one!.send("one", "publish news flood")).toMatchObject({ answer: "published" });
    expect(await one!.told("heard")).toEqual({ heard: "flood" });
    expect(await other!.told("heard")).toEqual({ heard: "flood" });
    await one!.send("one", "publish weather rain");
    expect(await event("event-undelivered", "weather")).toBeDefined();
    // A message that is too large is not passed on: both of them still receive later ones.
    await one!.send("one", "flood 5000000");
    expect(await event("event-undelivered", "news")).toBeDefined();
    expect(await other!.send("one", "still there")).toMatchObject({ answer: "still there" });
  },
);
