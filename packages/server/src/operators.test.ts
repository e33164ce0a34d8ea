/// <reference types="node" />
import { memoryStore, openHub } from "@waybill/hub";
import { digestOf, generateKey, newId } from "@waybill/protocol";
import { newOperatorToken, operatorTokenDomain } from "@waybill/protocol/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Hosts } from "./access/hosts.ts";
import type { HostRules } from "./access/hosts.ts";
import { rawAsk } from "./hardening-fixture.ts";
import { serveHub } from "./serve-hub.ts";
import { ask, asOperator, openWorld } from "./served-fixture.ts";
import type { Answer, OperatorOver, World } from "./served-fixture.ts";

const PATH = "/v1/dead-letters?limit=1";
const FIND = "/v1/capabilities/find";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const asked = (path: string, headers: object, more: object = {}): Promise<Answer> =>
  ask(world.url + path, { headers: { ...headers }, ...more });

describe("an operator's request", () => {
  test("is accepted once, and is 401 when an eavesdropper replays it", async () => {
    const headers = asOperator(world.served, PATH);
    expect((await asked(PATH, headers)).status).toBe(200);
    const again = await asked(PATH, headers);
    expect(again).toMatchObject({ status: 401 });
    expect(again.json.detail).toContain("already used");
  });

  test.each<[string, OperatorOver]>([
    ["another path", { path: "/v1/dead-letters" }],
    ["another method", { method: "POST" }],
    ["a minute and more ago", { at: Date.now() - 120_000 }],
    ["a minute and more ahead", { at: Date.now() + 120_000 }],
    ["a body that is not there", { bodyDigest: digestOf("{}") }],
    ["another port of this machine", { host: "127.0.0.1:1" }],
    ["another machine", { host: "hub.example.org" }],
    ["an address that is none", { host: "http://x" }],
  ])("that is signed for %s is 401", async (_, over) => {
    expect((await asked(PATH, asOperator(world.served, PATH, over))).status).toBe(401);
  });

  test("signs for its body, which can't be changed in transit", async () => {
    const body = '{"capability":"work"}';
    const more = { method: "POST", body };
    const headers = () => asOperator(world.served, FIND, { body });
    expect((await asked(FIND, headers(), more)).status).toBe(200);
    const other = { method: "POST", body: '{"capability":"else"}' };
    expect((await asked(FIND, headers(), other)).status).toBe(401);
    const without = asOperator(world.served, FIND, { method: "POST" });
    expect((await asked(FIND, without, more)).status).toBe(401);
  });

  test("with the token of another hub, or another token of this one, is 401", async () => {
    const other = await openWorld();
    const domain = operatorTokenDomain(world.served.operatorToken)!;
    expect(operatorTokenDomain(other.served.operatorToken)).not.toBe(domain);
    for (const token of [other.served.operatorToken, newOperatorToken(domain)]) {
      const answer = await asked(PATH, asOperator(world.served, PATH, { token }));
      expect(answer.status).toBe(401);
      expect(answer.text).not.toContain(token.split(".")[1]);
    }
    await other.close();
  });

  test("without a host header is accepted at the address of the connection", async () => {
    const headers = asOperator(world.served, PATH, { host: undefined });
    expect((await asked(PATH, headers)).status).toBe(200);
  });
});

describe("a token in a request", () => {
  test("is 401 in every form, even the right one, and the answer says what to do instead", async () => {
    const { operatorToken: token } = world.served;
    for (const authorization of [
      `Bearer ${token}`,
      `bearer ${token}`,
      `BEARER  ${token}`,
      "Bearer",
      "Bearer x",
      `Waybill-Operator ${token}`,
      token,
    ]) {
      for (const path of [PATH, "/metrics", "/healthz"]) {
        const answer = await asked(path, { authorization });
        expect(answer.status, `${path} ${authorization}`).toBe(401);
        expect(answer.text).not.toContain(token.split(".")[1]);
      }
    }
    const { json } = await asked(PATH, { authorization: `Bearer ${token}` });
    expect(json.detail).toContain("Waybill-Operator");
    expect(json.detail).toContain("replace it");
  });

  test("for the metrics gives access to those, and nothing else", async () => {
    const metricsToken = "a token for the metrics";
    const open = await openWorld({ serve: { isBehindProxy: true, metricsToken } });
    const as = async (path: string, token: string, method = "GET") =>
      (await ask(open.url + path, { method, headers: { authorization: `Bearer ${token}` } }))
        .status;
    expect(await as("/metrics", metricsToken)).toBe(200);
    expect(await as("/metrics", `${metricsToken}x`)).toBe(401);
    expect(await as("/metrics", open.served.operatorToken)).toBe(401);
    for (const path of [PATH, "/v1/agents", "/v1/ledger", "/metrics?x", "/healthz"]) {
      expect(await as(path, metricsToken), path).toBe(401);
    }
    expect((await ask(`${open.url}/metrics`)).status).toBe(401);
    await open.close();
  });
});

