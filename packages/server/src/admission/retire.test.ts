import { memoryStore } from "@waybill/hub";
import type { HandoffView } from "@waybill/hub";
import {
  digestOfJws,
  generateKey,
  provenRecoveryKey,
  signManifest,
  signRecovery,
} from "@waybill/protocol";
import type { ManifestInput, PrivateKey } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ask, asOperator, openWorld, Party } from "../served-fixture.ts";
import type { Answer, World } from "../served-fixture.ts";

const offline = generateKey();
const kept = provenRecoveryKey("anna", offline);
const hubKey = generateKey();
const store = () => memoryStore();

let world: World;
let anna: Party;

beforeEach(async () => {
  world = await openWorld({ hub: { store: store(), key: hubKey, terms: { backoffMs: 1 } } });
  anna = new Party("anna", generateKey(), world.url, world.hub);
  expect(await publish([anna.key.jwk, kept], anna.key)).toMatchObject({ status: 200 });
});

afterEach(() => world.close());

type Keys = NonNullable<ManifestInput["keys"]>;

async function publish(keys: Keys, key: PrivateKey, by?: PrivateKey): Promise<Answer> {
  const newest = await world.store.manifest("anna");
  const follows =
    newest === undefined
      ? {}
      : { sequence: newest.sequence + 1, previous: digestOfJws(newest.text) };
  const update = { agent_id: "anna", capabilities: [{ name: "work" }], keys, ...follows };
  const manifest = signManifest(by === undefined ? update : signRecovery(update, by), key);
  return ask(`${world.url}/v1/agents/anna`, { method: "PUT", body: { manifest } });
}

function retire(id = "anna"): Promise<Answer> {
  const path = `/v1/agents/${id}/retire`;
  const headers = asOperator(world.served, path, { method: "POST" });
  return ask(world.url + path, { method: "POST", headers });
}

/** Until the handoff has ended. */
function ended(id: string): Promise<HandoffView> {
  return new Promise((resolve, reject) => {
    const look = () =>
      world.hub.operator.handoff(id).then((view) => {
        if (view === undefined || view.state === "open") return;
        stop();
        resolve(view);
      }, reject);
    const stop = world.store.onCommit(() => void look());
    void look();
  });
}

test("a retired agent's keys are refused at once, and it is on record", async () => {
  const wire = await anna.attach();
  expect((await retire()).status).toBe(204);
  expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
  expect((await anna.submit(anna.handoff("anna").text)).json).toMatchObject({
    waybill_status: 401,
  });
  expect((await anna.ask("/v1/dead-letters")).status).toBe(401);
  expect((await publish([anna.key.jwk, kept], anna.key)).json).toMatchObject({
    waybill_status: 403,
  });
  expect((await retire()).status).toBe(204);
  const entries = await world.store.ledger({ limit: 100 });
  const acts = entries.filter(({ type }) => type === "decision").map(({ content }) => content);
  expect(acts.map((each) => JSON.parse(each) as object)).toEqual([
    { type: "retired", agent: "anna" },
  ]);
});

test("a retired agent is not found and takes no new work", async () => {
  const ben = await world.party("ben");
  expect((await retire()).status).toBe(204);
  const refused = await ben.submit(ben.handoff("anna").text);
  expect(refused.json).toMatchObject({ waybill_status: 404 });
  expect(refused.json.detail).toContain("An operator of this hub has retired anna");
  const any = ben.handoff("anna", { to: { capability: "work" } });
  expect((await ben.submit(any.text)).json).toMatchObject({ waybill_status: 404 });
  const { json } = await ask(`${world.url}/v1/capabilities?capability=work`);
  expect(json).toMatchObject({ fits: [] });
});

test("a retired agent is listed as retired, to operators and to others", async () => {
  const ben = await world.party("ben");
  const cleo = await world.party("cleo", [{ name: "work", from: { agents: ["ben"] } }]);
  expect((await retire("cleo")).status).toBe(204);
  for (const who of [ben, cleo]) {
    const asked =
      who === ben ? await ben.ask("/v1/agents/cleo") : await ask(`${world.url}/v1/agents/cleo`);
    expect(asked.json).toMatchObject({ is_retired: true, capability_count: 0, capabilities: [] });
  }
  expect((await ben.ask("/v1/agents/anna")).json).not.toHaveProperty("is_retired");
});

