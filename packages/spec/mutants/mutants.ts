import { DISCOVERIES } from "./discovery.ts";
import { ENCODINGS } from "./encodings.ts";
import { ENVELOPES } from "./envelopes.ts";
import { HUBS } from "./hubs.ts";
import { KEYS } from "./keys.ts";
import { LIFECYCLES } from "./lifecycle.ts";
import { MANIFESTS } from "./manifests.ts";
import type { Mutant } from "./mutant.ts";
import { SESSIONS } from "./sessions.ts";
import { USAGE } from "./usage.ts";
import { WIRE } from "./wire.ts";

/** At least one way to break each rule of the specification. */
export const MUTANTS: readonly Mutant[] = [
  ...ENCODINGS,
  ...KEYS,
  ...USAGE,
  ...SESSIONS,
  ...WIRE,
  ...ENVELOPES,
  ...LIFECYCLES,
  ...MANIFESTS,
  ...DISCOVERIES,
  ...HUBS,
];
