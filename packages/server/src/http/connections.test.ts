/// <reference types="node" />
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectSecure } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import type { ServeOptions } from "../options.ts";
import { ask, asOperator, openWorld, Wire } from "../served-fixture.ts";
import type { World } from "../served-fixture.ts";
import type { DoorName, ServedLimits } from "../budgets.ts";
import { RawConnection, requestText } from "./raw-fixture.ts";

const open: { close(): void | Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

async function worldWith(
  limits: Partial<ServedLimits>,
  serve: Partial<ServeOptions> = {},
): Promise<World> {
  const world = await openWorld({ serve: { ...serve, limits } });
  open.push(world);
  return world;
}

async function raw(url: string): Promise<RawConnection> {
  const connection = await RawConnection.open(url);
  open.push(connection);
  return connection;
}

async function hits(url: string, budget: DoorName): Promise<number> {
  const { text } = await ask(`${url}/metrics`);
  const name = `waybill_budget_hits_total{budget="${budget}"} `;
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(name))!
      .slice(name.length),
  );
}

const UPGRADE = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

describe("a client that does not read its answers", () => {
  test("41: is closed at more than a few requests under way, without affecting others", async () => {
    const { url } = await worldWith({ condemnedMs: 100 });
    const attackers = await Promise.all(Array.from({ length: 20 }, () => raw(url)));
    for (const each of attackers) {
      each.socket.pause();
      each.write(requestText("/openapi.json").repeat(200));
    }
    expect((await ask(`${url}/healthz`)).status).toBe(200);
    while ((await hits(url, "requestsAtOnce")) < attackers.length) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const each of attackers) each.socket.resume();
    await Promise.all(attackers.map(({ closed }) => closed));
  });

  test("gets pipelined requests answered in order, if they are few", async () => {
    const { url } = await worldWith({ requestsAtOnce: 3 });
    const patient = await raw(url);
    patient.write(["/healthz", "/readyz", "/healthz"].map((path) => requestText(path)).join(""));
    await patient.until('{"status":"ok"}');
    patient.write(requestText("/healthz", "Connection: close"));
    expect((await patient.closed).match(/HTTP\/1.1 200 /g)).toHaveLength(4);
  });

  test("41: is closed if it reads nothing of an answer in time, including a stream of lines", async () => {
    const world = await worldWith({ unreadMs: 100 });
    const owner = await world.party("owner", [{ name: "work" }]);
    const input = "x".repeat(700_000);
    const wire = await owner.attach(0);
    for (let count = 0; count < 12; count++) {
      const { text } = owner.handoff("owner", { body: { capability: "work", input } });
      await wire.call("submit", { envelope: text });
    }
    for (const path of ["/v1/ledger", "/v1/watch?after=0"]) {
      const { authorization } = asOperator(world.served, path);
      const reader = await raw(world.url);
      reader.write(requestText(path, `Authorization: ${authorization}`));
      await reader.until("200 OK");
      reader.socket.pause();
      const before = await hits(world.url, "unreadMs");
      while ((await hits(world.url, "unreadMs")) === before) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    // A client with nothing to read is not closed for that.
    expect(await wire.call("manifests", { agent: "owner" })).toHaveProperty("manifests");
    await wire.close();
  });
});

describe("silence", () => {
  test("42: a connection without a request is closed", async () => {
    const { url } = await worldWith({ silentMs: 50 });
    const silent = await Promise.all(Array.from({ length: 50 }, () => raw(url)));
    await Promise.all(silent.map((each) => each.closed));
    expect(await hits(url, "silentMs")).toBe(50);
  });

  test("42: a connection that sends no further request is closed, with or without empty lines", async () => {
    const { url } = await worldWith({ idleMs: 50, headersMs: 100, requestMs: 100 });
    const [quiet, blank] = [await raw(url), await raw(url)];
    for (const each of [quiet, blank]) {
      each.write(requestText("/healthz"));
      await each.until('"ok"');
    }
    const blanks = setInterval(() => blank.write("\r\n"), 20);
    await Promise.all([quiet.closed, blank.closed]);
    clearInterval(blanks);
  });

  test("42: an upgraded connection that stays silent is closed", async () => {
    const { url } = await worldWith({ helloMs: 50, closeMs: 50 });
    const silent = await raw(url);
    silent.write(requestText("/v1/socket", ...UPGRADE));
    expect(await silent.closed).toContain("No hello arrived");
  });

  test("42: a connection that does not finish its TLS handshake, or is silent after it, is closed", async () => {
    const tls = certificate();
    const { url } = await worldWith({ silentMs: 100 }, { tls });
    const plain = await raw(url.replace("https", "http"));
    const { port } = new URL(url);
    const secure = connectSecure({ port: Number(port), host: "127.0.0.1", ca: tls.cert });
    secure.on("error", () => undefined);
    // On a busy machine it may be closed before both sides have shaken hands.
    const closed = new Promise<void>((resolve) => secure.once("close", () => resolve()));
    await Promise.all([plain.closed, closed]);
  });
});

