/// <reference types="node" />
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey, parseEnvelope, readCompact } from "@waybill/protocol";
import { expect, test } from "vitest";
import { ask, openWorld, Party } from "./served-fixture.ts";
import type { ServeOptions } from "./options.ts";

test("a handoff goes from a socket to a poll and back, with its receipts in the responses", async () => {
  const world = await openWorld();
  const owner = await world.party("owner");
  const worker = await world.party("worker", [{ name: "work" }]);
  const wire = await owner.attach();
  const handoff = owner.handoff("worker");
  const { receipt } = await wire.call("submit", { envelope: handoff.text });
  expect(parseEnvelope(readCompact(receipt as string).payload)).toMatchObject({
    kind: "receipt",
    from: "hub",
    body: { status: 100 },
  });

  const polled = await worker.poll();
  expect(polled.json).toMatchObject({
    deliveries: [
      {
        type: "offer",
        handoff_id: handoff.envelope.handoff_id,
        attempt: 1,
        envelope: handoff.text,
      },
    ],
  });
  const report = { instance: worker.instance };
  const attempt = { handoff_id: handoff.envelope.handoff_id, attempt: 1 };
  const body = { ...report, taken: [attempt] };
  expect(await worker.ask("/v1/inbox", { body })).toMatchObject({ status: 204, text: "" });
  expect(await worker.submit(worker.accept(handoff))).toMatchObject({ status: 200 });
  expect(await worker.submit(worker.result(handoff))).toMatchObject({ status: 200 });

  for (const kind of ["receipt", "result"]) {
    const delivery = await wire.delivery("envelope");
    const { payload } = readCompact(delivery["envelope"]);
    expect(parseEnvelope(payload)).toMatchObject({ kind, from: "worker" });
    wire.say({ type: "seen", id: delivery["id"] as string });
  }
  const { handoff: view } = await wire.call("handoff", { id: handoff.envelope.handoff_id });
  expect(view).toMatchObject({ state: "completed", status: 200 });
  const path = `/v1/handoffs/${handoff.envelope.handoff_id}`;
  expect((await worker.ask(path)).json).toEqual(view);
  await wire.close();
  await world.close();
});

test("the well-known page names the hub and its endpoints", async () => {
  const world = await openWorld();
  const { json } = await ask(`${world.url}/.well-known/waybill`);
  expect(json).toMatchObject({
    waybill: 1,
    hub: "hub",
    api: `${world.url}/v1`,
    socket: `${world.url.replace("http", "ws")}/v1/socket`,
  });
  expect(await ask(`${world.url}/readyz`)).toMatchObject({ status: 200 });
  await world.close();
});

test("a hub that shuts down reports it at /readyz while it still serves requests", async () => {
  const world = await openWorld({ serve: { limits: { readinessGraceMs: 3_000 } } });
  const owner = await world.party("owner");
  const worker = await world.party("worker", [{ name: "work" }]);
  const wire = await worker.attach();
  expect(await ask(`${world.url}/readyz`)).toMatchObject({ status: 200 });
  const closing = world.served.close();
  expect(await ask(`${world.url}/readyz`)).toMatchObject({ status: 503 });
  expect(await ask(`${world.url}/healthz`)).toMatchObject({ status: 200 });
  const handoff = owner.handoff("worker");
  expect(await owner.submit(handoff.text)).toMatchObject({ status: 200 });
  await wire.delivery("offer");
  expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 503 });
  await closing;
  await world.close();
});

test.each<[isOpen: boolean, how: string, Partial<ServeOptions>]>([
  [true, "on loopback", {}],
  [true, "on loopback, under a name of loopback", { publicUrl: "http://localhost:7411" }],
  [false, "on loopback behind a proxy", { isBehindProxy: true }],
  [false, "on loopback under a public name", { publicUrl: "https://hub.example" }],
  [false, "on loopback under another name", { allowedHosts: ["hub.example"] }],
  [false, "on every address behind a proxy", { host: "0.0.0.0", isBehindProxy: true }],
  [true, "where the option says so", { isBehindProxy: true, isOpenRegistry: true }],
  [false, "on loopback where the option says no", { isOpenRegistry: false }],
])("strangers may read the registry: %s %s", async (isOpen, _how, serve) => {
  const world = await openWorld({ serve });
  const url = `http://127.0.0.1:${world.served.port}`;
  const owner = new Party("owner", generateKey(), url, world.hub);
  await owner.publish([]);
  for (const path of ["/v1/agents", "/v1/agents/owner", "/v1/capabilities?capability=work"]) {
    expect((await ask(url + path)).status, path).toBe(isOpen ? 200 : 401);
    const authorization = owner.proof(path, "GET");
    expect((await ask(url + path, { headers: { authorization } })).status, path).toBe(200);
  }
  await world.close();
});

test.each(["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])(
  "a request that a proxy has forwarded with %s is not from this machine",
  async (name) => {
    const world = await openWorld();
    const headers = { [name]: "203.0.113.9" };
    for (const path of ["/v1/agents", "/v1/capabilities", "/metrics"]) {
      expect((await ask(world.url + path)).status, path).toBe(200);
      expect((await ask(world.url + path, { headers })).status, path).toBe(401);
    }
    await world.close();
    const open = await openWorld({ serve: { isOpenRegistry: true } });
    expect((await ask(`${open.url}/v1/agents`, { headers })).status).toBe(200);
    await open.close();
  },
);

/** The warnings of a hub that is served with these options: in its process, and in its log. */
async function saidAloud(serve: Partial<ServeOptions>): Promise<{ aloud: string; logged: string }> {
  const logged: string[] = [];
  const warnings: string[] = [];
  const hear = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", hear);
  const logger = {
    info: () => undefined,
    warn: (_members: object, message: string) => void logged.push(message),
    error: () => undefined,
  };
  const world = await openWorld({ serve: { ...serve, logger } });
  await new Promise((resolve) => setImmediate(resolve));
  await world.close();
  process.off("warning", hear);
  return { aloud: warnings.join("\n"), logged: logged.join("\n") };
}

test("only a public hub without TLS or a proxy warns about it", async () => {
  const { aloud, logged } = await saidAloud({ host: "0.0.0.0" });
  expect(aloud).toContain("without TLS");
  expect(logged).toContain("without TLS");
  const quiet = { aloud: "", logged: "" };
  expect(await saidAloud({})).toEqual(quiet);
  expect(await saidAloud({ host: "0.0.0.0", isBehindProxy: true })).toEqual(quiet);
  const folder = mkdtempSync(join(tmpdir(), "waybill-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-days", "1", "-nodes"];
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", key];
  const command = ["req", "-x509", ...made, "-out", cert, ...subject];
  execFileSync("openssl", command, { stdio: "ignore" });
  const tls = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  rmSync(folder, { recursive: true });
  expect(await saidAloud({ host: "0.0.0.0", tls })).toEqual(quiet);
});
