/// <reference types="node" />
import { readFileSync } from "node:fs";
import { createAgent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { generateKey } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Workplace } from "./waybill-fixture.ts";
import type { Running } from "./waybill-fixture.ts";

let place: Workplace;
let hub: Running;
let url: string;

beforeEach(async () => {
  place = new Workplace();
  hub = place.start(["hub", "--port", "0", "--newcomers", "invitation", "--json"]);
  ({ url } = JSON.parse(await hub.line()) as { url: string });
});

afterEach(() => place.close());

async function enrol(id: string, invitation?: string, key = generateKey()): Promise<void> {
  const connected = await connect(url);
  const agent = createAgent({ id, key, hub: connected, invitation });
  try {
    await agent.start();
  } finally {
    await agent.stop();
    await connected.close();
  }
}

test("an operator invites an agent and admits a key, and both are on record", async () => {
  await expect(enrol("anna")).rejects.toThrow("waybill invite --agent anna");
  const { stdout } = await place.run(["invite", "--agent", "anna", "--expires", "5m"]);
  await enrol("anna", stdout.trim());
  const key = generateKey();
  await expect(enrol("ben", undefined, key)).rejects.toMatchObject({ status: 403 });
  expect(await place.run(["agents", "allow", key.kid])).toMatchObject({ code: 0 });
  await enrol("ben", undefined, key);
  const watched = place.start(["watch", "--after", "0", "--json"]);
  const seen: string[] = [];
  while (!seen.includes("enrolled ben")) {
    const { decision } = JSON.parse(await watched.line()) as {
      decision?: { type: string; agent?: string };
    };
    if (decision !== undefined) seen.push(`${decision.type} ${decision.agent ?? ""}`.trim());
  }
  expect(seen).toEqual(["invited anna", "enrolled anna", "allowed", "enrolled ben"]);
  const secret = stdout.trim().split(".")[2]!;
  expect((await place.run(["ledger", "export"])).stdout).not.toContain(secret);
  expect(readFileSync(place.path(".waybill", "operator.token"), "utf8")).not.toContain(secret);
});

test("with an allow-list, only the keys named at the start can enrol", async () => {
  const [anna, ben] = [generateKey(), generateKey()];
  const words = ["hub", "--port", "0", "--data", "listed", "--json"];
  const listed = place.start([...words, "--newcomers", "allow-list", "--allowed", anna.kid]);
  ({ url } = JSON.parse(await listed.line()) as { url: string });
  await enrol("anna", undefined, anna);
  await expect(enrol("ben", undefined, ben)).rejects.toThrow(`waybill agents allow ${ben.kid}`);
});

test("an operator pins another key for an agent, and the refusal says how", async () => {
  const { stdout } = await place.run(["invite"]);
  await enrol("anna", stdout.trim());
  const key = generateKey();
  await expect(enrol("anna", undefined, key)).rejects.toThrow(`waybill agents pin anna ${key.kid}`);
  expect(await place.run(["agents", "pin", "anna", key.kid])).toMatchObject({ code: 0 });
  await enrol("anna", undefined, key);
  expect(await place.run(["agents", "pin", "nobody", key.kid])).toMatchObject({ code: 4 });
});

test("an operator lists invitations, and revokes an unused one, on record", async () => {
  const used = (await place.json(["invite"])) as { id: string; invitation: string };
  const open = (await place.json(["invite", "--agent", "ben"])) as typeof used;
  await enrol("anna", used.invitation);
  const { invitations } = (await place.json(["invitations", "list"])) as {
    invitations: { id: string }[];
  };
  expect(invitations).toHaveLength(2);
  expect(invitations.find(({ id }) => id === used.id)).toMatchObject({ used_by: "anna" });
  expect(invitations.find(({ id }) => id === open.id)).toMatchObject({ agent: "ben" });
  const shown = await place.run(["invitations", "list"]);
  expect(shown.stdout).toContain("used by anna");
  for (const { invitation } of [used, open]) {
    expect(shown.stdout).not.toContain(invitation.split(".")[2]);
  }
  expect(await place.run(["invitations", "revoke", open.id])).toMatchObject({ code: 0 });
  await expect(enrol("ben", open.invitation)).rejects.toMatchObject({ status: 401 });
  const refused = await place.run(["invitations", "revoke", used.id]);
  expect(refused.code).toBe(6);
  expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain("waybill agents retire anna");
  expect(await place.run(["invitations", "revoke", open.id])).toMatchObject({ code: 4 });
  const ledger = (await place.run(["ledger", "export"])).stdout;
  expect(ledger).toContain(`\\"type\\":\\"revoked\\",\\"invitation\\":\\"${open.id}\\"`);
});

test("an operator retires an agent, and reactivates it with a pin", async () => {
  const { stdout } = await place.run(["invite"]);
  const [old, key] = [generateKey(), generateKey()];
  await enrol("anna", stdout.trim(), old);
  const retired = await place.run(["agents", "retire", "anna"]);
  expect(retired).toMatchObject({ code: 0 });
  expect(retired.stdout).toContain("anna is retired");
  expect((await place.run(["agents"])).stdout).toMatch(/anna +retired/);
  await expect(enrol("anna", undefined, old)).rejects.toThrow(
    "waybill agents pin anna <thumbprint>",
  );
  await expect(enrol("anna", undefined, key)).rejects.toThrow(`waybill agents pin anna ${key.kid}`);
  expect(await place.run(["agents", "pin", "anna", old.kid])).toMatchObject({ code: 6 });
  const refused = await place.run(["send", "work", "{}", "--to", "anna"]);
  expect(refused.code).toBe(4);
  expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain("has retired anna");
  expect(await place.run(["agents", "pin", "anna", key.kid])).toMatchObject({ code: 0 });
  await enrol("anna", undefined, key);
  await expect(enrol("anna", undefined, old)).rejects.toMatchObject({ status: 401 });
  expect(await place.run(["agents", "retire", "nobody"])).toMatchObject({ code: 4 });
});

test("an operator hands off under a new name without asking anybody", async () => {
  const sent = await place.run(["send", "nothing", "{}", "--agent", "cleo"]);
  // No agent takes the work, but the sender was admitted.
  expect(sent).toMatchObject({ code: 4 });
  expect(await place.json(["agents", "cleo"])).toMatchObject({ agent_id: "cleo" });
});