test("handoffs that wait for a retired agent end or go to others, and its own handoffs continue", async () => {
  const ben = await world.party("ben", [{ name: "rest" }]);
  const toAnna = ben.handoff("anna");
  const toAnybody = ben.handoff("", { to: { capability: "work" } });
  const ofAnna = anna.handoff("ben", { body: { capability: "rest" } });
  for (const { text } of [toAnna, toAnybody]) expect((await ben.submit(text)).status).toBe(200);
  expect((await anna.submit(ofAnna.text)).status).toBe(200);
  const cleo = await world.party("cleo", [{ name: "work" }]);
  expect((await retire()).status).toBe(204);
  expect(await ended(toAnna.envelope.handoff_id)).toMatchObject({
    state: "dead_lettered",
    status: 404,
  });
  const letter = await world.hub.operator.handoff(toAnna.envelope.handoff_id);
  expect(letter?.ending ?? "").not.toBe("");
  const wire = await cleo.attach();
  expect(await wire.delivery("offer")).toMatchObject({
    handoff_id: toAnybody.envelope.handoff_id,
  });
  const line = await ben.attach();
  await line.delivery("offer");
  expect((await ben.submit(ben.result(ofAnna))).status).toBe(200);
  expect(await ended(ofAnna.envelope.handoff_id)).toMatchObject({ state: "completed" });
  await line.close();
  await wire.close();
});

test("an attempt under way at a retired agent is lost, and the next one goes to another", async () => {
  const ben = await world.party("ben");
  const cleo = await world.party("cleo", [{ name: "work", lease_seconds: 0.2 }]);
  const wire = await anna.attach();
  const handoff = ben.handoff("", {
    to: { capability: "work" },
    body: { capability: "work", contract: { lease_seconds: 0.2 } },
  });
  expect((await ben.submit(handoff.text)).status).toBe(200);
  await wire.delivery("offer");
  expect((await anna.submit(anna.accept(handoff))).status).toBe(200);
  expect((await retire()).status).toBe(204);
  const line = await cleo.attach();
  expect(await line.delivery("offer")).toMatchObject({ attempt: 2 });
  await line.close();
});

test("only an operator's pin restores a retired agent, also after a restart", async () => {
  expect((await retire()).status).toBe(204);
  await world.close();
  world = await openWorld({ hub: { store: world.store, key: hubKey } });
  const next = generateKey();
  const recovered = await publish([next.jwk, kept], next, offline);
  expect(recovered.json).toMatchObject({ waybill_status: 403 });
  expect(recovered.json.detail).toContain(`waybill agents pin anna ${next.kid}`);
  await world.hub.operator.pin("anna", next.kid);
  expect((await publish([next.jwk, kept], next)).status).toBe(200);
  const back = new Party("anna", next, world.url, world.hub);
  const ben = await world.party("ben");
  expect((await ben.submit(ben.handoff("anna").text)).status).toBe(200);
  const wire = await back.attach();
  await wire.delivery("offer");
  await wire.close();
});

test("an unknown agent, and the hub itself, can't be retired", async () => {
  expect((await retire("nobody")).json).toMatchObject({ waybill_status: 404 });
  expect((await retire(world.hub.id)).json).toMatchObject({ waybill_status: 403 });
  expect((await ask(`${world.url}/v1/agents/anna/retire`, { method: "POST" })).status).toBe(401);
});

test.each(["retire", "pin"] as const)(
  "a manifest that is on its way when an operator decides to %s does not undo it",
  async (decision) => {
    const { operator } = world.hub;
    const inner = world.store.commit.bind(world.store);
    // The operator's commit comes between the checks of the manifest and its own commit.
    let isFirst = true;
    world.store.commit = async (group) => {
      if (isFirst && group.some(({ manifest }) => manifest !== undefined)) {
        isFirst = false;
        if (decision === "retire") await operator.retire("anna");
        else await operator.pin("anna", generateKey().kid);
      }
      return inner(group);
    };
    const answer = await publish([anna.key.jwk, kept], anna.key);
    expect(answer.json).toMatchObject({ waybill_status: decision === "retire" ? 403 : 401 });
    expect(isFirst).toBe(false);
    expect(await operator.currentKids("anna")).toEqual([]);
    expect((await world.store.manifest("anna"))!.sequence).toBe(1);
  },
);
