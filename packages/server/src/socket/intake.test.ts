import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import { HUB_LIMITS } from "@waybill/hub";
import type { WaybillError } from "@waybill/protocol";
import { Budgets } from "../budgets.ts";
import type { Connection } from "../http/connections.ts";
import { RateLimits } from "../access/rate-limits.ts";
import { FairBytes } from "../access/fair-bytes.ts";
import { FairScheduler } from "../access/fair-scheduler.ts";
import { Intake } from "./intake.ts";
import { Reading } from "./reading.ts";
import type { ReadingOptions } from "./reading.ts";
import type { AgentSocket } from "./agent-socket.ts";

/** The side of a WebSocket that an intake sees. */
class Line extends EventEmitter {
  readonly bufferedAmount = 0;
  isPaused = false;
  pongs = 0;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  pong(): void {
    this.pongs++;
  }
}

/** What receives the frames: each is a call that is answered by the test, or no call. */
class Receiver implements Pick<
  AgentSocket,
  "agent" | "calls" | "receive" | "framesProcessed" | "end"
> {
  agent: string | undefined;
  areCalls = false;
  /** The frames of each processed piece. */
  readonly pieces: number[] = [];
  readonly failures: number[] = [];
  readonly #answers: ((status: number) => void)[] = [];

  get calls(): number {
    return this.#answers.length;
  }

  receive({ length }: readonly unknown[]): Promise<number>[] {
    this.pieces.push(length);
    if (!this.areCalls) return [];
    return Array.from({ length }, () => new Promise((answer) => this.#answers.push(answer)));
  }

  answer(count: number): void {
    for (const answer of this.#answers.splice(0, count)) answer(200);
  }

  framesProcessed(): undefined {
    return undefined;
  }

  end(reason: WaybillError | undefined): void {
    this.failures.push(reason!.status);
  }
}

interface Opened {
  readonly line: Line;
  readonly intake: Intake;
  readonly reading: Reading;
  readonly receiver: Receiver;
  readonly budgets: Budgets;
  /** The frames of each processed piece. */
  readonly pieces: number[];
  readonly failures: number[];
  /** The last reported number of bytes that the hub holds for it. */
  readonly held: { cuttable: number; pending: number };
}

interface OpenOptions {
  readonly budgets?: Budgets;
  readonly turnMs?: number;
  readonly largeMessages?: FairBytes;
}

function open({
  budgets = new Budgets(),
  turnMs = 10,
  largeMessages = new FairBytes(budgets.limits.largeBytesPerHub, () => undefined),
}: OpenOptions = {}): Opened {
  const tolls = new RateLimits(budgets);
  const address = "127.0.0.1";
  const line = new Line();
  const held = { cuttable: 0, pending: 0 };
  const hold = (_connection: unknown, now: typeof held) => {
    Object.assign(held, now);
    return false;
  };
  const socket = line as unknown as WebSocket;
  const connection = { address } as Connection;
  const connections = { hold } as unknown as ReadingOptions["connections"];
  const reading = new Reading(socket, { connections, connection });
  const receiver = new Receiver();
  const intake = new Intake(socket, {
    limits: HUB_LIMITS,
    budgets,
    tolls,
    turns: new FairScheduler(turnMs, () => undefined),
    largeMessages,
    connection,
    toll: tolls.enter({ address, bytes: 0, isSigned: false, isTrusted: false }),
    reading,
    agentSocket: receiver as unknown as AgentSocket,
  });
  const { pieces, failures } = receiver;
  return { line, intake, reading, receiver, budgets, pieces, failures, held };
}

/** As from the network: the bytes first, then the message that ends with them. */
function send({ line, intake }: Opened, text: string, more = 0): void {
  const data = Buffer.from(text);
  const head = data.length < 126 ? 6 : data.length < 65_536 ? 8 : 14;
  intake.received(head + data.length + more);
  line.emit("message", data, false);
}

const pings = (count: number): string =>
  JSON.stringify(Array.from({ length: count }, () => ({ type: "ping" })));

const nextTurn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

test("41: after a failure a socket is read a little further, at a bounded cost", () => {
  const { line, failures } = open();
  for (let count = 0; count < 65; count++) line.emit("ping", Buffer.alloc(1));
  // The peer's close frame may come next, and ends the connection at once if it is read.
  expect(failures).toEqual([401]);
  expect(line.isPaused).toBe(false);
  for (let count = 0; count < 64; count++) line.emit("ping", Buffer.alloc(1));
  expect(failures).toEqual([401]);
  expect(line.pongs).toBe(64);
  expect(line.isPaused).toBe(true);
});

test("41: a frame after a failure costs a request, or a call if an agent sends it", () => {
  const opened = open({
    budgets: new Budgets({ requestsPerAddress: 1, burstPerAddress: 3 }),
  });
  for (let count = 0; count < 65; count++) opened.line.emit("ping", Buffer.alloc(1));
  // The socket has cost one, too.
  for (const isPaused of [false, false, true]) {
    opened.line.emit("ping", Buffer.alloc(1));
    expect(opened.line.isPaused).toBe(isPaused);
  }
  const budgets = new Budgets({ callsPerAgent: 1, burstPerAgent: 3 });
  const known = open({ budgets });
  known.receiver.agent = "anna";
  known.line.emit("message", Buffer.alloc(1), true);
  expect(known.failures).toEqual([400]);
  for (let count = 0; count < 3; count++) known.line.emit("pong", Buffer.alloc(1));
  expect(budgets.hitsOf("callsPerAgent")).toBe(0);
  known.line.emit("pong", Buffer.alloc(1));
  expect(budgets.hitsOf("callsPerAgent")).toBe(1);
});

test("41: bytes after a failure are charged, and large messages are not read to their end", () => {
  const budgets = new Budgets({ bytesPerAddress: 1, burstBytesPerAddress: 30_000 });
  const { line, intake, failures } = open({ budgets });
  for (let count = 0; count < 65; count++) line.emit("ping", Buffer.alloc(1));
  expect(failures).toEqual([401]);
  intake.received(16 * 1024);
  expect(line.isPaused).toBe(false);
  intake.received(1);
  expect(line.isPaused).toBe(true);
  // Its address pays for it, up to its budget.
  intake.received(30_000 - 16 * 1024 - 1);
  expect(budgets.hitsOf("bytesPerAddress")).toBe(0);
  intake.received(1_000);
  expect(budgets.hitsOf("bytesPerAddress")).toBe(1);
});

test("41: a message with many frames is processed in pieces, each in a turn of its own", async () => {
  const opened = open({ turnMs: 1e-9 });
  const { receiver, pieces, held } = opened;
  receiver.agent = "anna";
  send(opened, pings(1_000));
  send(opened, pings(1));
  const counts: number[] = [];
  while (pieces.length < 33) {
    await nextTurn();
    counts.push(pieces.length);
  }
  // However much there is, a turn takes one piece, in order.
  expect(pieces).toEqual([...Array.from({ length: 31 }, () => 32), 8, 1]);
  expect(counts.every((count, index) => count - (counts[index - 1] ?? 0) <= 2)).toBe(true);
  await nextTurn();
  expect(held).toEqual({ cuttable: 0, pending: 0 });
});

test("bytes of complete messages do not count as the beginning of another one", async () => {
  const opened = open();
  const { intake, line, reading, receiver, held } = opened;
  receiver.agent = "anna";
  for (const text of [pings(1), pings(100), pings(1).padEnd(70_000)]) {
    send(opened, text);
    await nextTurn();
    expect(held.cuttable).toBe(0);
  }
  // The first 500 bytes of a fragmented message, and a ping between its fragments.
  send(opened, pings(3), 500);
  intake.received(6 + 4);
  line.emit("ping", Buffer.alloc(4));
  reading.account();
  expect(held.cuttable).toBe(500);
});

test("41: the calls under way on a socket are bounded, and further frames wait here", async () => {
  const budgets = new Budgets({ callsAtOnce: 40, itemsPerTurn: 32 });
  const opened = open({ budgets });
  const { line, receiver, pieces } = opened;
  receiver.agent = "anna";
  receiver.areCalls = true;
  send(opened, pings(200));
  await nextTurn();
  await nextTurn();
  expect(pieces).toEqual([32, 32]);
  expect(line.isPaused).toBe(true);
  expect(budgets.hitsOf("callsAtOnce")).toBe(1);
  receiver.answer(24);
  await nextTurn();
  expect(pieces).toEqual([32, 32]);
  receiver.answer(1);
  await nextTurn();
  expect(pieces).toEqual([32, 32, 32]);
});

/** A message of so many bytes, with one call. */
const large = (bytes: number): string =>
  JSON.stringify({ type: "call", number: 1, call: "find", params: { query: "x".repeat(bytes) } });

test("24: large messages are parsed while there is room for their bytes, until their calls are answered", async () => {
  const largeMessages = new FairBytes(200_000, () => undefined);
  const opened = Array.from({ length: 6 }, (_each, index) => {
    const each = open({ largeMessages });
    each.receiver.agent = `agent-${index}`;
    each.receiver.areCalls = true;
    send(each, large(100_000));
    return each;
  });
  const parsed = () => opened.filter(({ pieces }) => pieces.length > 0).length;
  await nextTurn();
  expect(parsed()).toBe(2);
  for (const [index, each] of opened.slice(0, 4).entries()) {
    each.receiver.answer(1);
    await nextTurn();
    expect(parsed()).toBe(3 + index);
  }
});

test("24: a small message needs no room", async () => {
  const largeMessages = new FairBytes(1, () => undefined);
  const [heavy, light] = [open({ largeMessages }), open({ largeMessages })];
  heavy.receiver.agent = "anna";
  heavy.receiver.areCalls = true;
  send(heavy, large(100_000));
  light.receiver.agent = "berta";
  send(light, pings(1));
  await nextTurn();
  expect(light.pieces).toEqual([1]);
});

test("24: a socket that closes or fails leaves its room to others", async () => {
  const largeMessages = new FairBytes(1, () => undefined);
  const [working, closing, failing, next] = ["anna", "berta", "carla", "dora"].map((agent) => {
    const opened = open({ largeMessages });
    opened.receiver.agent = agent;
    return opened;
  });
  working!.receiver.areCalls = true;
  for (const each of [working, closing]) send(each!, large(100_000));
  send(failing!, "?".repeat(100_000));
  send(next!, large(100_000));
  for (const each of [closing, working]) {
    each!.reading.close();
    each!.line.emit("close");
  }
  await nextTurn();
  expect(next!.pieces).toEqual([]);
  // Its call is still under way in the hub.
  working!.receiver.answer(1);
  await nextTurn();
  await nextTurn();
  expect(closing!.pieces).toEqual([]);
  expect(failing!.failures).toEqual([400]);
  expect(next!.pieces).toEqual([1]);
});
