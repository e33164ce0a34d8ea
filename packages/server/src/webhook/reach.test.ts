/// <reference types="node" />
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { WaybillError } from "@waybill/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outerOnly, placeOf, post } from "./reach.ts";
import type { ReachOptions } from "./reach.ts";

let inner: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  inner = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  // Every address of this machine, IPv4 and IPv6, so that any request that leads here is seen.
  await new Promise<void>((resolve) => inner.listen(0, "::", resolve));
  port = (inner.address() as AddressInfo).port;
});

afterAll(() => new Promise((resolve) => inner.close(resolve)));

const REQUEST = { body: "{}", authorization: "Waybill x", signal: AbortSignal.timeout(60_000) };
const CLOSED: ReachOptions = { innerInboxes: [], answerBytes: 1_024 };

async function statusOf(url: string, options: ReachOptions = CLOSED): Promise<number> {
  return post(url, REQUEST, options).then(
    () => 200,
    (error: unknown) => WaybillError.from(error).status,
  );
}

test.each([
  "127.0.0.1",
  "127.1",
  "127.255.255.254",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "2130706433",
  "017700000001",
  "0",
  "0.0.0.0",
  "１２７.０.０.１",
  "127。0。0。1",
  "%31%32%37.0.0.1",
  "localhost",
  "localhost.",
  "LOCALHOST",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[2002:7f00:1::]",
  "169.254.169.254",
  "[::ffff:169.254.169.254]",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "100.64.0.1",
])("HARDENING 29: nothing is sent to the inner address %s", async (host) => {
  const before = connections;
  for (const url of [`https://${host}:${port}/inbox`, `https://${host}./inbox`]) {
    if (!URL.canParse(url)) continue;
    expect(await statusOf(url), url).toBeGreaterThanOrEqual(403);
  }
  expect(await statusOf(`https://${host}:${port}/inbox`)).toBe(403);
  expect(connections).toBe(before);
});

test("HARDENING 29: a name that resolves to an inner address at connect time is not connected to", async () => {
  let asked = 0;
  const answers = [
    [{ address: "127.0.0.1", family: 4 }],
    [
      { address: "93.184.216.34", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ],
    [{ address: "::ffff:10.0.0.1", family: 6 }],
    [{ address: "fd00::1", family: 6 }],
  ];
  const resolve = ((_name: string, _options: object, done: (...found: unknown[]) => void) =>
    done(null, answers[asked++ % answers.length])) as never;
  const before = connections;
  for (const _answer of answers) {
    const options = { ...CLOSED, resolve };
    expect(await statusOf(`https://rebound.example:${port}/`, options)).toBe(403);
  }
  expect(asked).toBe(answers.length);
  expect(connections).toBe(before);
});

test("the addresses that were checked are the ones that are connected to", () => {
  const found = [{ address: "93.184.216.34", family: 4 }];
  const resolve = ((_name: string, _options: object, done: (...found: unknown[]) => void) =>
    done(null, found)) as never;
  const heard: unknown[] = [];
  const hear = (...given: unknown[]): void => void heard.push(given);
  outerOnly(resolve)("example.com", { all: true }, hear);
  outerOnly(resolve)("example.com", { all: false }, hear);
  expect(heard).toEqual([
    [null, found],
    [null, "93.184.216.34", 4],
  ]);
});

test("an inbox is https and without a password, unless the operator has allowed its address", () => {
  const refused = (url: string, places: readonly string[] = []) => {
    try {
      placeOf(url, places);
      return 200;
    } catch (error) {
      return (error as { status: number }).status;
    }
  };
  expect(refused("https://inbox.example/")).toBe(200);
  expect(refused("http://inbox.example/")).toBe(403);
  expect(refused("https://a:b@inbox.example/")).toBe(403);
  expect(refused("http://127.0.0.1:1/", ["127.0.0.1:1"])).toBe(200);
  expect(refused("http://127.1:1/", ["127.0.0.1"])).toBe(200);
  expect(refused("http://127.0.0.1:2/", ["127.0.0.1:1"])).toBe(403);
  expect(refused("http://a@127.0.0.1:1/", ["127.0.0.1:1"])).toBe(403);
});

test("53: a verified address is posted to again, whatever its name resolves to by then", async () => {
  const seen: string[] = [];
  const server = createHttpServer((request, response) => {
    seen.push(request.headers.host ?? "");
    response.end("ok");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const place = `inbox.example:${(server.address() as AddressInfo).port}`;
  const leadingTo = (address: string) =>
    ((_name: string, _options: object, done: (...found: unknown[]) => void) =>
      done(null, [{ address, family: 4 }])) as never;
  const options = { innerInboxes: [place], answerBytes: 1_024 };
  const first = await post(`http://${place}/`, REQUEST, {
    ...options,
    resolve: leadingTo("127.0.0.1"),
  });
  expect(first).toEqual({ text: "ok", address: "127.0.0.1" });
  // By now the name resolves to another server.
  const rebound = { ...options, resolve: leadingTo("192.0.2.1"), pinned: first.address };
  expect(await post(`http://${place}/`, REQUEST, rebound)).toEqual(first);
  expect(seen).toEqual([place, place]);
  await new Promise((resolve) => server.close(resolve));
});

test("53: an address that was contacted often enough is not connected to, under any name", async () => {
  const resolve = ((_name: string, _options: object, done: (...found: unknown[]) => void) =>
    done(null, [
      { address: "93.184.216.34", family: 4 },
      { address: "93.184.216.35", family: 4 },
      { address: "93.184.216.36", family: 4 },
    ])) as never;
  const asked: string[] = [];
  const admits = (address: string) => {
    asked.push(address);
    return asked.length < 2 ? undefined : new WaybillError(301, "Enough.");
  };
  expect(await statusOf("https://inbox.example/", { ...CLOSED, resolve, admits })).toBe(301);
  expect(asked).toEqual(["93.184.216.34", "93.184.216.35"]);
  expect(await statusOf("https://93.184.216.34/", { ...CLOSED, admits })).toBe(301);
});
