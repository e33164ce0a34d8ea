import { parseJson, readCompact } from "@waybill/protocol";
import type { HubClient } from "./client.ts";

/** The end of the ledger, signed by the hub. */
export interface Head {
  readonly checkpoint: string;
  readonly sequence: number;
  readonly hash: string;
  readonly at: string;
}

export async function readHead(hub: HubClient): Promise<Head> {
  const { checkpoint } = (await hub.get("/v1/ledger/checkpoint")) as {
    readonly checkpoint: string;
  };
  const { sequence, hash, at } = parseJson(readCompact(checkpoint).payload) as unknown as Head;
  return { checkpoint, sequence, hash, at };
}
