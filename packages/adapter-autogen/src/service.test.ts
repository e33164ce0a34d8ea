/// <reference types="node" />
import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import { serveAgent } from "./serve.ts";
import { wirePeer } from "./wire-fixture.ts";
import { world } from "./world-fixture.ts";

const json = (value: unknown) => ({
  data_type: "Ask",
  data_content_type: "application/json",
  data: Buffer.from(JSON.stringify(value)),
});

test("a client without an identity, or with another's, is refused by every method", async () => {
  const here = await world();
  const host = await here.host();
  const details = "client-id is missing, or is that of a worker that is connected.";
  expect(await wirePeer(host, undefined).ended).toBe(details);
  wirePeer(host, "one");
  await here.event("worker-connected");
  expect(await wirePeer(host, "one").ended).toBe(details);
  await expect(
    wirePeer(host, undefined).call("RegisterAgent", { type: "clerk" }),
  ).rejects.toMatchObject({
    details: "client-id is not that of a connected worker.",
  });
});

test("an unreadable request is answered", async () => {
  const here = await world();
  const asked: unknown[] = [];
  const host = await here.host({
    agents: {
      parrot: ({ message, sender }) => {
        asked.push([message, sender]);
        return Promise.resolve(message);
      },
    },
  });
  const peer = wirePeer(host, "one");
  await here.event("worker-connected");
  const target = { type: "parrot", key: "default" };
  const common = { request_id: "7", target, metadata: {} };
  const answerTo = async (request: object) => {
    peer.send({ request: { ...common, payload: null, ...request } });
    return (await peer.next()).response;
  };
  expect(await answerTo({})).toMatchObject({
    request_id: "7",
    error: "400 MALFORMED: The request contains no message.",
  });
  expect(await answerTo({ target: null })).toMatchObject({ error: expect.stringMatching(/^404/) });
  for (const payload of [
    { ...json(1), data_content_type: "application/x-protobuf" },
    { ...json(1), data: Buffer.from("{") },
    { ...json(1), data: Buffer.from([0xff]) },
    json(JSON.parse('{"__proto__":1}')),
  ]) {
    expect(await answerTo({ payload })).toMatchObject({ error: expect.stringMatching(/^400/) });
  }
  const source = { type: "clerk", key: "k" };
  expect(await answerTo({ source, payload: json({ text: "hello" }) })).toMatchObject({
    error: "",
    payload: json({ text: "hello" }),
  });
  expect(asked).toEqual([[{ type: "Ask", value: { text: "hello" } }, source]]);
});

test("an agent gets the trace of its handoff, and its answer is validated", async () => {
  const here = await world();
  const host = await here.host();
  const office = here.agent("office");
  const offer = { agentType: "clerk", messageType: "Ask", capability: { name: "clerk" } };
  office.serve(...serveAgent(host, { ...offer, key: ({ correlationId }) => correlationId }));
  await office.start();
  const peer = wirePeer(host, "one");
  await here.event("worker-connected");
  await peer.call("RegisterAgent", { type: "clerk" });
  const subscription = { id: "1", prefix: { topic_type_prefix: "clerk:", agent_type: "clerk" } };
  await peer.call("AddSubscription", { subscription });
  expect(await peer.call("GetSubscriptions", {})).toMatchObject({ subscriptions: [subscription] });
  const handle = here.agent("owner").handoff({
    capability: "clerk",
    input: { text: "hello" },
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    tracestate: "vendor=1",
  });
  for (const [attempt, answer] of [
    [1, { payload: { ...json(1), data: Buffer.from("NaN") } }],
    [2, { payload: json({ text: "hello" }) }],
  ] as const) {
    const { request } = await peer.next();
    expect(request).toMatchObject({
      request_id: `${handle.id}:${attempt}`,
      target: { type: "clerk", key: handle.envelope.correlation_id },
      payload: json({ text: "hello" }),
      metadata: {
        traceparent: expect.stringContaining("0af7651916cd43dd8448eb211c80319c"),
        tracestate: "vendor=1",
      },
    });
    peer.send({ response: { request_id: request!.request_id, ...answer } });
  }
  expect((await handle.result).output).toEqual({ text: "hello" });
  await peer.call("RemoveSubscription", { id: "1" });
  expect(await peer.call("GetSubscriptions", {})).toEqual({ subscriptions: [] });
});

test("input that can't be a message is a 422, and no worker is asked", async () => {
  const here = await world();
  const host = await here.host();
  const office = here.agent("office");
  const offer = { agentType: "clerk", messageType: "Ask", capability: { name: "clerk" } };
  office.serve(...serveAgent(host, offer));
  await office.start();
  const { result } = here.agent("owner").handoff({ capability: "clerk", input: "in words" });
  await expect(result).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining("Ask is a message with members"),
  });
});

test("a host that closes ends open requests, and a taken port is an error", async () => {
  const here = await world();
  const host = await here.host();
  await expect(here.host({ port: Number(host.address.split(":")[1]) })).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining(`Workers can't be let in at ${host.address}`),
  });
  const peer = wirePeer(host, "one");
  await here.event("worker-connected");
  await peer.call("RegisterAgent", { type: "clerk" });
  const asked = host.ask({
    target: { type: "clerk", key: "k" },
    message: { type: "Ask", value: {} },
    run: "run",
    requestId: "run:1",
    signal: new AbortController().signal,
  });
  expect((await peer.next()).request).toMatchObject({ request_id: "run:1" });
  await Promise.all([expect(asked).rejects.toMatchObject({ status: 501 }), host.close()]);
  expect(await peer.ended).toBeTypeOf("string");
});
