/// <reference types="node" />
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { verifyLedger, readLedger } from "@waybill/hub";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDev, Workplace } from "./waybill-fixture.ts";

let place: Workplace;
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place.close());

describe("a hub that is asked to stop", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "stops by %s, and continues at the next start",
    async (signal) => {
      const dev = await startDev(place);
      expect(existsSync(place.path(".waybill", "hub.url"))).toBe(true);
      expect((await dev.stop(signal)).code).toBe(0);
      expect(existsSync(place.path(".waybill", "hub.url"))).toBe(false);
      const again = await startDev(place);
      expect(again.operator_token).toBe(dev.operator_token);
      expect((await again.stop()).code).toBe(0);
      expect(await place.json(["ledger", "verify"])).toMatchObject({ holds: true });
    },
  );

  test("keeps everything after a SIGKILL", async () => {
    const dev = await startDev(place);
    await dev.stop("SIGKILL");
    const again = await startDev(place);
    expect(again.operator_token).toBe(dev.operator_token);
    await again.stop();
  });
});

describe("a hub refuses to start", () => {
  test("on a port in use", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await place.run(["dev", "--port", String(port)]);
    server.close();
    expect(code).toBe(3);
    expect(stderr).toContain(
      `can't listen on 127.0.0.1, port ${port}: another program already listens there`,
    );
    expect((await place.run(["dev", "--port", "70000"])).stderr).toContain(
      "--port must be a port from 0 to 65535",
    );
  });

  test("with a database but not its key", async () => {
    await (await startDev(place)).stop();
    const key = place.path(".waybill", "hub.key");
    renameSync(key, `${key}.lost`);
    const { code, stderr } = await place.run(["dev", "--port", "0"]);
    expect(code).toBe(4);
    expect(stderr).toContain("Restore the key from a copy");
    expect(existsSync(key)).toBe(false);
  });

  test("with only half of the TLS files", async () => {
    const { code, stderr } = await place.run(["hub", "--port", "0", "--tls-cert", "cert.pem"]);
    expect(code).toBe(2);
    expect(stderr).toContain("both --tls-cert and --tls-key");
    const none = await place.run([
      "hub",
      "--port",
      "0",
      "--tls-cert",
      "no.pem",
      "--tls-key",
      "no.pem",
    ]);
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no.pem can't be read"),
    });
    writeFileSync(place.path("bad.pem"), "not a certificate");
    const bad = await place.run([
      "hub",
      "--port",
      "0",
      "--tls-cert",
      "bad.pem",
      "--tls-key",
      "bad.pem",
    ]);
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining("PEM") });
  });
});

describe("hub", () => {
  test("warns that it is open, and logs neither content nor keys", async () => {
    const hub = place.start(["hub", "--host", "0.0.0.0", "--port", "0", "--json"]);
    const { operator_token: token } = JSON.parse(await hub.line()) as { operator_token: string };
    expect((await place.run(["agents"])).code).toBe(0);
    hub.child.kill("SIGTERM");
    const { code, stderr } = await hub.ended();
    expect(code).toBe(0);
    expect(stderr).toContain("WARNING: others can reach this hub, and it has no TLS.");
    expect(stderr).toContain('"msg":"request"');
    expect(stderr).not.toContain(token);
  });

  test("behind a proxy, or on loopback, it warns of nothing", async () => {
    for (const words of [
      ["--host", "0.0.0.0", "--behind-proxy", "--public-url", "https://hub.example.org"],
      [],
    ]) {
      const hub = place.start(["hub", "--port", "0", "--json", ...words]);
      await hub.line();
      hub.child.kill("SIGTERM");
      expect((await hub.ended()).stderr).not.toContain("WARNING");
    }
  });

  test("serves TLS itself", async () => {
    const files = ["-keyout", place.path("key.pem"), "-out", place.path("cert.pem")];
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=127.0.0.1",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        ...files,
      ],
      { stdio: "ignore" },
    );
    const hub = place.start([
      "hub",
      "--port",
      "0",
      "--json",
      "--tls-cert",
      "cert.pem",
      "--tls-key",
      "key.pem",
    ]);
    const { url } = JSON.parse(await hub.line()) as { url: string };
    expect(url).toMatch(/^https:/);
    const env = { NODE_EXTRA_CA_CERTS: place.path("cert.pem") };
    expect((await place.run(["agents"], { env })).code).toBe(0);
    expect((await place.run(["send", "nothing"], { env })).stderr).toContain(
      "Nobody here has published",
    );
    const untrusted = await place.run(["agents"]);
    expect(untrusted).toMatchObject({ code: 3, stderr: expect.stringContaining("certificate") });
    hub.child.kill("SIGTERM");
    expect((await hub.ended()).code).toBe(0);
  });
});

