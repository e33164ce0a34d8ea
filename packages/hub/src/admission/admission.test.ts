import { digestOfJws, generateKey, signManifest } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { signEnrolment } from "@waybill/protocol/wire";
import { afterEach, describe, expect, test } from "vitest";
import { World } from "../world-fixture.ts";
import { pinSetting } from "./pins.ts";

const HOUR_MS = 60 * 60 * 1_000;

let world: World;
afterEach(() => world.hub.close());

const first = (agent: string, key: PrivateKey = generateKey()) =>
  signManifest({ agent_id: agent, capabilities: [] }, key);

describe("a hub that takes the invited alone", () => {
  const open = async () => {
    world = await World.open({ newcomers: "invitation" });
    return world.hub.operator;
  };
  const enrol = (agent: string, token?: string, manifest = first(agent)) =>
    world.hub.publish(manifest, token === undefined ? undefined : signEnrolment(manifest, token));

  test("refuses whoever comes without an invitation", async () => {
    await open();
    await expect(enrol("anna")).rejects.toMatchObject({ status: 403 });
    expect(await world.store.manifest("anna")).toBeUndefined();
  });

  test("takes an invitation once", async () => {
    const { token } = await (await open()).invite();
    await enrol("anna", token);
    await expect(enrol("ben", token)).rejects.toMatchObject({ status: expect.any(Number) });
    expect(await world.store.manifest("ben")).toBeUndefined();
  });

  test("takes an invitation once, of two that come at the same time with it", async () => {
    const { token } = await (await open()).invite();
    const both = await Promise.allSettled([enrol("anna", token), enrol("ben", token)]);
    expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("takes an invitation for the agent that it names alone", async () => {
    const { token } = await (await open()).invite({ agent: "anna" });
    await expect(enrol("ben", token)).rejects.toMatchObject({ status: 403 });
    await enrol("anna", token);
  });

  test("takes an invitation until it expires", async () => {
    const operator = await open();
    const [early, late] = [await operator.invite(), await operator.invite()];
    world.clock.advance(HOUR_MS - 1);
    await enrol("anna", early.token);
    world.clock.advance(1);
    await expect(enrol("ben", late.token)).rejects.toMatchObject({ status: expect.any(Number) });
    expect(await world.store.manifest("ben")).toBeUndefined();
  });

  test("takes no invitation that was revoked, and no proof for another manifest", async () => {
    const operator = await open();
    const [revoked, good] = [await operator.invite(), await operator.invite()];
    await operator.revoke(revoked.id);
    await expect(enrol("anna", revoked.token)).rejects.toMatchObject({ status: 401 });
    const proof = signEnrolment(first("anna"), good.token);
    const other = world.hub.publish(first("anna"), proof);
    await expect(other).rejects.toMatchObject({ status: expect.any(Number) });
    expect(await world.store.manifest("anna")).toBeUndefined();
  });

  test("takes whom an operator has let in, by the key or the name", async () => {
    const operator = await open();
    const key = generateKey();
    await operator.allow("anna");
    await operator.allow(key.kid);
    await enrol("anna");
    await enrol("ben", undefined, first("ben", key));
    await expect(enrol("zoe")).rejects.toMatchObject({ status: 403 });
  });
});

describe("an operator's pin", () => {
  test("holds an agent to the pinned key, and is used up by it", async () => {
    world = await World.open();
    const [old, next, other] = [generateKey(), generateKey(), generateKey()];
    await world.hub.publish(first("anna", old));
    const { text } = (await world.hub.manifests({ agent: "anna" })).manifests[0]!;
    await world.hub.operator.pin("anna", next.kid);
    const following = (key: PrivateKey, sequence = 2, previous = digestOfJws(text)) =>
      signManifest({ agent_id: "anna", capabilities: [], sequence, previous }, key);
    for (const key of [old, other]) {
      await expect(world.hub.publish(following(key))).rejects.toMatchObject({ status: 401 });
    }
    const pinned = following(next);
    await world.hub.publish(pinned);
    expect(await world.store.setting(pinSetting("anna"))).toBeUndefined();
    await world.hub.publish(following(next, 3, digestOfJws(pinned)));
  });

  test("ends the old key at once", async () => {
    world = await World.open();
    const anna = await world.publish("anna", [{ name: "work" }]);
    const attached = await world.attach(anna);
    await world.hub.operator.pin("anna", generateKey().kid);
    await expect(attached.closed).resolves.toMatchObject({ status: 401 });
    await expect(world.attach(anna)).rejects.toMatchObject({ status: 401 });
    await expect(world.handOff(anna)).rejects.toMatchObject({ status: 401 });
  });
});

test("an agent that an operator has retired publishes and hands off nothing more", async () => {
  world = await World.open();
  const anna = await world.publish("anna", [{ name: "work" }]);
  const attached = await world.attach(anna);
  await world.hub.operator.retire("anna");
  await expect(attached.closed).resolves.toMatchObject({ status: expect.any(Number) });
  await expect(world.handOff(anna)).rejects.toMatchObject({ status: 401 });
  await expect(world.hub.publish(first("anna", generateKey()))).rejects.toMatchObject({
    status: 403,
  });
});
