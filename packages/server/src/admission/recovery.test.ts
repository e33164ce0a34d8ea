import {
  digestOfJws,
  generateKey,
  provenKey,
  provenRecoveryKey,
  signManifest,
  signRecovery,
} from "@waybill/protocol";
import type { ManifestInput, PrivateKey } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ask, openWorld, Party } from "../served-fixture.ts";
import type { Answer, World } from "../served-fixture.ts";

type Keys = NonNullable<ManifestInput["keys"]>;

const offline = generateKey();
const stolen = generateKey();
const next = generateKey();
const kept = provenRecoveryKey("anna", offline);

let world: World;

beforeEach(async () => {
  world = await openWorld();
  expect(await put("anna", [stolen.jwk, kept], stolen)).toMatchObject({ status: 200 });
});

afterEach(() => world.close());

/** Publishes the next manifest of an agent, over the wire. */
async function put(id: string, keys: Keys, key: PrivateKey, by?: PrivateKey): Promise<Answer> {
  const newest = await world.store.manifest(id);
  const follows =
    newest === undefined
      ? {}
      : { sequence: newest.sequence + 1, previous: digestOfJws(newest.text) };
  const update = { agent_id: id, capabilities: [{ name: "work" }], keys, ...follows };
  const manifest = signManifest(by === undefined ? update : signRecovery(update, by), key);
  return ask(`${world.url}/v1/agents/${id}`, { method: "PUT", body: { manifest } });
}

const anna = (key: PrivateKey) => new Party("anna", key, world.url, world.hub);
const recover = () => put("anna", [next.jwk, kept], next, offline);

test("an agent continues with a new key by its recovery key, and its old keys end at once, on record", async () => {
  const before = await anna(stolen).attach();
  expect(await recover()).toMatchObject({ status: 200 });
  expect((await before.next("closed")).problem).toMatchObject({ waybill_status: 401 });
  expect(await world.hub.operator.currentKids("anna")).toEqual([next.kid]);
  const handoff = anna(stolen).handoff("anna");
  expect((await anna(stolen).submit(handoff.text)).json).toMatchObject({ waybill_status: 401 });
  expect((await anna(stolen).ask("/v1/dead-letters")).status).toBe(401);
  expect((await anna(next).submit(anna(next).handoff("anna").text)).status).toBe(200);
  expect((await anna(next).ask("/v1/dead-letters")).status).toBe(200);
  const after = await anna(next).attach();
  await after.close();
  const entries = await world.store.ledger({ limit: 100 });
  const acts = entries.filter(({ type }) => type === "decision").map(({ content }) => content);
  expect(acts.map((each) => JSON.parse(each) as object)).toContainEqual({
    type: "recovered",
    agent: "anna",
    kid: next.kid,
  });
});

test("a recovery key signs no envelope, no hello, no request and no manifest", async () => {
  const holder = anna(offline);
  expect((await holder.submit(holder.handoff("anna").text)).json).toMatchObject({
    waybill_status: 401,
  });
  expect((await holder.ask("/v1/dead-letters")).json).toMatchObject({ waybill_status: 401 });
  expect((await holder.poll({ wait_seconds: 0 })).json).toMatchObject({ waybill_status: 401 });
  await expect(holder.attach()).rejects.toThrow("the socket was closed");
  const own = [provenKey("anna", next), kept];
  expect((await put("anna", own, offline)).json).toMatchObject({ waybill_status: 401 });
  expect((await put("anna", own, offline, offline)).json).toMatchObject({ waybill_status: 401 });
  expect((await world.store.manifest("anna"))!.sequence).toBe(1);
});

test("the thief of a key can't keep it, whatever it publishes", async () => {
  const thief = generateKey();
  const listed = provenKey("anna", thief);
  expect((await put("anna", [listed], stolen)).json).toMatchObject({ waybill_status: 401 });
  const own = provenRecoveryKey("anna", thief);
  expect((await put("anna", [stolen.jwk, own], stolen)).json).toMatchObject({
    waybill_status: 401,
  });
  expect((await put("anna", [listed, kept], stolen)).status).toBe(200);
  expect((await recover()).status).toBe(200);
  expect(await world.hub.operator.currentKids("anna")).toEqual([next.kid]);
  expect((await put("anna", [thief.jwk, kept], thief)).json).toMatchObject({ waybill_status: 401 });
});

test("a recovery key belongs to its agent, even after it was changed", async () => {
  const later = provenRecoveryKey("anna", generateKey());
  expect((await put("anna", [stolen.jwk, later], stolen, offline)).status).toBe(200);
  const thief = generateKey();
  for (const listed of [provenRecoveryKey("ben", offline), provenKey("ben", offline)]) {
    expect((await put("ben", [thief.jwk, listed], thief)).json).toMatchObject({
      waybill_status: 409,
    });
  }
  expect((await put("anna", [next.jwk, later], next, offline)).json).toMatchObject({
    waybill_status: 401,
  });
});

test("a key that has signed for an agent never becomes its recovery key", async () => {
  expect((await put("anna", [provenKey("anna", next), kept], stolen)).status).toBe(200);
  // Two manifests later only the hub remembers.
  const old = provenRecoveryKey("anna", stolen);
  expect((await put("anna", [next.jwk, old], next, offline)).json).toMatchObject({
    waybill_status: 409,
  });
  expect((await put("anna", [next.jwk], next, offline)).status).toBe(200);
  expect((await put("anna", [next.jwk, old], next)).json).toMatchObject({ waybill_status: 409 });
  expect(await world.store.key(stolen.kid)).toMatchObject({
    record: expect.stringContaining("window") as string,
  });
});

test("while an operator's pin waits, only a recovery to the pinned key is accepted", async () => {
  await world.hub.operator.pin("anna", next.kid);
  const other = generateKey();
  expect((await put("anna", [other.jwk, kept], other, offline)).json).toMatchObject({
    waybill_status: 401,
  });
  expect((await recover()).status).toBe(200);
});