describe("ledger", () => {
  test("is exported from the file and from the hub, and verified from both", async () => {
    const dev = await startDev(place);
    const exported = await place.run(["ledger", "export"]);
    expect(exported.code).toBe(0);
    expect((await verifyLedger(readLedger([exported.stdout]))).holds).toBe(true);
    expect((await place.run(["ledger", "export", "--from-hub"])).stdout).toBe(exported.stdout);
    const after = await place.run(["ledger", "export", "--after", "1"]);
    expect(after.stdout).toBe(exported.stdout.split("\n").slice(1).join("\n"));
    await dev.stop();
    expect((await place.run(["ledger", "verify", "-"], { input: exported.stdout })).code).toBe(0);
  });

  test("fails verification if truncated, changed or rewritten", async () => {
    const dev = await startDev(place);
    const exported = await place.run(["ledger", "export"]);
    const checkpoint = await place.run(["ledger", "checkpoint"]);
    writeFileSync(place.path("signed.jws"), checkpoint.stdout);
    await dev.stop();

    writeFileSync(place.path("short.ndjson"), `${exported.stdout.split("\n")[0]}\n`);
    expect((await place.run(["ledger", "verify", "short.ndjson"])).code).toBe(0);
    const short = await place.run([
      "ledger",
      "verify",
      "short.ndjson",
      "--checkpoint",
      "signed.jws",
    ]);
    expect(short).toMatchObject({ code: 8, stdout: expect.stringContaining("is missing") });
    writeFileSync(
      place.path("changed.ndjson"),
      exported.stdout.replace(/"at":"\d{4}/, '"at":"2001'),
    );
    const changed = await place.run(["ledger", "verify", "changed.ndjson", "--json"]);
    expect(changed.code).toBe(8);
    expect(JSON.parse(changed.stdout)).toMatchObject({
      holds: false,
      sequence: 1,
      fault: "chain_broken",
    });
    const signed = ["ledger", "verify", "changed.ndjson", "--checkpoint", "signed.jws"];
    expect((await place.run(signed)).code).toBe(8);
    const other = new Workplace();
    await (await startDev(other)).stop();
    const foreign = (await other.run(["ledger", "export"])).stdout;
    await other.close();
    writeFileSync(place.path("foreign.ndjson"), foreign);
    const against = ["--checkpoint", "signed.jws"];
    const anew = await place.run(["ledger", "verify", "foreign.ndjson", ...against]);
    expect(anew).toMatchObject({ code: 5, stderr: expect.stringContaining("never had") });
    const none = await place.run(["ledger", "verify", "none.ndjson"]);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("does not exist") });
  });
});

describe("watch", () => {
  const publish = (id: string) =>
    place.run(["send", "nothing", "--agent", id, "--key", `${id}.key`]);

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "resumes when its hub is back after %s, and prints each entry once",
    async (signal) => {
      const dev = await startDev(place);
      const watching = place.start(["watch", "--after", "0", "--json"]);
      const seen: number[] = [];
      const until = async (agent: string) => {
        for (;;) {
          const line = JSON.parse(await watching.line()) as Record<string, unknown>;
          seen.push(line["sequence"] as number);
          if ((line["manifest"] as { agent_id?: string } | undefined)?.agent_id === agent) return;
        }
      };
      await publish("anna");
      await until("anna");
      await dev.stop(signal);
      // The first event after the restart happens before anybody watches.
      const again = await startDev(place, ["--port", new URL(dev.url).port]);
      await publish("bert");
      await until("bert");
      expect(seen).toEqual(seen.map((_, index) => index + 1));
      watching.child.kill("SIGINT");
      expect(await watching.ended()).toMatchObject({ code: 0, stderr: "" });
      await again.stop();
    },
  );
});