describe("the token of a hub", () => {
  test("is kept in the store if none is given, and one of an older form is replaced", async () => {
    const store = memoryStore();
    await store.saveSetting("operator token", "x".repeat(43));
    const hub = await openHub({ store, key: generateKey() });
    const first = await serveHub({ hub, store });
    expect(operatorTokenDomain(first.operatorToken)).toBeDefined();
    await first.close();
    const second = await serveHub({ hub, store });
    expect(second.operatorToken).toBe(first.operatorToken);
    await second.close();

    const own = newOperatorToken(operatorTokenDomain(first.operatorToken)!);
    const third = await serveHub({ hub, store, operatorToken: own });
    expect(third.operatorToken).toBe(own);
    expect(await store.setting("operator token")).toBe("");
    const path = PATH;
    const status = async (token: string) =>
      (await ask(third.url + path, { headers: asOperator(third, path, { token }) })).status;
    expect(await status(own)).toBe(200);
    expect(await status(first.operatorToken)).toBe(401);
    await third.close();
    await hub.close();
  });

  test("must be one of its domain", async () => {
    const store = memoryStore();
    const hub = await openHub({ store, key: generateKey() });
    for (const operatorToken of ["x", newOperatorToken("x".repeat(43))]) {
      await expect(serveHub({ hub, store, operatorToken })).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining("newOperatorToken"),
      });
    }
    await hub.close();
  });
});

describe("the address in an operator's proof", () => {
  const here = { from: "127.0.0.1", localAddress: "127.0.0.1", localPort: 7411 };
  const there = { from: "10.0.0.9", localAddress: "10.0.0.5", localPort: 7411 };
  const isAt = (rules: Partial<HostRules>, host: string, ends = here) =>
    new Hosts({ host: "127.0.0.1", ...rules }).isAt(host, ends);

  test("is any loopback name with the port, for clients on this machine only", () => {
    for (const host of ["127.0.0.1:7411", "localhost:7411", "LOCALHOST:7411", "[::1]:7411"]) {
      expect(isAt({}, host), host).toBe(true);
      expect(isAt({ host: "0.0.0.0" }, host), host).toBe(true);
      expect(isAt({ host: "0.0.0.0" }, host, there), host).toBe(false);
    }
    expect(isAt({}, "localhost:7411", { ...here, from: "::ffff:127.0.0.1" })).toBe(true);
    expect(isAt({ host: "0.0.0.0" }, "0.0.0.0:7411")).toBe(true);
    for (const host of ["127.0.0.1:7412", "localhost", "example.org:7411", "", "x y", "a@b:7411"]) {
      expect(isAt({}, host), host).toBe(false);
    }
  });

  test("is the address of the connection, for clients elsewhere", () => {
    const wide = { host: "0.0.0.0" };
    expect(isAt(wide, "10.0.0.5:7411", there)).toBe(true);
    expect(isAt(wide, "10.0.0.5:7411", { ...there, localAddress: "::ffff:10.0.0.5" })).toBe(true);
    expect(isAt(wide, "10.0.0.6:7411", there)).toBe(false);
    expect(isAt(wide, "10.0.0.5:80", there)).toBe(false);
    expect(isAt({ host: "::" }, "[fd00::5]:7411", { ...there, localAddress: "fd00::5" })).toBe(
      true,
    );
    expect(isAt({ host: "hub.lan" }, "hub.lan:7411", there)).toBe(true);
    expect(isAt({ host: "hub.lan" }, "hub.lan", { ...there, localPort: 443 })).toBe(true);
  });

  test("is one of the configured names", () => {
    const named = {
      publicUrl: "https://hub.example.org",
      allowedHosts: ["Other.org", "tunnel:9000"],
    };
    expect(isAt(named, "hub.example.org", there)).toBe(true);
    expect(isAt(named, "hub.example.org:8443", there)).toBe(false);
    expect(isAt(named, "other.org:1234", there)).toBe(true);
    expect(isAt(named, "tunnel:9000", there)).toBe(true);
    expect(isAt(named, "tunnel:9001", there)).toBe(false);
    expect(isAt(named, "sub.other.org", there)).toBe(false);
  });

  test("a configured name with a port is also accepted as a Host", async () => {
    const open = await openWorld({ serve: { allowedHosts: ["tunnel:9000"] } });
    const status = async (host: string) => (await rawAsk(open.url, { headers: { host } })).status;
    expect(await status("tunnel:9000")).toBe(200);
    expect(await status("other:9000")).toBe(403);
    const headers = asOperator(open.served, PATH, { host: "tunnel:9000", id: newId() });
    const relayed = await rawAsk(open.url, {
      path: PATH,
      headers: { ...headers, host: "tunnel:9000" },
    });
    expect(relayed.status).toBe(200);
    await open.close();
  });
});
