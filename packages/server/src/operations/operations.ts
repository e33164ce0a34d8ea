import { admissionOperations } from "./admission.ts";
import { agentOperations } from "./agents.ts";
import { blobOperations } from "./blobs.ts";
import { capabilityOperations } from "./capabilities.ts";
import { consoleOperations } from "./console.ts";
import { deadLetterOperations } from "./dead-letters.ts";
import { envelopeOperations } from "./envelopes.ts";
import { groupOperations } from "./groups.ts";
import { handoffOperations } from "./handoffs.ts";
import { inboxOperations } from "./inbox.ts";
import { ledgerOperations } from "./ledger.ts";
import type { AnyOperation } from "./operation.ts";
import { wellKnownOperations } from "./well-known.ts";

/** All operations of a hub over HTTP. The routes and their description are generated from this. */
export function operations(): readonly AnyOperation[] {
  return [
    ...envelopeOperations(),
    ...agentOperations(),
    ...admissionOperations(),
    ...groupOperations(),
    ...capabilityOperations(),
    ...inboxOperations(),
    ...handoffOperations(),
    ...blobOperations(),
    ...deadLetterOperations(),
    ...ledgerOperations(),
    ...consoleOperations(),
    ...wellKnownOperations(),
  ];
}
