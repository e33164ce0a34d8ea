import { memoryStore } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { digestOfJws, generateKey, signManifest } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { signEnrolment } from "@waybill/protocol/wire";
import { afterEach, expect, test } from "vitest";
import { ask, asOperator, openWorld } from "../served-fixture.ts";
import type { Answer, World } from "../served-fixture.ts";

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function worldOf(...given: Parameters<typeof openWorld>): Promise<World> {
  const world = await openWorld(...given);
  worlds.push(world);
  return world;
}

const byInvitation = (store?: Store) =>
  worldOf({ serve: { newcomers: "invitation" }, hub: store === undefined ? {} : { store } });

const first = (agent: string, key: PrivateKey = generateKey()) =>
  signManifest({ agent_id: agent, capabilities: [] }, key);

const enrol = (
  { url }: World,
  agent: string,
  manifest: string,
  invitation?: string,
): Promise<Answer> =>
  ask(`${url}/v1/agents/${agent}`, { method: "PUT", body: { manifest, invitation } });

async function acts({ store }: World): Promise<unknown[]> {
  const entries = await store.ledger({ limit: 1_000 });
  return entries
    .filter(({ type, handoffId }) => type === "decision" && handoffId === null)
    .map(({ content }) => JSON.parse(content) as unknown);
}

async function manifestsIn({ store }: World): Promise<number> {
  const entries = await store.ledger({ limit: 1_000 });
  return entries.filter(({ type }) => type === "manifest").length;
}

test("a newcomer without an invitation is told what to do, and its manifest is not kept", async () => {
  const world = await byInvitation();
  const key = generateKey();
  const refused = await enrol(world, "anna", first("anna", key));
  expect(refused.json).toMatchObject({ waybill_status: 403 });
  expect(refused.json.detail).toContain("waybill invite --agent anna");
  expect(refused.json.detail).toContain(`waybill agents allow ${key.kid}`);
  expect(await world.store.manifest("anna")).toBeUndefined();
  expect(await manifestsIn(world)).toBe(1);
});

test("an invitation admits one agent, and is on record without its secret", async () => {
  const world = await byInvitation();
  const { id, token } = await world.hub.operator.invite();
  const key = generateKey();
  const manifest = first("anna", key);
  const proof = signEnrolment(manifest, token);
  expect(await enrol(world, "anna", manifest, proof)).toMatchObject({ status: 200 });
  // The answer was lost: a repetition gets the same one.
  expect(await enrol(world, "anna", manifest, proof)).toMatchObject({ status: 200 });
  expect(await enrol(world, "anna", manifest)).toMatchObject({ status: 200 });
  const other = first("ben");
  const again = await enrol(world, "ben", other, signEnrolment(other, token));
  expect(again.json).toMatchObject({ waybill_status: 403 });
  expect(again.json.detail).toContain("was used by anna");
  const known = await acts(world);
  expect(known).toMatchObject([
    { type: "invited", invitation: id },
    { type: "enrolled", agent: "anna", kid: key.kid, by: "invitation", invitation: id },
  ]);
  expect(JSON.stringify(known)).not.toContain(token.split(".")[2]);
});

test("an update of an agent that is enrolled needs no invitation", async () => {
  const world = await byInvitation();
  const { token } = await world.hub.operator.invite({ agent: "anna" });
  const key = generateKey();
  const manifest = first("anna", key);
  await enrol(world, "anna", manifest, signEnrolment(manifest, token));
  const next = { agent_id: "anna", capabilities: [], sequence: 2, previous: digestOfJws(manifest) };
  expect(await enrol(world, "anna", signManifest(next, key))).toMatchObject({ status: 200 });
});

test("of concurrent enrolments with one invitation exactly one succeeds", async () => {
  const world = await byInvitation();
  const { token } = await world.hub.operator.invite();
  const names = Array.from({ length: 8 }, (_, index) => `agent-${index}`);
  const answers = await Promise.all(
    names.map((name) => {
      const manifest = first(name);
      return enrol(world, name, manifest, signEnrolment(manifest, token));
    }),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 403)).toHaveLength(names.length - 1);
  expect(await manifestsIn(world)).toBe(2);
});

test("an invitation that is for another agent, expired, or of another hub admits nobody", async () => {
  const world = await byInvitation();
  const other = await byInvitation();
  const statusWith = async (token: string) => {
    const manifest = first("anna");
    const answer = await enrol(world, "anna", manifest, signEnrolment(manifest, token));
    return answer.json.waybill_status;
  };
  const { operator } = world.hub;
  expect(await statusWith((await operator.invite({ agent: "ben" })).token)).toBe(403);
  expect(await statusWith((await operator.invite({ expiresMs: -1 })).token)).toBe(403);
  expect(await statusWith((await other.hub.operator.invite()).token)).toBe(401);
  const changed = (await operator.invite()).token.replace(/.{4}$/, "AAAA");
  expect(await statusWith(changed)).toBe(401);
});