describe("backup and restore", () => {
  test("of a running hub, and restored in its place", async () => {
    const dev = await startDev(place);
    const { sequence } = (await place.json(["backup", "b/one.db"])) as { sequence: number };
    expect(sequence).toBeGreaterThan(0);
    expect(await place.run(["backup", "b/one.db"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("never overwrites"),
    });
    expect(await place.run(["restore", "b/one.db", "--replace"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("one owner"),
    });
    await dev.stop();
    expect(await place.run(["restore", "b/one.db"])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("--replace"),
    });
    const restored = (await place.json(["restore", "b/one.db", "--replace"])) as {
      moved_to: string;
      sequence: number;
    };
    expect(restored.sequence).toBe(sequence);
    expect(existsSync(restored.moved_to)).toBe(true);
    const again = await startDev(place);
    expect(again.operator_token).toBe(dev.operator_token);
    await again.stop();
  });
});

describe("doctor", () => {
  const findings = async () => {
    const { code, stdout } = await place.run(["doctor", "--json"]);
    const told = JSON.parse(stdout) as {
      findings: { name: string; verdict: string; todo?: string }[];
      settings: Record<string, unknown>[];
    };
    const verdict = (name: string) => told.findings.find((each) => each.name === name)!;
    return { code, verdict, settings: told.settings };
  };

  test("in an empty folder, with a hub, and after damage", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise<unknown>((resolve) => server.close(resolve));
    writeFileSync(place.path("waybill.json"), JSON.stringify({ port }));
    const empty = await findings();
    expect(empty.code).toBe(0);
    expect(empty.verdict("hub")).toMatchObject({
      verdict: "warning",
      todo: expect.stringContaining("waybill dev"),
    });

    const dev = await startDev(place);
    const well = await findings();
    expect(well.code).toBe(0);
    for (const name of ["Node", "folder", "secrets", "database", "hub", "clock", "token"]) {
      expect(well.verdict(name)).toMatchObject({ verdict: "ok" });
    }
    expect(JSON.stringify(well.settings)).not.toContain(dev.operator_token);

    chmodSync(place.path(".waybill", "hub.key"), 0o644);
    writeFileSync(place.path(".waybill", "operator.token"), "another one\n", { mode: 0o600 });
    const bad = await findings();
    expect(bad.code).toBe(8);
    expect(bad.verdict("secrets")).toMatchObject({
      verdict: "wrong",
      todo: expect.stringContaining("chmod 600"),
    });
    expect(bad.verdict("token")).toMatchObject({ verdict: "wrong" });
    await dev.stop();

    writeFileSync(
      place.path(".waybill", "hub.db"),
      readFileSync(place.path(".waybill", "hub.db")).subarray(0, 8192),
    );
    expect((await findings()).verdict("database")).toMatchObject({
      verdict: "wrong",
      todo: expect.stringContaining("restore"),
    });
  });

  test("shows the source of each value", async () => {
    writeFileSync(
      place.path("waybill.json"),
      '{"port":7001,"host":"127.0.0.2","hub":"http://127.0.0.1:7002"}',
    );
    const { stdout } = await place.run(["doctor", "--port", "7003", "--json"], {
      env: { WAYBILL_HOST: "127.0.0.3" },
    });
    const { settings } = JSON.parse(stdout) as { settings: Record<string, unknown>[] };
    const of = (name: string) => settings.find((each) => each["name"] === name);
    expect(of("port")).toMatchObject({ value: 7003, source: "flag", from: "--port" });
    expect(of("host")).toMatchObject({
      value: "127.0.0.3",
      source: "environment",
      from: "WAYBILL_HOST",
    });
    expect(of("hub")).toMatchObject({ source: "file", from: place.path("waybill.json") });
    expect(of("agent")).toMatchObject({ value: "operator", source: "default" });
  });
});
