import { readHandoffView } from "@waybill/protocol/wire";
import type { HandoffView } from "@waybill/protocol/wire";
import { askHub } from "./hub.ts";
import type { RunningHub } from "./hub.ts";

/** What only a running hub can report. */
export interface HubRecord {
  /** All handoffs of the job. */
  readonly handoffs: readonly HandoffView[];
  /** The end of its ledger, as it signed it. */
  readonly checkpoint: string;
  /** How many envelopes from strangers it reports as refused. */
  readonly refused: number;
}

const HANDOFFS_AT_MOST = 100;

export async function recordOf(hub: RunningHub, job: string): Promise<HubRecord> {
  const path = `/v1/handoffs?correlation_id=${job}&limit=${HANDOFFS_AT_MOST}`;
  const { handoffs } = (await (await askHub(hub, path)).json()) as { handoffs: unknown[] };
  const { checkpoint } = (await (await askHub(hub, "/v1/ledger/checkpoint")).json()) as {
    checkpoint: string;
  };
  const refused = refusedIn(await (await askHub(hub, "/metrics")).text());
  return { handoffs: handoffs.map(readHandoffView), checkpoint, refused };
}

/** The whole newsroom uses sockets, so HTTP requests to this address come from strangers. */
function refusedIn(metrics: string): number {
  let refused = 0;
  for (const [, labels = "", count] of metrics.matchAll(REQUESTS)) {
    const isRefusal = labels.includes('"/v1/envelopes"') && /status="[45]\d\d"/.test(labels);
    if (isRefusal) refused += Number(count);
  }
  return refused;
}

const REQUESTS = /^waybill_http_request_seconds_count\{([^}]*)\} (\d+)$/gm;
