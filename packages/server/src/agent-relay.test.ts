// The listed features of Agent Relay, each under its name there.
import {
  generateKey,
  parseEnvelope,
  publicKeyFrom,
  readCompact,
  signManifest,
  verifyCompact,
} from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { payloadOf } from "./hardening-fixture.ts";
import { ask, openWorld, Party } from "./served-fixture.ts";
import type { World } from "./served-fixture.ts";
import { Inbox } from "./webhook/inbox-fixture.ts";

const hubKey = generateKey();
let inbox: Inbox;
let world: World;

beforeEach(async () => {
  inbox = await Inbox.open("listener", hubKey);
  world = await openWorld({ hub: { key: hubKey }, serve: { innerInboxes: [inbox.place] } });
});

afterEach(async () => {
  await world.close();
  await inbox.close();
});

test("REST registration: one PUT registers an agent, and a GET shows it to everybody", async () => {
  const key = generateKey();
  const manifest = signManifest(
    { agent_id: "newcomer", description: "New here.", capabilities: [{ name: "greet" }] },
    key,
  );
  const url = `${world.url}/v1/agents/newcomer`;
  expect(await ask(url, { method: "PUT", body: { manifest } })).toMatchObject({
    status: 200,
    json: { agent_id: "newcomer", sequence: 1 },
  });
  expect((await ask(url)).json).toMatchObject({
    description: "New here.",
    capabilities: [{ name: "greet" }],
    manifest,
  });
});

test("direct messages: what is said to one agent by name reaches that agent, and its reply comes back", async () => {
  const anna = await world.party("anna");
  const bert = await world.party("bert", [{ name: "chat", takes: "conversation" }]);
  const message = { role: "user", content: [{ type: "text", text: "Are you there?" }] } as const;
  const said = anna.handoff("bert", {
    body: { capability: "chat", messages: [{ ...message, content: [...message.content] }] },
  });
  await anna.submit(said.text);
  const [delivery] = (await bert.poll()).json["deliveries"] as { envelope: string }[];
  expect(payloadOf(delivery!.envelope)).toMatchObject({
    from: "anna",
    body: { messages: [message] },
  });
  await bert.submit(bert.result(said, "I am."));
  const [reply] = (await anna.poll()).json["deliveries"] as { envelope: string }[];
  expect(payloadOf(reply!.envelope)).toMatchObject({ from: "bert", body: { output: "I am." } });
});

test("delivery confirmation in the response: the answer to a POST is the hub's signed receipt", async () => {
  const anna = await world.party("anna");
  await world.party("bert", [{ name: "work" }]);
  const handoff = anna.handoff("bert");
  const { status, json } = await anna.submit(handoff.text);
  expect(status).toBe(200);
  const receipt = json["receipt"] as string;
  expect(parseEnvelope(readCompact(receipt).payload)).toMatchObject({
    kind: "receipt",
    from: world.hub.id,
    to: "anna",
    handoff_id: handoff.envelope.handoff_id,
    body: { status: 100 },
  });
  verifyCompact(receipt, () => publicKeyFrom(hubKey.jwk));
  expect(await world.hub.handoff(handoff.envelope.handoff_id, "anna")).toBeDefined();
});

test("Ed25519 identity: a name belongs to its key, and what another key signs is refused", async () => {
  const anna = await world.party("anna");
  await world.party("bert", [{ name: "work" }]);
  const thief = new Party("anna", generateKey(), world.url, world.hub);
  expect((await thief.publish()).status).toBeGreaterThanOrEqual(401);
  expect((await thief.submit(thief.handoff("bert").text)).status).toBe(401);
  expect((await thief.ask("/v1/dead-letters")).status).toBe(401);
  expect((await anna.submit(anna.handoff("bert").text)).status).toBe(200);
});

test("webhooks: an agent that only listens is posted what comes for it, signed by the hub", async () => {
  const listener = new Party("listener", generateKey(), world.url, world.hub);
  const manifest = signManifest(
    { agent_id: "listener", capabilities: [{ name: "work" }], inbox: inbox.url },
    listener.key,
  );
  await ask(`${world.url}/v1/agents/listener`, { method: "PUT", body: { manifest } });
  const anna = await world.party("anna");
  const handoff = anna.handoff("listener");
  await anna.submit(handoff.text);
  await inbox.until(({ deliveries }) => deliveries.length > 0);
  expect(inbox.deliveries[0]).toMatchObject({ type: "offer", envelope: handoff.text });
});

test("trace headers: the trace of a delegator goes with the work, and comes back with the result", async () => {
  const anna = await world.party("anna");
  const bert = await world.party("bert", [{ name: "work" }]);
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const tracestate = "vendor=value";
  const handoff = anna.handoff("bert", { traceparent, tracestate });
  await anna.submit(handoff.text);
  const [delivery] = (await bert.poll()).json["deliveries"] as { envelope: string }[];
  expect(payloadOf(delivery!.envelope)).toMatchObject({ traceparent, tracestate });
  await bert.submit(bert.result(handoff));
  const [reply] = (await anna.poll()).json["deliveries"] as { envelope: string }[];
  expect(payloadOf(reply!.envelope)).toMatchObject({ kind: "result", traceparent });
});
