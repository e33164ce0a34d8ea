import type { HubServer } from "@waybill/hub";
import type { CapabilityInput } from "@waybill/protocol";
import type { PeerFixture } from "../fixture.ts";
import { ACTS } from "../process/acts.ts";
import type { ActName } from "../process/acts.ts";
import type { Recipient } from "../process/recipient.ts";
import { Peer } from "./peer.ts";
import { PeerAgent } from "./peer-agent.ts";
import type { PeerAgentOptions } from "./peer-agent.ts";

export interface PeerRecipientOptions extends PeerAgentOptions {
  readonly fixture: PeerFixture;
  readonly hub: HubServer;
  readonly act: ActName;
  readonly capability: CapabilityInput;
  readonly folder: string;
}

/** A peer that serves in a process of its own, to be killed. Settles once it is attached to the hub. */
export async function startPeerRecipient(options: PeerRecipientOptions): Promise<Recipient> {
  const { fixture, hub, act, capability, folder, ...attaching } = options;
  const peer = new Peer(fixture);
  const news = new Map<string, PromiseWithResolvers<void>>();
  const newsOf = (name: string) => {
    const known = news.get(name) ?? Promise.withResolvers<void>();
    news.set(name, known);
    return known;
  };
  const agent = await PeerAgent.open(peer, attaching);
  await agent.serve(
    capability,
    ACTS[act]((told) => newsOf(told).resolve()),
    folder,
  );
  return {
    told: (name) => newsOf(name).promise,
    async kill() {
      await peer.kill();
      await attachedNoMore(hub, options.id);
    },
  };
}

/** Settles once the hub has noticed that the connection is gone. */
async function attachedNoMore(hub: HubServer, id: string): Promise<void> {
  while (hub.operator.instanceOf(id) !== undefined) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
