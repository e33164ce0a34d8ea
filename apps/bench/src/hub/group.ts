import { inFlight } from "../custody/lane.ts";
import type { Lane } from "../custody/lane.ts";
import { openPeer } from "../custody/peer.ts";
import type { Case, Group } from "../group.ts";
import { openBullmq } from "./bullmq.ts";
import { openServed } from "./ours.ts";

const WIDTH = 64;
/** A run of this size fills the pipeline for most of its time, and drains it at its end. */
const RUN = 8 * WIDTH;

const NAMES = {
  ours: "Waybill, three processes, synced, 64 in flight",
  unix: "Waybill, three processes over a Unix socket, synced, 64 in flight",
  a2a: "A2A, in memory, 64 in flight",
  bullmq: "BullMQ on Redis, three processes, synced, 64 in flight",
} as const;

/** A task over the network from one process to another and back, compared with two peers. */
export function hub(): Group {
  return {
    cases: [
      wide(NAMES.ours, () => openServed("tcp")),
      wide(NAMES.unix, () => openServed("unix")),
      wide(NAMES.a2a, openPeer),
      wide(NAMES.bullmq, openBullmq),
    ],
    ratios: [
      {
        name: "hub_vs_a2a_64",
        compares: "rate",
        of: NAMES.ours,
        to: NAMES.a2a,
        meaning: "tasks in a second by those of A2A, with 64 in flight",
        wanted: ">= 1.3",
      },
      {
        name: "hub_vs_bullmq_64",
        compares: "rate",
        of: NAMES.ours,
        to: NAMES.bullmq,
        meaning: "the same by those of BullMQ on a Redis that syncs as we do",
        wanted: ">= 4",
      },
      {
        name: "hub_unix_vs_tcp_64",
        compares: "rate",
        of: NAMES.unix,
        to: NAMES.ours,
        meaning: "the same over the Unix socket by those over TCP",
      },
    ],
  };
}

function wide(name: string, open: () => Promise<Lane>): Case {
  let lane: Lane | undefined;
  return {
    name,
    opsPerRun: RUN,
    async prepare() {
      lane = await open();
    },
    run: (operations) => inFlight(lane!, operations, WIDTH),
    async dispose() {
      await lane?.close();
      lane = undefined;
    },
  };
}