test("a proof for another key, manifest or agent is 401, and uses up no invitation", async () => {
  const world = await byInvitation();
  const { token } = await world.hub.operator.invite();
  const manifest = first("anna");
  const stolen = signEnrolment(manifest, token);
  for (const each of [first("anna"), first("mallory")]) {
    const { agent_id: agent } = JSON.parse(
      Buffer.from(each.split(".")[1]!, "base64url").toString(),
    ) as { agent_id: string };
    expect((await enrol(world, agent, each, stolen)).json.waybill_status).toBe(401);
  }
  expect(await enrol(world, "anna", manifest, stolen)).toMatchObject({ status: 200 });
});

test("a failed commit does not use up the invitation", async () => {
  const store = memoryStore();
  let fails = false;
  const failing = new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === "commit" && fails) return () => Promise.reject(new Error("the disk is full"));
      const member = target[name];
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const world = await byInvitation(failing);
  const { token } = await world.hub.operator.invite();
  const manifest = first("anna");
  const proof = signEnrolment(manifest, token);
  fails = true;
  expect((await enrol(world, "anna", manifest, proof)).status).toBeGreaterThanOrEqual(500);
  fails = false;
  expect(await enrol(world, "anna", manifest, proof)).toMatchObject({ status: 200 });
});

test("agents that an operator has allowed are admitted without an invitation, also after a restart", async () => {
  const store = memoryStore();
  const named = generateKey();
  const hub = { store, allowed: [named.kid, "ben"], key: generateKey() };
  const world = await worldOf({ hub, serve: { newcomers: "allow-list" } });
  const later = generateKey();
  const body = { who: later.kid };
  const headers = asOperator(world.served, "/v1/allowed", { body });
  expect((await enrol(world, "cleo", first("cleo", later))).status).toBe(403);
  expect((await ask(`${world.url}/v1/allowed`, { body, headers })).status).toBe(204);
  expect((await enrol(world, "anna", first("anna", named))).status).toBe(200);
  expect((await enrol(world, "ben", first("ben"))).status).toBe(200);
  expect((await enrol(world, "dora", first("dora"))).status).toBe(403);
  worlds.pop();
  await world.close();
  const again = await worldOf({ hub, serve: { newcomers: "allow-list" } });
  expect((await enrol(again, "cleo", first("cleo", later))).status).toBe(200);
  expect(await acts(again)).toMatchObject([
    { type: "allowed", who: later.kid },
    { type: "enrolled", agent: "anna", by: "allow_list" },
    { type: "enrolled", agent: "ben", by: "allow_list" },
    { type: "enrolled", agent: "cleo", by: "allow_list" },
  ]);
});

test("a public hub admits nobody uninvited, and a local one does", async () => {
  const said = async (world: World) =>
    (await ask(`${world.url}/.well-known/waybill`)).json["newcomers"];
  const unsaid = { newcomers: undefined };
  const proxied = { ...unsaid, isBehindProxy: true };
  expect(await said(await worldOf({ serve: unsaid }))).toBe("open");
  expect(await said(await worldOf({ serve: proxied }))).toBe("invitation");
  expect(await said(await worldOf({ serve: { ...proxied, newcomers: "open" } }))).toBe("open");
  const inProcess = await worldOf({ hub: { newcomers: "allow-list" }, serve: unsaid });
  expect(await said(inProcess)).toBe("allow-list");
  await expect(inProcess.hub.publish(first("anna"))).rejects.toMatchObject({ status: 403 });
});

test("an undeclared proxy does not make strangers local", async () => {
  const world = await worldOf({ serve: { newcomers: undefined } });
  const headers = { "x-forwarded-for": "203.0.113.7" };
  const body = { manifest: first("anna") };
  const url = `${world.url}/v1/agents/anna`;
  const refused = await ask(url, { method: "PUT", body, headers });
  expect(refused.json).toMatchObject({ waybill_status: 403 });
  const said = await ask(`${world.url}/.well-known/waybill`, { headers });
  expect(said.json["newcomers"]).toBe("invitation");
  expect(await ask(url, { method: "PUT", body })).toMatchObject({ status: 200 });
});

test("a reserved name is available to the agent that an operator has named", async () => {
  const world = await worldOf();
  const key = generateKey();
  const refused = await enrol(world, "operator-7", first("operator-7", key));
  expect(refused.json).toMatchObject({ waybill_status: 403 });
  expect(refused.json.detail).toContain(`waybill agents allow ${key.kid}`);
  await world.hub.operator.allow(key.kid);
  expect(await enrol(world, "operator-7", first("operator-7", key))).toMatchObject({ status: 200 });
  const inviting = await byInvitation();
  const invited = async (agent: string, token: string) => {
    const manifest = first(agent);
    return (await enrol(inviting, agent, manifest, signEnrolment(manifest, token))).status;
  };
  const { operator } = inviting.hub;
  expect(await invited("operator-8", (await operator.invite()).token)).toBe(403);
  expect(await invited("operator-8", (await operator.invite({ agent: "operator-8" })).token)).toBe(
    200,
  );
});

test("only operators invite and allow", async () => {
  const world = await byInvitation();
  for (const [path, body] of [
    ["/v1/invitations", {}],
    ["/v1/allowed", { who: "anna" }],
  ] as const) {
    expect((await ask(world.url + path, { body })).status).toBe(401);
  }
});
