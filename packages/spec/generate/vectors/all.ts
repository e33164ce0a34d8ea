import { BATCHES } from "./batches.ts";
import type { VectorFile } from "./case.ts";
import { CONTRACTS } from "./contracts.ts";
import { DISCOVERY } from "./discovery.ts";
import { ENVELOPES } from "./envelopes.ts";
import { HISTORIES } from "./histories.ts";
import { HUBS } from "./hubs.ts";
import { IDS_AND_TIMES } from "./ids-and-times.ts";
import { JSON_TEXTS } from "./json.ts";
import { KEYS } from "./keys.ts";
import { LIFECYCLES } from "./lifecycles.ts";
import { MANIFESTS } from "./manifests.ts";
import { RECEIPTS } from "./receipts.ts";
import { SCHEMAS } from "./schemas.ts";
import { TRACING } from "./tracing.ts";
import { USAGE } from "./usage.ts";
import { SESSIONS } from "./sessions.ts";

export const VECTOR_FILES: readonly VectorFile[] = [
  ENVELOPES,
  RECEIPTS,
  BATCHES,
  KEYS,
  JSON_TEXTS,
  IDS_AND_TIMES,
  LIFECYCLES,
  HISTORIES,
  MANIFESTS,
  SCHEMAS,
  DISCOVERY,
  CONTRACTS,
  USAGE,
  TRACING,
  HUBS,
  SESSIONS,
];
