/// <reference types="node" />
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { connect } from "node:net";
import type { ServedLimits } from "../budgets.ts";
import type { ServeOptions } from "../options.ts";
import { asOperator, openWorld, Wire } from "../served-fixture.ts";
import type { World } from "../served-fixture.ts";
import { RawConnection, requestText } from "./raw-fixture.ts";

const open: { close(): unknown }[] = [];
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-unix-"));
  path = join(folder, "hub.sock");
});
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
  rmSync(folder, { recursive: true });
});

async function worldWith(
  limits: Partial<ServedLimits> = {},
  serve: Partial<ServeOptions> = {},
): Promise<World> {
  const world = await openWorld({ serve: { socketPath: path, ...serve, limits } });
  open.push(world);
  return world;
}

async function raw(url: string): Promise<RawConnection> {
  const connection = await RawConnection.open(url);
  open.push(connection);
  return connection;
}

async function wireOn(socketPath: string, headers: Record<string, string> = {}): Promise<Wire> {
  const socket = new WebSocket("ws://localhost/v1/socket", {
    headers,
    createConnection: () => connect(socketPath),
  });
  const wire = new Wire(socket);
  await once(socket, "open");
  return wire;
}

/** One request over a connection of its own. */
async function asked(url: string, ...request: Parameters<typeof requestText>): Promise<string> {
  const [line, ...headers] = request;
  const asking = await raw(url);
  asking.write(requestText(line, "Connection: close", ...headers));
  return asking.closed;
}

