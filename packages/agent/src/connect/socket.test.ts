/// <reference types="node" />
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WaybillError } from "@waybill/protocol";
import { readAgentFrames, writeProblem } from "@waybill/protocol/wire";
import type { AgentFrame, HubFrame } from "@waybill/protocol/wire";
import { afterEach, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { HubSocket } from "./socket.ts";
import type { Waits } from "./socket.ts";

const CHALLENGE: HubFrame = {
  type: "challenge",
  waybill: 1,
  hub: "hub",
  domain: "A".repeat(43),
  nonce: "n",
  limits: { message_characters: 2_000, envelope_bytes: 1_000 },
};
const WAITS: Waits = { openMs: 20_000, callMs: 20_000, closeMs: 20_000 };

function at(port: number): { readonly url: string; readonly socket: string } {
  return { url: `http://127.0.0.1:${port}`, socket: `ws://127.0.0.1:${port}` };
}

const endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(endings.splice(0).map((end) => end()));
});

/** The hub's end of one connection. */
class FarEnd {
  readonly messages: (readonly AgentFrame[])[] = [];
  readonly socket: WebSocket;
  #woken: (() => void)[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("error", () => undefined);
    socket.on("message", (data: Buffer) => {
      this.messages.push(readAgentFrames(data.toString(), { characters: 1e6 }));
      for (const wake of this.#woken.splice(0)) wake();
    });
  }

  say(...frames: HubFrame[]): void {
    this.socket.send(JSON.stringify(frames.length === 1 ? frames[0] : frames));
  }

  async heard(type: AgentFrame["type"], count = 1): Promise<AgentFrame[]> {
    for (;;) {
      const found = this.messages.flat().filter((frame) => frame.type === type);
      if (found.length >= count) return found;
      await new Promise<void>((resolve) => this.#woken.push(resolve));
    }
  }
}

interface Opened {
  readonly near: HubSocket;
  readonly far: FarEnd;
}

async function opened(waits: Partial<Waits> = {}): Promise<Opened> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const connected = once(server, "connection");
  const near = new HubSocket(at(port), { ...WAITS, ...waits });
  const [socket] = (await connected) as [WebSocket];
  const far = new FarEnd(socket);
  endings.push(() => near.close());
  endings.push(() => {
    for (const each of server.clients) each.terminate();
    return new Promise((resolve) => server.close(resolve));
  });
  return { near, far };
}

async function attached(pingMs: number, waits: Partial<Waits> = {}): Promise<Opened> {
  const both = await opened(waits);
  both.far.say(CHALLENGE);
  await both.near.challenge;
  const attaching = both.near.attach("proof", 1, { receive: () => undefined });
  await both.far.heard("hello");
  both.far.say({ type: "attached", ping_ms: pingMs });
  await attaching;
  return both;
}

const HOUR = 3_600_000;

test("each answer finds its call, in any order", async () => {
  const { near, far } = await attached(HOUR);
  const first = near.call("submit", { envelope: "a" });
  const second = near.call("submit", { envelope: "b" });
  const third = near.call("submit", { envelope: "c" });
  await far.heard("call", 3);
  const problem = writeProblem(new WaybillError(409, "other work", { at: "/handoff_id" }));
  far.say(
    { type: "reply", number: 3, value: "three" },
    { type: "reply", number: 99, value: "nobody's" },
    { type: "reply", number: 1, value: "one" },
    { type: "reply", number: 2, problem },
  );
  expect(await first).toBe("one");
  expect(await third).toBe("three");
  await expect(second).rejects.toMatchObject({
    status: 409,
    message: "other work",
    at: "/handoff_id",
  });
});

test("the frames of one turn are sent as one message, up to the hub's limit", async () => {
  const { near, far } = await attached(HOUR);
  for (let index = 0; index < 5; index++) near.send({ type: "seen", id: `${index}` });
  await far.heard("seen", 5);
  expect(far.messages.map(({ length }) => length)).toEqual([1, 5]);
  far.messages.length = 0;
  for (let index = 0; index < 5; index++) near.send({ type: "seen", id: "x".repeat(900) });
  await far.heard("seen", 5);
  expect(far.messages.map(({ length }) => length)).toEqual([2, 2, 1]);
});

test("a call that is never answered fails with 503 while the connection stays open", async () => {
  const { near, far } = await attached(HOUR, { callMs: 30 });
  const calls = [near.call("find", {}), near.call("find", {})];
  for (const each of await Promise.allSettled(calls)) {
    expect(each).toMatchObject({ status: "rejected", reason: { status: 503 } });
  }
  expect(near.isOpen).toBe(true);
  const third = near.call("find", {});
  await far.heard("call", 3);
  far.say(
    { type: "reply", number: 1, value: "late" },
    { type: "reply", number: 3, value: "in time" },
  );
  expect(await third).toBe("in time");
});

test("pings are answered, and one is sent when the connection is idle", async () => {
  const { far } = await attached(100);
  far.say({ type: "ping" });
  await far.heard("pong");
  const answering = (data: Buffer): void => {
    if (data.toString().includes("ping")) far.say({ type: "pong" });
  };
  far.socket.on("message", answering);
  await far.heard("ping", 4);
  expect(far.socket.readyState).toBe(far.socket.OPEN);
});

