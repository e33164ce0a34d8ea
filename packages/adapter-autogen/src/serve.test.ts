import type { CapabilityInput } from "@waybill/protocol";
import { artifactOf, mediaPart, textMessage } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import { expect } from "vitest";
import type { AutogenHostOptions } from "./host.ts";
import { testWithAutogen } from "./python-fixture.ts";
import { serveAgent } from "./serve.ts";
import { world } from "./world-fixture.ts";

const CLERK: CapabilityInput = {
  name: "clerk",
  input_schema: { text: "string" },
  output_schema: { type: "object" },
};

async function served(capability: Partial<CapabilityInput> = {}, options?: AutogenHostOptions) {
  const here = await world();
  const host = await here.host(options);
  const office = here.agent("office");
  const offer = { agentType: "clerk", messageType: "Ask", capability: { ...CLERK, ...capability } };
  office.serve(...serveAgent(host, offer));
  await office.start();
  const owner = here.agent("owner");
  const ask = (text: string, more: object = {}) =>
    owner.handoff({ to: "office", capability: "clerk", input: { text }, ...more });
  return { ...here, host, owner, ask };
}

testWithAutogen("an agent of a worker does the work of a handoff", async () => {
  const { host, worker, ask } = await served();
  await worker(host);
  expect((await ask("good morning").result).output).toEqual({ text: "good morning" });
  const texts = ["\u{1f4ee} \u05e9\u05dc\u05d5\u05dd", "x".repeat(500_000), '"\\\n'];
  for (const text of texts) expect((await ask(text).result).output).toEqual({ text });
});

testWithAutogen("a task as text becomes the only text member of its message", async () => {
  const { host, worker, owner } = await served({ takes: "conversation" });
  await worker(host);
  const content = [{ type: "text", text: "said, not filled in" }];
  const handle = owner.handoff({ capability: "clerk", messages: [{ role: "user", content }] });
  expect((await handle.result).output).toEqual({ text: "said, not filled in" });
});

testWithAutogen("concurrent handoffs are not mixed up", async () => {
  const { host, worker, ask } = await served();
  await worker(host);
  const texts = Array.from({ length: 30 }, (_, index) => `number ${index}`);
  const results = await Promise.all(texts.map((text) => ask(text).result));
  expect(results.map(({ output }) => output)).toEqual(texts.map((text) => ({ text })));
});

testWithAutogen("the agent sees which handoff it works on", async () => {
  const { host, worker, ask } = await served();
  await worker(host);
  const handle = ask("who");
  const { text } = (await handle.result).output as { text: string };
  expect(text).toBe(`clerk ${handle.id} ${handle.id}:1`);
});

testWithAutogen("handoffs of one session reach the same instance of the agent", async () => {
  const { host, worker, ask, agent } = await served();
  const first = await worker(host);
  const told = async (session: string | undefined) => {
    const { output, session: state } = await ask("count me", { session }).result;
    return [(output as { text: string }).text, state];
  };
  expect(await told("trip")).toEqual(["1 me", "begun"]);
  expect(await told("trip")).toEqual(["2 me", "continued"]);
  expect(await told("other")).toEqual(["1 me", "begun"]);
  expect(await told(undefined)).toEqual(["1 me", undefined]);
  const stranger = agent("stranger").handoff({
    to: "office",
    capability: "clerk",
    input: { text: "count me" },
    session: "trip",
  });
  expect((await stranger.result).output).toEqual({ text: "1 me" });
  // The state of an instance is lost with its worker.
  await first.kill();
  await worker(host);
  expect(await told("trip")).toEqual(["1 me", "lost"]);
});

testWithAutogen(
  "parts that a message of AutoGen can't hold are refused, with the reason",
  async () => {
    const { owner } = await served({ takes: "conversation" });
    const image = mediaPart({ type: "image", media_type: "image/png", data: "iVBORw0KGgo" });
    const words = [textMessage("user", "Look.")];
    const input = { text: "Look." };
    const given: [PortableWork, RegExp][] = [
      [
        { input, artifacts: [artifactOf("notes.txt", "text/plain", new Uint8Array([1]))] },
        /notes\.txt/,
      ],
      [{ messages: [{ role: "user", content: [...words[0]!.content, image] }] }, /image/],
      [{ input, messages: words }, /history/],
    ];
    for (const [work, reason] of given) {
      const { result } = owner.handoff({ capability: "clerk", ...work });
      await expect(result).rejects.toMatchObject({
        status: 422,
        message: expect.stringMatching(reason),
      });
    }
  },
);

testWithAutogen("an error that an agent raises is its failure", async () => {
  const { host, worker, ask } = await served();
  await worker(host);
  await expect(ask("raise no such file").result).rejects.toMatchObject({
    status: 500,
    message: "no such file",
  });
  await expect(ask("raise").result).rejects.toMatchObject({
    status: 500,
    message: "clerk raised an error without a message.",
  });
  await expect(ask("nan").result).rejects.toMatchObject({ status: 520 });
});

testWithAutogen(
  "a request to a silent agent ends at the deadline, and the worker continues",
  async () => {
    const { host, worker, ask } = await served();
    await worker(host);
    const silent = ["none", "unheard of", "hang on"].map((text) => ask(text, { timeoutMs: 2500 }));
    for (const { result } of silent) await expect(result).rejects.toMatchObject({ status: 504 });
    expect((await ask("still there").result).output).toEqual({ text: "still there" });
  },
);

testWithAutogen("a cancelled handoff is no longer waited for", async () => {
  const { host, worker, ask, event } = await served();
  const python = await worker(host);
  const handle = ask("until cancelled");
  await python.told("hanging");
  await handle.cancel("not wanted");
  await expect(handle.result).rejects.toMatchObject({ status: 499 });
  python.release();
  expect(await event("response-unclaimed")).toMatchObject({ requestId: `${handle.id}:1` });
});

testWithAutogen("a missing worker is reported", async () => {
  const { ask } = await served({ max_attempts: 2 }, { workerWithinMs: 10 });
  await expect(ask("anybody").result).rejects.toMatchObject({
    message: expect.stringContaining("No worker provides agents of type clerk."),
  });
});

testWithAutogen("a request of a worker that is killed goes to the next one", async () => {
  const { host, worker, ask, hub, owner } = await served();
  const first = await worker(host);
  const handle = ask("until it is released");
  await first.told("hanging");
  await first.kill();
  const second = await worker(host);
  await second.told("hanging");
  second.release();
  expect(await handle.result).toMatchObject({ output: { text: "until it is released" } });
  const view = await hub.handoff(handle.id, owner.id);
  expect(view!.attempts).toMatchObject([{ closed: "interrupted", status: 501 }, { status: 200 }]);
});

testWithAutogen("a worker that is killed and does not come back is reported", async () => {
  const { host, worker, ask } = await served({ max_attempts: 2 }, { workerWithinMs: 10 });
  const python = await worker(host);
  const handle = ask("hang on");
  await python.told("hanging");
  await python.kill();
  await expect(handle.result).rejects.toMatchObject({ status: 503 });
});
