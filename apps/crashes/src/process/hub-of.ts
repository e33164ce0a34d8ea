import { loadKey } from "@waybill/agent";
import type { Hub } from "@waybill/agent";
import { farHub } from "../line/far-hub.ts";
import { HUB } from "../plan/plan.ts";
import type { Folder } from "./folder.ts";

/** The hub of a run, in any process: it never changes its key, which names its domain. */
export async function hubOf(folder: Folder): Promise<Hub> {
  const { kid: domain } = await loadKey(folder.key(HUB));
  return farHub(folder.hubSocket, { id: HUB, domain });
}
