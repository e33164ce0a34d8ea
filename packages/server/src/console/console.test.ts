/// <reference types="node" />
import { generateKey, newId, signManifest } from "@waybill/protocol";
import { discardPath, newOperatorToken } from "@waybill/protocol/wire";
import { afterEach, expect, test } from "vitest";
import {
  ask,
  asConsole,
  asOperator,
  codeOf,
  consoleSession,
  openWorld,
} from "../served-fixture.ts";
import type { World } from "../served-fixture.ts";
import { serveHub } from "../serve-hub.ts";

let world: World;
afterEach(() => world.close());

const HEAD = "/v1/ledger/checkpoint";

test("a link signs in once, and the session proves each of its requests", async () => {
  world = await openWorld();
  const code = codeOf(world.served);
  const sessions = `${world.url}/v1/console/sessions`;
  const opened = await ask(sessions, { body: { code } });
  expect(opened.json).toMatchObject({ role: "operator" });
  expect(await ask(sessions, { body: { code } })).toMatchObject({
    status: 401,
    json: { detail: expect.stringContaining("already used") },
  });
  const headers = asConsole(world.served, opened.json as never, HEAD);
  expect((await ask(world.url + HEAD, { headers })).status).toBe(200);
  expect((await ask(world.url + HEAD, { headers })).status).toBe(401);
});

test("a session keeps its role, its path and its body: nothing in a proof can be changed", async () => {
  world = await openWorld();
  const session = await consoleSession(world.served, "reader");
  const body = { role: "operator" };
  const path = "/v1/console/links";
  const over = { body, method: "POST" };
  const refused = await ask(world.url + path, {
    body,
    headers: asConsole(world.served, session, path, over),
  });
  expect(refused).toMatchObject({
    status: 403,
    json: { detail: expect.stringContaining("only read") },
  });
  const claims = JSON.parse(Buffer.from(session.session, "base64url").toString()) as object;
  const raised = Buffer.from(JSON.stringify({ ...claims, role: "operator" })).toString("base64url");
  const forged = asConsole(world.served, { ...session, session: raised }, path, over);
  expect((await ask(world.url + path, { body, headers: forged })).status).toBe(401);
  const other = asConsole(world.served, session, "/v1/agents");
  expect((await ask(world.url + HEAD, { headers: other })).status).toBe(401);
  const scheme = asConsole(world.served, session, HEAD).authorization.split(".").slice(1).join(".");
  const asToken = { authorization: `Waybill-Operator ${scheme}` };
  expect((await ask(world.url + HEAD, { headers: asToken })).status).toBe(401);
});

test("a reader's session enrols no key, makes no operators' agent, and acts on no dead letter", async () => {
  world = await openWorld();
  const session = await consoleSession(world.served, "reader");
  const key = generateKey();
  const agent = "operator-of-a-reader";
  const manifest = signManifest({ agent_id: agent, capabilities: [] }, key);
  const id = newId();
  const requests: readonly (readonly [method: string, path: string, body: object])[] = [
    ["POST", "/v1/allowed", { who: key.kid }],
    ["PUT", `/v1/agents/${agent}`, { manifest }],
    ["POST", "/v1/groups/operators/members", { add: [agent] }],
    ["POST", discardPath(id), { reason: "old" }],
    ["POST", `/v1/dead-letters/${id}/replay`, { envelope: manifest }],
    ["POST", "/v1/envelopes", { envelope: manifest }],
  ];
  for (const [method, path, body] of requests) {
    const headers = asConsole(world.served, session, path, { method, body });
    expect(await ask(world.url + path, { method, body, headers }), path).toMatchObject({
      status: 403,
      json: { detail: expect.stringContaining("only read") },
    });
  }
  expect(await world.store.manifest(agent)).toBeUndefined();
  expect(await world.hub.operator.isOperatorsAgent(agent)).toBe(false);
});

test("a session survives a restart of the hub, and ends with the operator token", async () => {
  world = await openWorld();
  const { hub, store } = world;
  const session = await consoleSession(world.served);
  const again = await serveHub({ hub, store });
  const replaced = await serveHub({ hub, store, operatorToken: newOperatorToken(hub.domain) });
  const headersFor = (served: typeof again) => asConsole(served, session, HEAD);
  try {
    const known = await ask(again.url + HEAD, { headers: headersFor(again) });
    expect(known.status).toBe(200);
    const unknown = await ask(replaced.url + HEAD, { headers: headersFor(replaced) });
    expect(unknown.status).toBe(401);
  } finally {
    await again.close();
    await replaced.close();
  }
});

test("links and sessions expire", async () => {
  let at = Date.now();
  world = await openWorld({ hub: { clock: { now: () => at } as never } });
  const code = codeOf(world.served);
  const session = await consoleSession(world.served);
  at += 3_600_001;
  const late = await ask(`${world.url}/v1/console/sessions`, { body: { code } });
  expect(late.status).toBe(401);
  at += 11 * 3_600_000;
  const headers = asConsole(world.served, session, HEAD, { at });
  expect(await ask(world.url + HEAD, { headers })).toMatchObject({
    status: 401,
    json: { detail: expect.stringContaining("expired") },
  });
});

test("over plain HTTP from elsewhere a session may only read", async () => {
  world = await openWorld({ serve: { isBehindProxy: true } });
  expect(await consoleSession(world.served)).toMatchObject({ role: "reader" });
});

test("over TLS from elsewhere a session has the role of its link", async () => {
  world = await openWorld({
    serve: { isBehindProxy: true, publicUrl: "https://hub.example.org" },
  });
  const { port } = world.served;
  const { json } = await ask(`http://127.0.0.1:${port}/v1/console/sessions`, {
    body: { code: codeOf(world.served) },
    headers: { host: "hub.example.org" },
  });
  expect(json).toMatchObject({ role: "operator" });
});

test("only an operator makes links, and guessed codes are refused", async () => {
  world = await openWorld();
  const path = "/v1/console/links";
  const body = {};
  expect((await ask(world.url + path, { body })).status).toBe(401);
  const headers = asOperator(world.served, path, { body });
  const { json } = await ask(world.url + path, { body, headers });
  expect(json).toMatchObject({ role: "operator", code: expect.stringMatching(/^[\w-]{22}$/) });
  const guess = { code: generateKey().kid.slice(0, 22) };
  expect((await ask(`${world.url}/v1/console/sessions`, { body: guess })).status).toBe(401);
});

test("the page comes with a policy without exceptions, compressed if the browser wants that", async () => {
  world = await openWorld();
  const page = await ask(`${world.url}/console`, { headers: { "accept-encoding": "identity" } });
  const policy = page.headers.get("content-security-policy")!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
  expect(page.headers.get("x-frame-options")).toBe("DENY");
  expect(page.headers.get("set-cookie")).toBe(null);
  const [, script] = /src="(\/console\/[\w.-]+\.js)"/.exec(page.text)!;
  const plain = await ask(world.url + script, { headers: { "accept-encoding": "identity" } });
  expect(plain.headers.get("cache-control")).toContain("immutable");
  const compressed = await fetch(world.url + script, { headers: { "accept-encoding": "gzip" } });
  expect(compressed.headers.get("content-encoding")).toBe("gzip");
  expect(await compressed.text()).toBe(plain.text);
  expect((await ask(`${world.url}/console/nothing.js`)).status).toBe(404);
});
