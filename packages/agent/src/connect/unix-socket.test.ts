/// <reference types="node" />
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newOperatorToken } from "@waybill/protocol/wire";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AgentLogEvent } from "../log.ts";
import { connect } from "./connect.ts";
import { Network } from "./served-fixture.ts";

let folder: string;
let network: Network | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-unix-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await network?.close();
  network = undefined;
  rmSync(folder, { recursive: true });
});

const text = (part: string): string => expect.stringContaining(part) as string;

function served(): Promise<Network> {
  return Network.open({ socketPath: join(folder, "hub.sock") });
}

test.each(["unix:x/hub.sock", "unix:", "unix://", "unix:/", "unix:/srv/"])(
  "%s is refused with an example of a valid address",
  async (given) => {
    await expect(connect(given)).rejects.toMatchObject({
      status: 400,
      at: "/url",
      message: text('for example "unix:/srv/waybill/hub.sock"'),
    });
  },
);

describe.skipIf(process.platform === "win32")("a Unix socket (skipped: not on Windows)", () => {
  test("carries work with large files, progress and a question, and outlives a restart of the hub", async () => {
    network = await served();
    const file = new Uint8Array(600_000).map((_, index) => index % 251);
    const url = `unix://${join(folder, "hub.sock")}`;
    const worker = await network.agent("worker", url);
    const finish = Promise.withResolvers<void>();
    worker.serve("work", async ({ artifacts: [given], progress, ask, result }) => {
      await progress({ fraction: 0.5 });
      const answer = await ask("More?");
      await finish.promise;
      const bytes = (await given!.bytes()).toReversed();
      return result({ output: answer, artifacts: [{ name: "back", bytes }] });
    });
    await worker.start();
    const events: AgentLogEvent["event"][] = [];
    const owner = await network.agent("owner", url, ({ event }) => events.push(event));
    const handoff = owner.handoff({
      capability: "work",
      artifacts: [{ name: "given", bytes: file }],
      timeoutMs: 60_000,
    });
    for await (const question of handoff.questions) {
      await handoff.answer(question.id, "yes");
      break;
    }
    const port = await network.down();
    expect(existsSync(join(folder, "hub.sock"))).toBe(false);
    await network.up(network.key, network.store, port);
    finish.resolve();
    const { output, artifacts } = await handoff.result;
    expect(output).toBe("yes");
    expect(Buffer.from(await artifacts[0]!.bytes()).equals(file.toReversed())).toBe(true);
    expect(events.filter((event) => event === "attached")).toHaveLength(2);
    await handoff.acknowledge();
    expect(await network.violations()).toEqual([]);
  });

  test("that is not there, or that nobody listens on, is a 503 that says so", async () => {
    const missing = `unix:${join(folder, "hub.sock")}`;
    await expect(connect(missing, { timeoutMs: 100 })).rejects.toMatchObject({
      status: 503,
      message: text(`No hub answers at ${missing}: there is no such socket. Start the hub`),
    });
    writeFileSync(join(folder, "hub.sock"), "");
    await expect(connect(missing, { timeoutMs: 100 })).rejects.toMatchObject({
      status: 503,
      message: text("nothing listens there"),
    });
    const long = `unix:/${"x".repeat(200)}`;
    await expect(connect(long, { timeoutMs: 100 })).rejects.toMatchObject({ status: 503 });
  });

  test("with any characters in its path is connected to", async () => {
    const odd = join(folder, "a b%20:c?d#é");
    mkdirSync(odd);
    network = await Network.open({ socketPath: join(odd, "hub.sock") });
    const hub = await network.connect(`unix:${odd}/hub.sock`);
    expect(hub.domain).toBe(network.hub.domain);
    await (await network.agent("anna", `unix:${odd}/hub.sock`)).start();
  });

  test("is what connect uses of a folder, before the URL", async () => {
    network = await served();
    writeFileSync(join(folder, "hub.url"), "http://127.0.0.1:9\n");
    const hub = await connect(undefined, { folder });
    expect(hub.domain).toBe(network.hub.domain);
    await hub.close();
    vi.stubEnv("WAYBILL_DATA", folder);
    await (await connect()).close();
    vi.stubEnv("WAYBILL_HUB", network.url);
    vi.stubEnv("WAYBILL_DATA", join(folder, "nothing"));
    await (await connect()).close();
  });

  test("of a folder appears while connect waits", async () => {
    const waits: unknown[] = [];
    const connecting = connect(undefined, {
      folder,
      log: ({ error }) => void waits.push(error),
    });
    const waited = new Promise<void>((resolve) => {
      const look = (): void => void (waits.length > 0 ? resolve() : setImmediate(look));
      look();
    });
    await waited;
    expect(waits[0]).toMatchObject({ status: 503, message: text(`data folder ${folder}`) });
    network = await served();
    await (await connecting).close();
  });

  test("that is a link, a file, or another user's is not used", async ({ skip }) => {
    network = await served();
    const [socket, elsewhere] = [join(folder, "hub.sock"), join(folder, "other.sock")];
    renameSync(socket, elsewhere);
    const refused = { status: 403, message: text("is not a socket of this user") };
    symlinkSync(elsewhere, socket);
    await expect(connect(undefined, { folder })).rejects.toMatchObject(refused);
    rmSync(socket);
    writeFileSync(socket, "");
    await expect(connect(undefined, { folder })).rejects.toMatchObject(refused);
    rmSync(socket);
    renameSync(elsewhere, socket);
    await (await connect(undefined, { folder })).close();
    skip(process.geteuid!() !== 0, "only root can act as another user");
    chmodSync(folder, 0o755);
    chownSync(socket, 1, 1);
    process.seteuid!(2);
    try {
      await expect(connect(undefined, { folder, timeoutMs: 100 })).rejects.toMatchObject(refused);
    } finally {
      process.seteuid!(0);
    }
  });
});

test("a folder without a socket has its hub at the URL, and only that hub", async () => {
  network = await Network.open();
  writeFileSync(join(folder, "hub.url"), `${network.url}\n`);
  await (await connect(undefined, { folder })).close();
  writeFileSync(join(folder, "operator.token"), newOperatorToken(network.hub.domain));
  await (await connect(undefined, { folder })).close();
  writeFileSync(join(folder, "operator.token"), newOperatorToken("A".repeat(43)));
  await expect(connect(undefined, { folder })).rejects.toMatchObject({
    status: 401,
    message: text("THIS IS NOT THE PINNED HUB"),
  });
});