/** Leaves what a killed hub leaves. */
async function leaveStale(): Promise<void> {
  const script = `require("node:net").createServer().listen(process.argv[1], () => console.log("up"))`;
  const child = spawn(process.execPath, ["-e", script, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(createInterface({ input: child.stdout }), "line");
  child.kill("SIGKILL");
  await once(child, "exit");
}

describe.skipIf(process.platform === "win32")("a Unix socket (skipped: not on Windows)", () => {
  test("serves what the port serves, for the owner of the hub alone", async () => {
    const { served } = await worldWith();
    expect(served.unixUrl).toBe(`unix:${path}`);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    for (const url of [served.url, served.unixUrl!]) {
      expect(await asked(url, "/healthz")).toContain('{"status":"ok"}');
    }
    const wire = await wireOn(path);
    expect(await wire.next("challenge")).toMatchObject({ hub: "hub" });
    await wire.close();
  });

  test("is removed when the hub stops, and with it every connection", async () => {
    const { served } = await worldWith();
    const [wire, idle] = [await wireOn(path), await raw(served.unixUrl!)];
    await served.close();
    await Promise.all([wire.closed, idle.closed]);
    expect(existsSync(path)).toBe(false);
  });

  test("serves plain HTTP beside a port with a proxy's TLS, and its clients are one address", async () => {
    const { served } = await worldWith({ strangersPerAddress: 1 }, { isBehindProxy: true });
    const from = (address: string) => wireOn(path, { "x-forwarded-for": address });
    const first = await from("1.1.1.1");
    const second = await from("2.2.2.2");
    await first.closed;
    const proxied = await Wire.open(served.url, { "x-forwarded-for": "1.1.1.1" });
    for (const each of [second, proxied]) {
      await each.next("challenge");
      await each.close();
    }
  });

  test("counts its strangers together, and apart from those on loopback", async () => {
    const { served } = await worldWith({ strangersPerAddress: 2 });
    const onPort = [await raw(served.url), await raw(served.url)];
    const first = await raw(served.unixUrl!);
    const second = await raw(served.unixUrl!);
    const newcomer = await raw(served.unixUrl!);
    newcomer.write(requestText("/healthz"));
    await newcomer.until('"ok"');
    expect(await first.closed).toBe("");
    expect([...onPort, second].map(({ isOpen }) => isOpen)).toEqual([true, true, true]);
  });

  test("has the request rate of one address, and loopback another", async () => {
    const { served } = await worldWith({ burstPerAddress: 2, requestsPerAddress: 0.001 });
    const unixUrl = served.unixUrl!;
    for (let count = 0; count < 2; count++) {
      expect(await asked(unixUrl, "/healthz")).toMatch(/^HTTP\/1.1 200 /);
    }
    expect(await asked(unixUrl, "/healthz")).toMatch(/^HTTP\/1.1 429 /);
    expect(await asked(served.url, "/healthz")).toMatch(/^HTTP\/1.1 200 /);
  });

  test("WB-95 takes the proof of an operator that names it, and no port does", async () => {
    const { served } = await worldWith();
    const signed = (host: string) =>
      `Authorization: ${asOperator(served, "/v1/dead-letters", { host }).authorization}`;
    const ask = (url: string, host: string) => asked(url, "/v1/dead-letters", signed(host));
    const port = new URL(served.url).host;
    expect(await ask(served.unixUrl!, "unix:")).toContain('"dead_letters"');
    expect(await ask(served.url, port)).toContain('"dead_letters"');
    expect(await ask(served.url, "unix:")).toMatch(/^HTTP\/1.1 401 .*"unix:\\"/s);
    expect(await ask(served.unixUrl!, port)).toMatch(/^HTTP\/1.1 401 /);
  });

  test("of a killed hub is taken over", async () => {
    await leaveStale();
    expect(lstatSync(path).isSocket()).toBe(true);
    const { served } = await worldWith();
    expect(await asked(served.unixUrl!, "/healthz")).toContain('"ok"');
  });

  test("of a running hub is not taken over", async () => {
    const { served } = await worldWith();
    const second = openWorld({ serve: { socketPath: path } });
    await expect(second).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining("another hub already listens there") as string,
    });
    expect(await asked(served.unixUrl!, "/healthz")).toContain('"ok"');
  });

  test("of two hubs that start over a stale one at the same time has one of them", async () => {
    await leaveStale();
    const starting = [1, 2, 3, 4].map(async () => {
      const world = await openWorld({ serve: { socketPath: path } });
      open.push(world);
      return world;
    });
    const started = await Promise.allSettled(starting);
    const states = started.map(({ status }) => status).toSorted();
    expect(states).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
    for (const each of started) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ status: 503 });
    }
    expect(await asked(`unix:${path}`, "/healthz")).toContain('"ok"');
  });

  test("takes no place that something else has, and leaves that as it is", async () => {
    const target = join(folder, "target");
    const refused = async (what: string) => {
      await expect(openWorld({ serve: { socketPath: path } })).rejects.toMatchObject({
        status: 403,
        message: expect.stringContaining(what) as string,
      });
    };
    writeFileSync(path, "mine");
    await refused("not a socket");
    expect(readFileSync(path, "utf8")).toBe("mine");
    rmSync(path);
    mkdirSync(path);
    await refused("not a socket");
    rmSync(path, { recursive: true });
    symlinkSync(target, path);
    await refused("a symbolic link");
    expect(existsSync(target)).toBe(false);
    rmSync(path);
  });

  test("of another user is neither used nor removed", async ({ skip }) => {
    skip(process.geteuid!() !== 0, "only root can give a file to another user");
    await leaveStale();
    chownSync(path, 65_534, 65_534);
    await expect(openWorld({ serve: { socketPath: path } })).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining("another user") as string,
    });
    expect(lstatSync(path).uid).toBe(65_534);
  });

  test("has a path that the system can hold, or the hub does not start", async () => {
    const long = join(folder, "x".repeat(100));
    await expect(openWorld({ serve: { socketPath: long } })).rejects.toMatchObject({
      status: 400,
      at: "/socketPath",
      message: expect.stringMatching(/has at most 10[37] bytes on this system/) as string,
    });
    const missing = join(folder, "no", "hub.sock");
    await expect(openWorld({ serve: { socketPath: missing } })).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining(missing) as string,
    });
    const most = join(
      folder,
      "x".repeat((process.platform === "linux" ? 107 : 103) - folder.length - 1),
    );
    const world = await openWorld({ serve: { socketPath: most } });
    open.push(world);
    expect(await asked(`unix:${most}`, "/healthz")).toContain('"ok"');
  });
});
