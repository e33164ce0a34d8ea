/// <reference types="node" />
import { once } from "node:events";
import { expect } from "vitest";
import type { Handler, HandoffResult } from "@waybill/agent";
import { artifactOf, mediaPart } from "@waybill/agent/adapter";
import { testWithAutogen } from "./python-fixture.ts";
import { remoteAgent } from "./remote-agent.ts";
import type { RemoteAgentOptions } from "./remote-agent.ts";
import { serveAgent } from "./serve.ts";
import { world } from "./world-fixture.ts";

/** A host with the remote agent `translator`, which also serves the worker's agent `clerk`. */
async function staffed(
  handler: Handler<{ text: string }>,
  options: Partial<RemoteAgentOptions> = {},
) {
  const here = await world();
  const translator = here.agent("translator-001");
  translator.serve({ name: "translate", input_schema: { text: "string" } }, handler);
  await translator.start();
  const office = here.agent("office");
  const to = { capability: "translate", reply: "Answer", ...options };
  const host = await here.host({ agents: { translator: remoteAgent(office, to) } });
  const capability = { name: "clerk", input_schema: { text: "string" } };
  office.serve(...serveAgent(host, { agentType: "clerk", messageType: "Ask", capability }));
  await office.start();
  const owner = here.agent("owner");
  const ask = (text: string) =>
    owner.handoff({ to: "office", capability: "clerk", input: { text } });
  return { ...here, host, owner, ask };
}

testWithAutogen("a remote agent answers an AutoGen agent's message", async () => {
  const { host, worker } = await staffed(({ input: { text }, body }) => {
    expect(body.metadata).toEqual({ autogen: { message_type: "Ask", key: "default" } });
    if (text === "in words") return "words";
    return { text: `${text}, translated` };
  });
  const python = await worker(host);
  const texts = ["rain", "\u{1f327} \u05d2\u05e9\u05dd"];
  const answers = await Promise.all(texts.map((text) => python.send("translator", text)));
  expect(answers.map(({ answer }) => answer)).toEqual(texts.map((text) => `${text}, translated`));
  expect(await python.send("translator", "in words")).toMatchObject({ answer: "words" });
});

testWithAutogen("failures and questions of a remote agent are errors", async () => {
  const { host, worker } = await staffed(({ input: { text }, ask }) => {
    if (text === "fail") throw new Error("no such language");
    return ask("Which one?");
  });
  const python = await worker(host);
  const errors = await Promise.all(["fail", "ask"].map((text) => python.send("translator", text)));
  expect(errors.map(({ error }) => error)).toEqual([
    "500 TASK_FAILED: no such language",
    "499 CANCELLED: Nobody here can answer the question of translator-001: Which one?",
  ]);
});

testWithAutogen("files and images of a result are errors, unless code handles them", async () => {
  const notes = artifactOf("notes.txt", "text/plain", new Uint8Array([1]));
  const image = mediaPart({ type: "image", media_type: "image/png", data: "iVBORw0KGgo" });
  const handler: Handler<{ text: string }> = ({ input: { text }, result }) =>
    text === "file"
      ? result({ output: { text }, artifacts: [notes] })
      : result({ output: { text }, messages: [{ role: "assistant", content: [image] }] });
  const { host, worker } = await staffed(handler);
  const python = await worker(host);
  expect((await python.send("translator", "file")).error).toMatch(/^422 .*notes\.txt/);
  expect((await python.send("translator", "image")).error).toMatch(/^422 .*image/);
  const results: HandoffResult[] = [];
  const taking = await staffed(handler, { onResult: (result) => results.push(result) });
  const other = await taking.worker(taking.host);
  expect(await other.send("translator", "file")).toMatchObject({ answer: "file" });
  expect(results.map(({ artifacts }) => artifacts)).toEqual([[notes]]);
});

testWithAutogen("messages to one instance share a session, if that is enabled", async () => {
  const sessions: (string | undefined)[] = [];
  const { host, worker, ask } = await staffed(
    ({ envelope, input: { text } }) => {
      sessions.push(envelope.session?.id);
      return { text };
    },
    { session: true },
  );
  const python = await worker(host);
  await python.send("translator", "rain");
  await python.send("translator", "snow");
  const handle = ask("via translator sun");
  await handle.result;
  expect(sessions).toEqual(["default", "default", handle.id]);
});

testWithAutogen("an exceeded deadline is an error", async () => {
  const { host, worker } = await staffed(
    async ({ signal }) => {
      await once(signal, "abort");
      throw signal.reason;
    },
    { timeoutMs: 1500 },
  );
  const python = await worker(host);
  expect((await python.send("translator", "rain")).error).toMatch(
    /^504 DEADLINE_EXCEEDED: The deadline .* has passed/,
  );
});

testWithAutogen(
  "a request that nobody waits for any more is cancelled with its worker",
  async () => {
    const begun = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<unknown>();
    const { host, worker } = await staffed(async ({ signal }) => {
      begun.resolve();
      await once(signal, "abort");
      stopped.resolve(signal.reason);
      throw signal.reason;
    });
    const python = await worker(host);
    // The worker ends before there is an answer.
    python.send("translator", "rain").catch(() => undefined);
    await begun.promise;
    await python.kill();
    expect(await stopped.promise).toMatchObject({ status: 499 });
  },
);

testWithAutogen("a served agent's own requests are children of its handoff", async () => {
  const parents: unknown[] = [];
  const { host, worker, ask } = await staffed(({ envelope, input: { text } }) => {
    parents.push([envelope.parent_id, envelope.correlation_id]);
    if (text === "nothing") throw new Error("no such language");
    return { text: `${text}, translated` };
  });
  await worker(host);
  const handle = ask("via translator rain");
  expect((await handle.result).output).toEqual({ text: "translator: rain, translated" });
  expect(parents).toEqual([[handle.id, handle.envelope.correlation_id]]);
  await expect(ask("via translator nothing").result).rejects.toMatchObject({
    status: 424,
    message: "A part of the work ended with 500: no such language",
  });
});

testWithAutogen(
  "a child is handed off once, although its worker is killed and repeats it",
  async () => {
    let translations = 0;
    const { host, worker, ask } = await staffed(({ input: { text } }) => {
      translations++;
      return { text: `${text}, translated` };
    });
    const first = await worker(host);
    const handle = ask("then-hang translator rain");
    await first.told("hanging");
    await first.kill();
    const second = await worker(host);
    expect(await second.told("hanging")).toEqual({ hanging: "rain, translated" });
    expect(translations).toBe(1);
    await handle.cancel();
  },
);