describe("too many connections", () => {
  test("31: the stranger that keeps the hub waiting longest makes room for the next one", async () => {
    const { url } = await worldWith({ strangersPerAddress: 3 });
    const [first, ...others] = [await raw(url), await raw(url), await raw(url)];
    const newcomer = await raw(url);
    newcomer.write(requestText("/healthz"));
    await newcomer.until('"ok"');
    expect(await first.closed).toBe("");
    expect(others.map(({ isOpen }) => isOpen)).toEqual([true, true]);
  });

  test("31: strangers of all addresses together have a share too", async () => {
    const { url } = await worldWith({ strangersPerHub: 2 });
    const [first] = [await raw(url), await raw(url)];
    const newcomer = await raw(url);
    newcomer.write(requestText("/healthz"));
    await newcomer.until('"ok"');
    await first.closed;
  });

  test("42: strangers take no connection from an agent that is attached, or that polls", async () => {
    const world = await worldWith({ strangersPerAddress: 4, strangersPerHub: 4 });
    const worker = await world.party("worker", [{ name: "work" }]);
    const poller = await world.party("poller", [{ name: "work" }]);
    const wire = await worker.attach();
    const polling = await raw(world.url);
    const path = `/v1/inbox?instance=${poller.instance}&credit=1&wait_seconds=60`;
    polling.write(requestText(path, `Authorization: ${poller.proof(path, "GET")}`));
    while (world.hub.operator.instanceOf("poller") === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (let count = 0; count < 40; count++) await raw(world.url);
    const owner = await world.party("owner");
    for (const to of ["worker", "poller"]) {
      expect((await owner.submit(owner.handoff(to).text)).status).toBe(200);
    }
    await wire.delivery("offer");
    await polling.until('"type":"offer"');
    await wire.close();
  });

  test("the connections of an agent are limited, and its oldest quiet one makes room", async () => {
    const world = await worldWith({ connectionsPerAgent: 2 });
    const owner = await world.party("owner");
    const path = "/v1/dead-letters";
    const lines: RawConnection[] = [];
    for (let count = 0; count < 3; count++) {
      const line = await raw(world.url);
      line.write(requestText(path, `Authorization: ${owner.proof(path, "GET")}`));
      await line.until('"dead_letters"');
      lines.push(line);
    }
    await lines[0]!.closed;
    expect(lines.slice(1).map(({ isOpen }) => isOpen)).toEqual([true, true]);
  });

  test("behind a proxy sockets count for the address that the proxy names", async () => {
    const { url } = await worldWith({ strangersPerAddress: 1 }, { isBehindProxy: true });
    const from = (address: string) => Wire.open(url, { "x-forwarded-for": `6.6.6.6, ${address}` });
    const [first, other] = [await from("1.1.1.1"), await from("2.2.2.2")];
    const second = await from("1.1.1.1");
    await first.closed;
    for (const each of [second, other]) {
      await each.next("challenge");
      await each.close();
    }
    const [one, two] = [await from("2001:db8:0:1::1"), await from("2001:db8:0:1:ffff::2")];
    await one.closed;
    await two.close();
  });
});

describe("unusual requests", () => {
  test.each([
    ["HEAD /healthz", 404],
    ["OPTIONS /healthz", 404],
    ["TRACE /healthz", 404],
    ["DELETE /v1/agents/owner", 404],
    ["GET http://127.0.0.1:1/healthz", 200],
    ["GET http://evil.example/healthz", 403],
  ])("%s is %i", async (line, status) => {
    const { url } = await worldWith({});
    const asking = await raw(url);
    asking.write(requestText(line, "Connection: close"));
    expect(await asking.closed).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  test("HTTP/1.0 is answered, and CONNECT is cut", async () => {
    const { url } = await worldWith({});
    const old = await raw(url);
    old.write("GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
    expect(await old.closed).toMatch(/^HTTP\/1.1 200 .*"ok"/s);
    const tunnel = await raw(url);
    tunnel.write(requestText("CONNECT example.com:443"));
    expect(await tunnel.closed).toBe("");
  });

  test("100-continue is sent for a body that is acceptable, and for no other", async () => {
    const { url } = await worldWith({});
    const expecting = (length: number) =>
      requestText(
        "POST /v1/envelopes",
        "Expect: 100-continue",
        "Content-Type: application/json",
        "Connection: close",
        `Content-Length: ${length}`,
      );
    const fits = await raw(url);
    fits.write(expecting(2));
    await fits.until("100 Continue");
    fits.write("{}");
    expect(await fits.closed).toContain("HTTP/1.1 400 ");
    const long = await raw(url);
    long.write(expecting(100_000_000));
    await long.until("HTTP/1.1 413 ");
    expect(long.received).not.toContain("100 Continue");
  });

  test.each([
    ["GET /healthz", 400],
    ["POST /no/such/path", 413],
    ["POST /v1/envelopes", 413],
    ["POST /v1/dead-letters/x/discard", 401],
  ])(
    "an endless body for %s is refused with %i, and its connection closed",
    async (line, status) => {
      const { url } = await worldWith({});
      const endless = await raw(url);
      const chunk = `4000\r\n${" ".repeat(0x4000)}\r\n`;
      let isOpen = true;
      void endless.closed.then(() => (isOpen = false));
      endless.write(
        requestText(line, "Content-Type: application/json", "Transfer-Encoding: chunked"),
      );
      while (isOpen) {
        endless.write(chunk);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await endless.closed).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    },
  );

  test("headers that are too long are 413", async () => {
    const { url } = await worldWith({});
    const long = await raw(url);
    long.write(requestText("/healthz", `X-Long: ${"x".repeat(20_000)}`));
    expect(await long.closed).toMatch(/^HTTP\/1.1 413 /);
  });
});

function certificate(): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), "waybill-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", key];
  const command = ["req", "-x509", "-days", "1", "-nodes", ...made, "-out", cert, ...subject];
  execFileSync("openssl", command, { stdio: "ignore" });
  const files = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  rmSync(folder, { recursive: true });
  return files;
}
