/// <reference types="node" />
import { once } from "node:events";
import { expect } from "vitest";
import type { Handler } from "@waybill/agent";
import { testWithAutogen } from "./python-fixture.ts";
import { remoteAgent } from "./remote-agent.ts";
import { serveAgent } from "./serve.ts";
import { world } from "./world-fixture.ts";

/** A host where `translator` is an agent elsewhere, and the worker's `clerk` is served. */
async function staffed(handler: Handler<{ text: string }>, timeoutMs?: number) {
  const here = await world();
  const translator = here.agent("translator-001");
  translator.serve({ name: "translate", input_schema: { text: "string" } }, handler);
  await translator.start();
  const office = here.agent("office");
  const to = { capability: "translate", reply: "Answer", timeoutMs };
  const host = await here.host({ agents: { translator: remoteAgent(office, to) } });
  const capability = { name: "clerk", input_schema: { text: "string" } };
  office.serve(...serveAgent(host, { agentType: "clerk", messageType: "Ask", capability }));
  await office.start();
  const owner = here.agent("owner");
  const ask = (text: string) =>
    owner.handoff({ to: "office", capability: "clerk", input: { text } });
  return { ...here, host, owner, ask };
}

testWithAutogen("an agent elsewhere answers what an AutoGen agent sends", async () => {
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

testWithAutogen("its failure and its questions are errors", async () => {
  const { host, worker } = await staffed(({ input: { text }, ask }) => {
    if (text === "fail") throw new Error("no such language");
    return ask("Which one?");
  });
  const python = await worker(host);
  const errors = await Promise.all(["fail", "ask"].map((text) => python.send("translator", text)));
  expect(errors.map(({ error }) => error)).toEqual([
    "500 TASK_FAILED: no such language",
    "499 CANCELLED: Nobody here can answer what translator-001 asks: Which one?",
  ]);
});

testWithAutogen("its deadline is an error", async () => {
  const { host, worker } = await staffed(async ({ signal }) => {
    await once(signal, "abort");
    throw signal.reason;
  }, 1500);
  const python = await worker(host);
  expect((await python.send("translator", "rain")).error).toMatch(
    /^504 DEADLINE_EXCEEDED: The deadline .* has passed/,
  );
});

testWithAutogen("what nobody waits for any more is cancelled with its worker", async () => {
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
});

testWithAutogen("what a served agent asks of others is a part of its handoff", async () => {
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
  "a part is handed off once, though its worker is killed and runs it again",
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
