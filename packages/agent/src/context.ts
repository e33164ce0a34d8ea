import type { Source } from "@waybill/protocol";
import type { Clock, Hub } from "@waybill/protocol/wire";
import type { Artifacts } from "./artifacts/artifacts.ts";
import type { Acknowledgements } from "./delegating/acknowledgements.ts";
import type { Link } from "./link/link.ts";
import type { Outgoing } from "./link/outgoing.ts";
import type { Peers } from "./link/peers.ts";
import type { Signer } from "./link/signer.ts";
import type { Log } from "./log.ts";

/** What both sides of an agent, delegating and serving, work with. */
export interface AgentContext {
  readonly id: string;
  readonly hub: Hub;
  readonly clock: Clock;
  /** Makes ids and timestamps for envelopes. */
  readonly source: Source;
  readonly link: Link;
  readonly peers: Peers;
  readonly signer: Signer;
  readonly acknowledgements: Acknowledgements;
  /** The files that go out and come in. */
  readonly artifacts: Artifacts;
  /** What the hub has not confirmed yet. */
  readonly outgoing: Outgoing;
  readonly log: Log;
}