test("a connection without pongs is closed, and its calls fail with 503", async () => {
  const { near } = await attached(20);
  const call = near.call("find", {});
  await expect(call).rejects.toMatchObject({ status: 503 });
  expect(await near.closed).toMatchObject({ status: 503 });
  await expect(near.call("find", {})).rejects.toMatchObject({ status: 503 });
});

test("connecting to a hub that accepts and sends nothing fails", async () => {
  const { near } = await opened({ openMs: 30 });
  await expect(near.challenge).rejects.toMatchObject({ status: 503 });
  expect(await near.closed).toMatchObject({ status: 503 });
});

test("a connection whose hello is not answered is closed", async () => {
  const { near, far } = await opened({ openMs: 1_500 });
  far.say(CHALLENGE);
  await near.challenge;
  await expect(near.attach("proof", 1, { receive: () => undefined })).rejects.toMatchObject({
    status: 503,
  });
});

test("the reason of a refusal reaches the agent that attaches", async () => {
  const { near, far } = await opened();
  far.say(CHALLENGE);
  await near.challenge;
  const attaching = near.attach("proof", 1, { receive: () => undefined });
  await far.heard("hello");
  far.say({ type: "closed", problem: writeProblem(new WaybillError(401, "check the clock")) });
  await expect(attaching).rejects.toMatchObject({ status: 401, message: "check the clock" });
  expect(await near.closed).toMatchObject({ status: 401 });
});

test("calls fail with 503 when their connection ends, for any reason", async () => {
  const { near, far } = await attached(HOUR);
  const call = near.call("submit", { envelope: "a" });
  far.say({ type: "closed", problem: writeProblem(new WaybillError(409, "another process")) });
  await expect(call).rejects.toMatchObject({ status: 503 });
  expect(await near.closed).toMatchObject({ status: 409 });
  const next = await attached(HOUR);
  const cut = next.near.call("submit", { envelope: "a" });
  next.far.socket.terminate();
  await expect(cut).rejects.toMatchObject({ status: 503 });
});

test.each(["{", "7", '{"type":"surprise"}', '{"type":"attached","ping_ms":0}', '{"type":"reply"}'])(
  "a connection on which the hub sends %s is closed",
  async (text) => {
    const { near, far } = await opened();
    far.socket.send(text);
    expect(await near.closed).toMatchObject({ status: 503 });
    await expect(near.challenge).rejects.toMatchObject({ status: 503 });
  },
);

test("closing sends what was queued before", async () => {
  const { near, far } = await attached(HOUR);
  near.send({ type: "seen", id: "last" });
  await near.close();
  expect(await near.closed).toBeUndefined();
  expect(await far.heard("seen")).toEqual([{ type: "seen", id: "last" }]);
});

test("closing does not wait for a hub that does not close its side", async () => {
  const { near, far } = await attached(HOUR, { closeMs: 30 });
  far.socket.pause();
  await near.close();
  expect(await near.closed).toBeUndefined();
});

test.each([
  ["a gateway that is overloaded", 502, "", 503],
  ["a hub that refuses", 403, JSON.stringify(writeProblem(new WaybillError(403, "not here"))), 403],
])("%s is reported as such", async (_, http, body, status) => {
  const server = createServer().listen(0);
  server.on("upgrade", (_request, socket) => {
    socket.end(`HTTP/1.1 ${http} No\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
  await once(server, "listening");
  endings.push(() => new Promise((resolve) => server.close(resolve)));
  const near = new HubSocket(at((server.address() as AddressInfo).port), WAITS);
  await expect(near.challenge).rejects.toMatchObject({ status });
});

test("a connection on which the hub sends another challenge instead of answering the hello is closed", async () => {
  const { near, far } = await opened({ openMs: 20_000 });
  far.say(CHALLENGE);
  await near.challenge;
  const attaching = near.attach("proof", 1, { receive: () => undefined });
  await far.heard("hello");
  far.say(CHALLENGE);
  await expect(attaching).rejects.toMatchObject({ status: 503 });
  expect(await near.closed).toMatchObject({ status: 503 });
});

test("a hub can't set the ping interval to a thousand years", async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error) => void warnings.push(warning);
  process.on("warning", warned);
  const { near, far } = await attached(3e13);
  const answer = near.call("submit", { envelope: "a" });
  await far.heard("call");
  far.say({ type: "reply", number: 1, value: "one" });
  expect(await answer).toBe("one");
  process.off("warning", warned);
  expect(warnings).toEqual([]);
  expect(far.messages.flat().filter(({ type }) => type === "ping")).toEqual([]);
});

test("41: a connection on which the hub floods small frames is closed, by their number", async () => {
  const { near, far } = await attached(HOUR);
  far.socket.send(`[${Array(100_000).fill('{"type":"ping"}').join(",")}]`);
  const reason = await near.closed;
  expect(reason).toMatchObject({ status: 503, cause: { status: 413 } });
  expect(reason?.message).toContain("sent a message that breaks the protocol");
});
