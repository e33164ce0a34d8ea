/// <reference types="node" />
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { digestOfJws, generateKey, provenKey, signManifest } from "@waybill/protocol";
import { afterEach, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { createAgent } from "../agent.ts";
import { HubIdentity } from "./hub-identity.ts";
import type { HubName } from "./hub-identity.ts";
import { Network } from "./served-fixture.ts";

const never = new AbortController().signal;
const [first, second, other] = [generateKey(), generateKey(), generateKey()];
const at = Date.now();

const begun = signManifest({ agent_id: "hub", capabilities: [] }, first);
const both = signManifest(
  {
    agent_id: "hub",
    capabilities: [],
    keys: [first.jwk, provenKey("hub", second)],
    sequence: 2,
    previous: digestOfJws(begun),
  },
  first,
);
const rotated = signManifest(
  {
    agent_id: "hub",
    capabilities: [],
    keys: [second.jwk],
    sequence: 3,
    previous: digestOfJws(both),
  },
  second,
);

/** Reads the identity of a hub that claims this domain and presents these manifests. */
function meet(
  identity: HubIdentity,
  domain: string,
  manifests: readonly string[],
): Promise<HubName> {
  const wellKnown = async () => ({ hub: "hub", domain, manifest: manifests.at(-1)! });
  const pages = { manifests: async () => ({ manifests: manifests.map((text) => ({ text, at })) }) };
  return identity.meet({ wellKnown, ...pages }, never);
}

test("a hub's domain is the key that signed the first manifest of its chain", async () => {
  const fresh = () => new HubIdentity("http://hub", undefined);
  const chain = [begun, both, rotated];
  expect(await meet(fresh(), first.kid, chain)).toEqual({ hub: "hub", domain: first.kid });
  for (const domain of [second.kid, other.kid, ""]) {
    await expect(meet(fresh(), domain, chain)).rejects.toMatchObject({ status: 401 });
  }
  // A chain without its first manifest proves no domain.
  await expect(meet(fresh(), second.kid, [rotated])).rejects.toMatchObject({ status: 401 });
});

test("a known hub keeps its domain when its manifest is unchanged", async () => {
  const identity = new HubIdentity("http://hub", undefined);
  await meet(identity, first.kid, [begun]);
  await meet(identity, first.kid, [begun]);
  await meet(identity, first.kid, [begun, both, rotated]);
  await expect(meet(identity, other.kid, [begun, both, rotated])).rejects.toMatchObject({
    status: 401,
  });
});

test("a pinned domain stays valid across key changes of the hub", async () => {
  const chain = [begun, both, rotated];
  await meet(new HubIdentity("http://hub", first.kid), first.kid, chain);
  await meet(new HubIdentity("http://hub", second.kid), first.kid, chain);
  const wrong = signManifest({ agent_id: "hub", capabilities: [] }, other);
  for (const [domain, shown] of [
    [first.kid, [wrong]],
    [other.kid, [wrong]],
  ] as const) {
    const met = meet(new HubIdentity("http://hub", first.kid), domain, shown);
    await expect(met).rejects.toMatchObject({ status: 401 });
  }
});

let network: Network;

afterEach(() => network?.close());

test.each([
  ["domain", { hub: "hub", domain: other.kid }],
  ["hub", {}],
] as const)(
  "an agent signs no hello for a socket whose challenge names another %s",
  async (_, named) => {
    network = await Network.open();
    // It passes on the public description of the hub, and has a socket of its own.
    const rogue = createServer((request, response) => {
      fetch(network.url + request.url!).then(
        async (answer) => response.writeHead(answer.status).end(await answer.text()),
        () => response.writeHead(502).end(),
      );
    });
    const sockets = new WebSocketServer({ server: rogue });
    const heard: string[] = [];
    sockets.on("connection", (socket) => {
      socket.on("message", (data: Buffer) => heard.push(data.toString()));
      const limits = { message_characters: 1_000_000, envelope_bytes: 1_000_000 };
      const { domain } = network.hub;
      const challenge = { waybill: 1, hub: "other", domain, nonce: "n", limits, ...named };
      socket.send(JSON.stringify({ type: "challenge", ...challenge }));
    });
    rogue.listen(0, "127.0.0.1");
    await once(rogue, "listening");
    const { port } = rogue.address() as AddressInfo;
    const hub = await network.connect(`http://127.0.0.1:${port}`);
    expect(hub.domain).toBe(network.hub.domain);
    await network.hub.publish(signManifest({ agent_id: "owner", capabilities: [] }, first));
    const agent = createAgent({ id: "owner", key: first, hub });
    await expect(agent.start()).rejects.toMatchObject({ status: 401 });
    expect(heard.filter((text) => text.includes("hello"))).toEqual([]);
    await hub.close();
    sockets.close();
    rogue.closeAllConnections();
    rogue.close();
  },
);
